package config

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TeamFileName is the team file that up takes when none is named.
const TeamFileName = "leadlight.yaml"

// maxDescription is the longest description of a team, in characters.
const maxDescription = 500

// TeamFile is what a team file says, checked as far as a file can be checked
// without looking at the machine.
type TeamFile struct {
	Path     string
	Plan     teams.Plan
	Profiles map[string]profiles.Profile
	settings teamFile
	shown    string // its name in messages
}

// ReadTeamFile reads and checks the team file at path. Mistakes are
// fault.TeamFile, each with file, line and column. Folders in it are counted
// from its own.
func ReadTeamFile(path string) (*TeamFile, error) {
	data, err := readLimited(path)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, fault.New(fault.TeamFile, "there is no team file %s", path).
				WithHint("leadlight init writes one to begin with")
		}
		return nil, fault.New(fault.TeamFile, "read the team file: %w", err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the team file: %w", err)
	}
	f, err := ParseTeamFile(path, filepath.Dir(abs), data)
	if err != nil {
		return nil, err
	}
	f.Path = abs
	return f, nil
}

// ParseTeamFile parses the content of a team file. shown is its name in
// messages, dir the folder from which its folders are counted.
func ParseTeamFile(shown, dir string, data []byte) (*TeamFile, error) {
	d := newDecoder(shown, fault.TeamFile)
	var f teamFile
	root := d.parse(data)
	if root == nil && len(d.mistakes) == 0 {
		d.fail(Pos{1, 1}, "the file says nothing")
	}
	if _, isMap := root.(*ast.MappingNode); root != nil && !isMap {
		d.wrong(root, "a team file takes keys and values")
	} else if root != nil {
		readMap(d, root, "a team file", teamKeys(), &f)
		d.check(&f)
	}
	if err := d.err("leadlight help team-file shows the keys"); err != nil {
		return nil, err
	}
	out := &TeamFile{Path: shown, shown: shown, settings: f, Plan: f.plan(dir), Profiles: map[string]profiles.Profile{}}
	out.Plan.Hooks = placed(f.hooks, dir, shown)
	for _, p := range f.profiles {
		out.Profiles[p.name.V] = p.profile
	}
	return out, nil
}

func newDecoder(shown string, code fault.Code) *decoder {
	return &decoder{file: shown, code: code, anchors: map[string]ast.Node{}, open: map[string]bool{}}
}

// readLimited reads a regular file, one byte more than is allowed at most. Opening does not
// wait: a FIFO is refused as what it is.
func readLimited(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case fi.IsDir():
		return nil, fmt.Errorf("%s is a folder", path)
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Identity is the path by which a team knows its team file: absolute, and without links.
func Identity(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the team file: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

// check looks for what no single key can know: names, doubles, references.
func (d *decoder) check(f *teamFile) {
	if f.team.absent() {
		d.fail(Pos{1, 1}, "the key \"team\" is missing: the name of the team")
	} else if err := store.CheckNewTeam(f.team.V); f.team.Set && err != nil {
		d.failWith(f.team.Pos, err)
	}
	if n := utf8.RuneCountInString(f.description.V); n > maxDescription {
		d.fail(f.description.Pos, "the description has %d characters; %d is the most", n, maxDescription)
	}
	if f.lead.Set {
		if _, err := store.CheckAddress(f.lead.V); err != nil {
			d.failWith(f.lead.Pos, err)
		}
	}
	d.checkMembers(f)
	d.checkTasks(f)
}

// failWith puts the place in front of an error that has a way out of its own.
func (d *decoder) failWith(pos Pos, err error) {
	e := fault.Of(err)
	text := e.Message
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	d.fail(pos, "%s", text)
}

func (d *decoder) checkMembers(f *teamFile) {
	own := map[string]profiles.Profile{}
	for _, p := range f.profiles {
		own[p.name.V] = p.profile
	}
	set := profiles.NewSet(own)
	for i := range f.members {
		m := &f.members[i]
		d.checkName(f, i)
		agent := m.agent
		if !agent.Set && len(m.command) == 0 && m.run.Set {
			m.agent = scalar[string]{profiles.Shell, m.run.Pos, true}
			agent = m.agent
		}
		if !agent.Set && len(m.command) == 0 {
			agent = f.defaults.agent
		}
		if p, ok := set[agent.V]; agent.Set && ok {
			d.checkProfile(m, p)
		}
	}
}

// checkAgents says where the file names a profile that is not known.
func (t *TeamFile) checkAgents(known profiles.Set) error {
	d := newDecoder(t.shown, fault.TeamFile)
	check := func(agent scalar[string]) {
		if _, ok := known[agent.V]; agent.Set && !ok {
			d.fail(agent.Pos, "there is no profile %q%s", store.Shown(agent.V), didYouMean(agent.V, known.Names()))
		}
	}
	check(t.settings.defaults.agent)
	for _, m := range t.settings.members {
		check(m.agent)
	}
	return d.err("the profiles are: " + strings.Join(known.Names(), ", ") + "; leadlight help agents says how to add one")
}

func (d *decoder) checkName(f *teamFile, i int) {
	m := &f.members[i]
	if m.name.absent() {
		d.fail(m.pos, "the member has no name")
	}
	if !m.name.Set {
		return
	}
	name, err := store.CheckMember(m.name.V)
	if err != nil {
		d.failWith(m.name.Pos, err)
		return
	}
	m.name.V = name
	for _, before := range f.members[:i] {
		if before.name.V == name {
			d.fail(m.name.Pos, "the name %q is taken by the member in line %d", name, before.name.Pos.Line)
			return
		}
	}
}

func (d *decoder) checkProfile(m *memberPart, p profiles.Profile) {
	kind := p.Kind
	if m.kind.Set {
		kind = m.kind.V
	}
	switch {
	case m.run.Set && kind != profiles.Worker:
		d.fail(m.run.Pos, "run is for workers; %q is of kind %s", p.Name, kind)
	case p.Name == profiles.Exec && len(m.command) == 0:
		d.fail(m.pos, "the profile exec needs a command")
	case p.Name == profiles.Shell && len(m.command) > 0:
		d.fail(m.pos, "the profile shell takes run, not command")
	}
	if m.model.Set {
		if err := p.CheckModel(m.model.V); err != nil {
			d.failWith(m.model.Pos, err)
		}
	}
}

func (d *decoder) checkTasks(f *teamFile) {
	var subjects, members []string
	for _, t := range f.tasks {
		subjects = append(subjects, t.subject.V)
	}
	for _, m := range f.members {
		members = append(members, m.name.V)
	}
	for i := range f.tasks {
		t := &f.tasks[i]
		if t.subject.absent() || (t.subject.Set && strings.TrimSpace(t.subject.V) == "") {
			d.fail(t.pos, "the task has no subject")
		}
		if t.owner.Set && !f.isMember(t.owner.V) {
			d.fail(t.owner.Pos, "the owner %q is no member of the team%s", store.Shown(t.owner.V), didYouMean(t.owner.V, members))
		}
		for j := range t.blockedBy {
			d.resolve(f, i, &t.blockedBy[j], subjects)
		}
	}
	d.checkCycles(f)
}

func (f *teamFile) isMember(name string) bool {
	if name == store.Lead || (f.lead.Set && store.SameName(name, f.lead.V)) {
		return true
	}
	return slices.ContainsFunc(f.members, func(m memberPart) bool { return store.SameName(m.name.V, name) })
}

// resolve turns a blocker into the number of its task. An unknown one becomes
// empty.
func (d *decoder) resolve(f *teamFile, task int, b *blocker, subjects []string) {
	said := b.V
	b.V = ""
	number := 0
	switch n, err := strconv.Atoi(strings.TrimPrefix(said, "#")); {
	case !b.number && slices.Contains(subjects, said):
		number = slices.Index(subjects, said) + 1
		if other := slices.Index(subjects[number:], said); other >= 0 {
			d.fail(b.Pos, "several tasks have the subject %q; give the number", store.Shown(said))
			return
		}
	case err != nil:
		d.fail(b.Pos, "blockedBy names no task: %q%s", store.Shown(said), didYouMean(said, subjects))
		return
	case n < 1 || n > len(f.tasks):
		d.fail(b.Pos, "blockedBy names no task: %s (there are %d)", store.Shown(said), len(f.tasks))
		return
	default:
		number = n
	}
	if number == task+1 {
		d.fail(b.Pos, "the task is blocked by itself")
		return
	}
	b.V = strconv.Itoa(number)
}

// checkCycles reports one cycle of tasks that wait for each other, at the
// reference that closes it.
func (d *decoder) checkCycles(f *teamFile) {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(f.tasks)+1)
	var path []string
	var visit func(n int) bool
	visit = func(n int) bool {
		state[n] = open
		path = append(path, strconv.Itoa(n))
		for _, b := range f.tasks[n-1].blockedBy {
			next, err := strconv.Atoi(b.V)
			if err != nil {
				continue
			}
			if state[next] == open {
				from := slices.Index(path, b.V)
				d.fail(b.Pos, "the tasks wait for each other: %s", strings.Join(append(path[from:], b.V), " → "))
				return false
			}
			if state[next] == unseen && !visit(next) {
				return false
			}
		}
		state[n] = done
		path = path[:len(path)-1]
		return true
	}
	for n := 1; n <= len(f.tasks); n++ {
		if state[n] == unseen && !visit(n) {
			return
		}
	}
}

// plan is the team that a correct file asks for.
func (f *teamFile) plan(dir string) teams.Plan {
	cwd := inFolder(dir, f.defaults.cwd.V)
	if strings.TrimSpace(f.description.V) == "" {
		f.description.V = "Team " + f.team.V
	}
	p := teams.Plan{
		Team: teams.TeamSpec{
			Name: f.team.V, Description: f.description.V, Lead: f.lead.V, Cwd: cwd, Mailbox: f.mailbox.V, LeadProcess: true,
		},
		Layout: f.layout.layout(),
	}
	for _, m := range f.members {
		p.Members = append(p.Members, m.spec(f.defaults, dir, cwd))
	}
	for i := range p.Members {
		p.Members[i].Layout = p.Layout
	}
	for _, t := range f.tasks {
		p.Tasks = append(p.Tasks, t.spec())
	}
	return p
}

func inFolder(dir, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") { // the home folder is of whoever brings the team up
		return path
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func (m memberPart) spec(def defaultsPart, dir, cwd string) teams.SpawnSpec {
	s := teams.SpawnSpec{
		Name: m.name.V, Profile: m.agent.V, Model: m.model.V, AgentType: m.agentType.V, Prompt: m.prompt.V,
		Cwd: cwd, Color: m.color.V, Kind: m.kind.V, Restart: m.restart.V, Env: m.env, Command: m.command,
		Placement: backend.Place(m.placement.V), PlanMode: m.planMode.V, Ready: m.ready.V,
	}
	if m.cwd.Set {
		s.Cwd = inFolder(dir, m.cwd.V)
	}
	if m.run.V == "task" {
		s.RunTask = true
	} else {
		s.Run = m.run.V
	}
	if m.worktree.Set {
		s.Worktree = &m.worktree.V
	}
	if s.Profile == "" && len(s.Command) == 0 {
		s.Profile = def.agent.V
	}
	if s.Model == "" && s.Profile == def.agent.V {
		s.Model = def.model.V
	}
	return s
}

func (t taskPart) spec() teams.TaskSpec {
	s := teams.TaskSpec{
		Subject: t.subject.V, Description: t.description.V, ActiveForm: t.activeForm.V, Owner: t.owner.V, Metadata: t.metadata,
	}
	for _, b := range t.blockedBy {
		if !slices.Contains(s.BlockedBy, b.V) {
			s.BlockedBy = append(s.BlockedBy, b.V)
		}
	}
	if t.run.Set {
		if s.Metadata == nil {
			s.Metadata = map[string]json.RawMessage{}
		}
		s.Metadata[teams.RunKey], _ = json.Marshal(t.run.V) // text always marshals
	}
	return s
}
