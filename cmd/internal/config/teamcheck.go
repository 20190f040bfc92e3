package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

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
		d.checkGit(m)
		if n := len(m.prompt.V); n > store.MaxPrompt {
			d.fail(m.prompt.Pos, "the prompt has %d bytes, the limit is %d", n, store.MaxPrompt)
		}
		if !m.agent.Set && len(m.command) == 0 && m.run.Set {
			m.agent = scalar[string]{profiles.Shell, m.run.Pos, true}
		}
		agent := m.agent
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
		if store.AlikeNames(before.name.V, name) {
			d.fail(m.name.Pos, "the name %q is taken by the member in line %d", name, before.name.Pos.Line)
			return
		}
	}
}

func (d *decoder) checkGit(m *memberPart) {
	if m.git == nil {
		return
	}
	src := m.git.source("/")
	if err := src.CheckURL(); m.git.url.Set && err != nil && !(src.Local() && strings.HasPrefix(src.URL, "~")) {
		d.failWith(m.git.url.Pos, err)
	}
	if err := src.CheckRef(); m.git.ref.Set && err != nil {
		d.failWith(m.git.ref.Pos, err)
	}
	if m.cwd.Set {
		d.fail(m.cwd.Pos, "git brings the folder in which the member works: leave cwd out")
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
		if t.subject.absent() || (t.subject.Set && store.Blank(t.subject.V)) {
			d.fail(t.pos, "the task has no subject")
		}
		if n := len(t.subject.V) + len(t.description.V); n > store.MaxMessage {
			d.fail(t.pos, "the text of the task has %d bytes, the limit is %d", n, store.MaxMessage)
		}
		if owner, known := f.memberNamed(t.owner.V); known {
			t.owner.V = owner
		} else if t.owner.Set {
			d.fail(t.owner.Pos, "the owner %q is no member of the team%s", store.Shown(t.owner.V), didYouMean(t.owner.V, members))
		}
		for j := range t.blockedBy {
			d.resolve(f, i, &t.blockedBy[j], subjects)
		}
	}
	d.checkCycles(f)
}

// memberNamed is the name of the member, or the lead, that a name or an address means.
func (f *teamFile) memberNamed(name string) (string, bool) {
	name = store.LocalName(name, f.team.V)
	switch {
	case name == store.Lead:
		return name, true
	case f.lead.Set && store.SameName(name, f.lead.V):
		return f.lead.V, true
	}
	i := slices.IndexFunc(f.members, func(m memberPart) bool { return store.SameName(m.name.V, name) })
	return name, i >= 0
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
