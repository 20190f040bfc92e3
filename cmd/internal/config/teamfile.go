package config

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
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
		return nil, fault.New(fault.TeamFile, "read the team file: %w", err).
			WithHint("see that it is a file that can be read; or name another one (leadlight up FILE), or the team (leadlight down NAME)")
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
		d.readMap(root, "a team file", f.keys())
		d.check(&f)
	}
	if err := d.err("leadlight help team-file shows the keys"); err != nil {
		return nil, err
	}
	out := &TeamFile{Path: shown, shown: shown, settings: f, Plan: f.plan(dir), Profiles: map[string]profiles.Profile{}}
	out.Plan.Hooks = placed(f.hooks, dir, shown)
	for i, m := range f.members {
		out.Plan.Members[i].Places = map[string]string{}
		for key, pos := range m.places {
			out.Plan.Members[i].Places[key] = pos.in(shown)
		}
	}
	for _, p := range f.profiles {
		out.Profiles[p.name.V] = p.profile
	}
	return out, nil
}

func newDecoder(shown string, code fault.Code) *decoder {
	return &decoder{file: shown, code: code, anchors: map[string]ast.Node{}, open: map[string]bool{}}
}

// readLimited reads a regular file, one byte more than is allowed at most: who parses it
// says with its own code that it is too large.
func readLimited(path string) ([]byte, error) {
	f, err := files.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
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

// plan is the team that a correct file asks for.
func (f *teamFile) plan(dir string) teams.Plan {
	cwd := inFolder(dir, f.defaults.cwd.V)
	if store.Blank(f.description.V) {
		f.description.V = "Team " + f.team.V
	}
	p := teams.Plan{
		Team: teams.TeamSpec{
			Name: f.team.V, Description: f.description.V, Lead: f.lead.V, Cwd: cwd, Mailbox: f.mailbox.V, LeadProcess: true,
		},
	}
	for _, m := range f.members {
		p.Members = append(p.Members, m.spec(f.defaults, dir, cwd))
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
		Placement: backend.Place(m.placement.V), PlanMode: m.planMode.V, Ready: m.ready.V, Machine: m.machine.V,
	}
	if m.cwd.Set {
		s.Cwd = inFolder(dir, m.cwd.V)
	}
	if m.git != nil {
		src := m.git.source(dir)
		s.Git = &src
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

// source is the repository that a member asks for. A folder counts from the file's own.
func (g gitPart) source(dir string) teams.Source {
	src := teams.Source{URL: g.url.V, Ref: g.ref.V}
	if src.Local() {
		src.URL = inFolder(dir, src.URL)
	}
	return src
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
