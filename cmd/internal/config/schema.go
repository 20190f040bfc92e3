package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// The shape of a team file, with the place of everything that is checked later.
type (
	teamFile struct {
		team, description, lead, mailbox, engine scalar[string]
		layout                                   layoutPart
		defaults                                 defaultsPart
		lifecycle                                lifecyclePart
		members                                  []memberPart
		tasks                                    []taskPart
		profiles                                 []profilePart
		hooks                                    []hooks.Hook
	}
	layoutPart struct {
		placement, arrange, main scalar[string]
		cols, rows, maxPanes     scalar[int]
	}
	defaultsPart  struct{ agent, model, cwd, environment scalar[string] }
	lifecyclePart struct {
		onLeadExit, onLoss             scalar[string]
		ask, term, kill, ready, silent scalar[time.Duration]
		maxTeammates                   scalar[int]
		maxParallel                    scalar[int]
		keep                           scalar[bool]
		assign                         scalar[string]
	}
	memberPart struct {
		pos                                            Pos
		places                                         map[string]Pos // of what its keys say
		name, agent, model, agentType, prompt, cwd     scalar[string]
		color, kind, placement, worktree, restart, run scalar[string]
		machine                                        scalar[string]
		planMode                                       scalar[bool]
		ready                                          scalar[time.Duration]
		env, command                                   []string
		git                                            *gitPart
	}
	gitPart  struct{ url, ref scalar[string] }
	taskPart struct {
		pos                                          Pos
		subject, description, activeForm, owner, run scalar[string]
		blockedBy                                    []blocker
		metadata                                     map[string]json.RawMessage
	}
	blocker struct {
		scalar[string]
		number bool // written as a number
	}
)

// Words that settings take.
func placements() []string {
	return []string{string(backend.Split), string(backend.Window), string(backend.Session)}
}

func arrangements() []string {
	return []string{string(backend.MainVertical), string(backend.Tiled), string(backend.Even), string(backend.None)}
}

// Restarts returns the restart policies.
func Restarts() []string { return []string{teams.RestartNever, teams.RestartOnFailure} }

func (f *teamFile) keys() []Key {
	return []Key{
		{"team", "name", "name of the team (needed)", into(&f.team, text)},
		{"description", "text", "what the team is for", into(&f.description, text)},
		{"lead", "name", "name of the lead, if not team-lead", into(&f.lead, text)},
		{"mailbox", "claude|maildir", "layout of the mailboxes; claude", into(&f.mailbox, oneOf("claude", "maildir"))},
		{"engine", "URL|files", "the engine that keeps the team, which this machine has joined; files", f.readEngine},
		{"layout", "keys", "where the panes go", mapping(f.layout.keys)},
		{"defaults", "keys", "for members that do not say it themselves", mapping(f.defaults.keys)},
		{"members", "list", "the teammates", list(&f.members, "a member", func(m *memberPart, p Pos) []Key {
			m.pos, m.places = p, map[string]Pos{}
			return m.noting(m.keys())
		})},
		{"tasks", "list", "the tasks, numbered from 1 in their order", list(&f.tasks, "a task", func(t *taskPart, p Pos) []Key {
			t.pos = p
			return t.keys()
		})},
		{"profiles", "keys", "how an agent is run, by the agent's name", f.readProfiles},
		{"hooks", "keys", "programs that may object, by the event they are asked about", f.readHooks},
		{"lifecycle", "keys", "limits and the end", mapping(f.lifecycle.keys)},
	}
}

func (f *teamFile) readEngine(d *decoder, n ast.Node, what string) {
	f.engine = text(d, n, what)
	if !f.engine.Set || f.engine.V == store.InFiles {
		return
	}
	if err := store.CheckEngine(f.engine.V); err != nil {
		d.failWith(f.engine.Pos, err)
	}
}

func (l *layoutPart) keys() []Key {
	return []Key{
		{"placement", strings.Join(placements(), "|"), "beside the lead, a window, or a session of our own", into(&l.placement, oneOf(placements()...))},
		{"arrange", strings.Join(arrangements(), "|"), "arrangement of the lead's window; main-vertical", into(&l.arrange, oneOf(arrangements()...))},
		{"main", "40%|100", "size of the lead's pane with main-vertical; 40%", l.readMain},
		{"min", "COLSxROWS", "smallest pane; 40x10 beside the lead, 80x20 in our own session", l.readMin},
		{"maxPanes", "number", "most panes of ours in one window", into(&l.maxPanes, integer(1000))},
	}
}

func (l *layoutPart) readMain(d *decoder, n ast.Node, what string) {
	l.main = word(d, n, what)
	if l.main.Set && !backend.IsMain(l.main.V) {
		d.fail(l.main.Pos, "main takes a share such as 40%% or a number of columns, not %q", l.main.V)
	}
}

func (l *layoutPart) readMin(d *decoder, n ast.Node, what string) {
	s := word(d, n, what)
	if !s.Set {
		return
	}
	cols, rows, _ := strings.Cut(s.V, "x")
	c, err1 := strconv.ParseUint(cols, 10, 12)
	r, err2 := strconv.ParseUint(rows, 10, 12)
	if err1 != nil || err2 != nil || c == 0 || r == 0 {
		d.fail(s.Pos, "min takes columns and rows such as 40x10, not %q", s.V)
		return
	}
	l.cols, l.rows = scalar[int]{int(c), s.Pos, true}, scalar[int]{int(r), s.Pos, true}
}

func (p *defaultsPart) keys() []Key {
	return []Key{
		{"agent", "profile", "profile of the members", into(&p.agent, text)},
		{"model", "text", "model of the members", into(&p.model, text)},
		{"cwd", "folder", "working folder, counted from the file's own", into(&p.cwd, text)},
		{"environment", OfLead + "|" + OfLoginShell, "what they inherit: the lead's variables, or also what the login shell's files set; " + OfLead, into(&p.environment, oneOf(OfLead, OfLoginShell))},
	}
}

func (l *lifecyclePart) keys() []Key {
	return []Key{
		{"onLeadExit", "keep|shutdown", "what happens to the teammates when up is interrupted; keep", into(&l.onLeadExit, oneOf("keep", "shutdown"))},
		{"onLoss", "release|keep", "what becomes of the tasks that a lost teammate had in progress; release", into(&l.onLoss, oneOf(teams.ReleaseTasks, teams.KeepTasks))},
		{"silent", "time", "how long a machine may say nothing until onLoss holds for the tasks of its teammates; 10m", into(&l.silent, duration)},
		{"ask", "time", "how long a teammate may think about a shutdown; 30s", into(&l.ask, duration)},
		{"term", "time", "from SIGTERM to SIGKILL; 5s", into(&l.term, duration)},
		{"kill", "time", "from SIGKILL to closing the pane; 2s", into(&l.kill, duration)},
		{"ready", "time", "how long a new teammate may take to be there; 20s", into(&l.ready, duration)},
		{"keep", "true|false", "up keeps the team when its tasks are done, until ^C or down; false", into(&l.keep, boolean)},
		{"assign", "auto|off", "whether ready tasks without an owner are offered to idle agents; auto", into(&l.assign, oneOf("auto", "off"))},
		{"maxParallel", "number", "most items of runs that are under way at a time, all runs together; 8; in config.yaml, which the daemon reads", into(&l.maxParallel, integer(1000))},
		{"maxTeammates", "number", "most live teammates; 64", into(&l.maxTeammates, integer(10_000))},
	}
}

func (m *memberPart) keys() []Key {
	return []Key{
		{"name", "name", "name of the teammate (needed)", into(&m.name, text)},
		{"agent", "profile", "how it is run", into(&m.agent, text)},
		{"model", "text", "model of the agent", into(&m.model, text)},
		{"agentType", "text", "type of the agent, for people and for Claude Code", into(&m.agentType, text)},
		{"prompt", "text", "its first message", into(&m.prompt, text)},
		{"cwd", "folder", "working folder, counted from the file's own", into(&m.cwd, text)},
		{"git", "keys", "a repository of which it gets a worktree, on the machine where it runs; instead of cwd", m.readGit},
		{"env", "keys", "variables over those of the lead", variables(&m.env)},
		{"color", "colour", "colour of its name and border", into(&m.color, text)},
		{"kind", strings.Join(profiles.Kinds(), "|"), "kind of agent, if not the profile's", into(&m.kind, oneOf(profiles.Kinds()...))},
		{"placement", strings.Join(placements(), "|"), "where its pane goes, if not where the layout says", into(&m.placement, oneOf(placements()...))},
		{"machine", "name|auto", "the machine it runs on, of a team on an engine; auto: the one with most room", into(&m.machine, text)},
		{"planMode", "true|false", "it plans first and asks", into(&m.planMode, boolean)},
		{"worktree", "true|branch", "a git worktree of its own; true: on a branch of its own", m.readWorktree},
		{"restart", strings.Join(Restarts(), "|"), "what to do when it ends by itself", into(&m.restart, oneOf(Restarts()...))},
		{"readyTimeout", "time", "how long it may take to be there", into(&m.ready, duration)},
		{"run", "command|task", "a worker's command for each task (sh -c); task: each task brings its own", into(&m.run, text)},
		{"command", "list", "program and arguments, run as they are", command(&m.command)},
	}
}

// noting notes where each key's value stands, for what is found out later.
func (m *memberPart) noting(keys []Key) []Key {
	for i, k := range keys {
		keys[i].read = func(d *decoder, n ast.Node, what string) {
			m.places[k.Name] = at(n)
			k.read(d, n, what)
		}
	}
	return keys
}

func (g *gitPart) keys() []Key {
	return []Key{
		{"url", "url|folder", "where it is (needed); no password in it", into(&g.url, text)},
		{"ref", "text", "the branch, tag or commit with which the member begins; where its HEAD is", into(&g.ref, word)},
	}
}

func (m *memberPart) readGit(d *decoder, n ast.Node, what string) {
	m.git = &gitPart{}
	before := len(d.mistakes)
	d.readMap(n, what, m.git.keys())
	if m.git.url.absent() && len(d.mistakes) == before {
		d.fail(at(n), "git needs the url of a repository")
	}
}

func (t *taskPart) keys() []Key {
	return []Key{
		{"subject", "text", "what is to be done (needed)", into(&t.subject, text)},
		{"description", "text", "the whole of it", into(&t.description, text)},
		{"activeForm", "text", "how it is called while it is done", into(&t.activeForm, text)},
		{"owner", "name", "the only member that may take it", into(&t.owner, text)},
		{"blockedBy", "list", "tasks to be done before, by number or subject", t.readBlockers},
		{"run", "command", "a worker's command for this task (sh -c)", into(&t.run, text)},
		{"metadata", "keys", "anything else, kept with the task", t.readMetadata},
	}
}

// mapping reads a mapping by its table of keys.
func mapping(keys func() []Key) reader {
	return func(d *decoder, n ast.Node, what string) { d.readMap(n, what, keys()) }
}

// list reads a list of mappings. keys takes the place of an item, and returns its table.
func list[T any](to *[]T, item string, keys func(*T, Pos) []Key) reader {
	return func(d *decoder, n ast.Node, what string) {
		d.eachItem(n, what, func(v ast.Node) {
			if isNull(v) {
				d.fail(at(v), "%s takes keys and values, not nothing", item)
				return
			}
			var t T
			d.readMap(v, item, keys(&t, at(v)))
			*to = append(*to, t)
		})
	}
}

// variables reads a mapping of variables as K=V. The list is not nil if it is there.
func variables(to *[]string) reader {
	return func(d *decoder, n ast.Node, what string) {
		*to = []string{}
		d.eachKey(n, what, func(name string, pos Pos, v ast.Node) {
			if err := CheckVariable(name); err != nil {
				d.fail(pos, "%v", err)
				return
			}
			if isNull(v) {
				*to = append(*to, name+"=")
			} else if s := word(d, v, "a variable"); s.Set {
				*to = append(*to, name+"="+s.V)
			}
		})
	}
}

// CheckVariable says whether name can be that of an environment variable.
func CheckVariable(name string) error {
	if name == "" || strings.ContainsAny(name, "= \t\n\x00") {
		return fmt.Errorf("%q cannot be the name of a variable", name)
	}
	return nil
}

func (m *memberPart) readWorktree(d *decoder, n ast.Node, what string) {
	if own, is := n.(*ast.BoolNode); is {
		m.worktree = scalar[string]{"", at(n), own.Value}
		return
	}
	m.worktree = text(d, n, what)
}

// command reads a program and its arguments.
func command(to *[]string) reader {
	return func(d *decoder, n ast.Node, _ string) {
		d.eachItem(n, "command", func(v ast.Node) {
			if s := word(d, v, "an argument"); s.Set {
				*to = append(*to, s.V)
			}
		})
		if _, list := n.(*ast.SequenceNode); list && (len(*to) == 0 || (*to)[0] == "") {
			d.fail(at(n), "command takes a program and its arguments")
		}
	}
}

func (t *taskPart) readBlockers(d *decoder, n ast.Node, what string) {
	one := func(v ast.Node) {
		if s := word(d, v, what); s.Set {
			_, number := v.(*ast.IntegerNode)
			t.blockedBy = append(t.blockedBy, blocker{s, number})
		}
	}
	switch n.(type) {
	case *ast.IntegerNode, *ast.StringNode:
		one(n)
	default:
		d.eachItem(n, what, one)
	}
}

func (t *taskPart) readMetadata(d *decoder, n ast.Node, what string) {
	t.metadata = map[string]json.RawMessage{}
	d.eachKey(n, what, func(name string, pos Pos, v ast.Node) {
		b, err := json.Marshal(d.anything(v))
		if err != nil {
			d.fail(pos, "metadata %q cannot be written as JSON", name)
			return
		}
		t.metadata[name] = b
	})
}

// anything reads a value of any shape.
func (d *decoder) anything(n ast.Node) any {
	v, done := d.value(n)
	defer done()
	switch t := v.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return t.Value
	case *ast.IntegerNode:
		return t.Value
	case *ast.FloatNode:
		return t.Value
	case *ast.SequenceNode:
		list := []any{}
		d.eachItem(t, "", func(v ast.Node) { list = append(list, d.anything(v)) })
		return list
	case *ast.MappingNode, *ast.MappingValueNode:
		m := map[string]any{}
		d.eachKey(t, "", func(name string, _ Pos, v ast.Node) { m[name] = d.anything(v) })
		return m
	}
	return text(d, v, "metadata").V
}
