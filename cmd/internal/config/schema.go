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

func teamKeys() []key[teamFile] {
	return []key[teamFile]{
		{"team", "name", "name of the team (needed)", func(d *decoder, n ast.Node, f *teamFile) { f.team = d.text(n, "team") }},
		{"description", "text", "what the team is for", func(d *decoder, n ast.Node, f *teamFile) { f.description = d.text(n, "description") }},
		{"lead", "name", "name of the lead, if not team-lead", func(d *decoder, n ast.Node, f *teamFile) { f.lead = d.text(n, "lead") }},
		{"mailbox", "claude|maildir", "layout of the mailboxes; claude", func(d *decoder, n ast.Node, f *teamFile) {
			f.mailbox = d.oneOf(n, "mailbox", "claude", "maildir")
		}},
		{"engine", "URL|files", "the engine that keeps the team, which this machine has joined; files", readEngine},
		{"layout", "keys", "where the panes go", func(d *decoder, n ast.Node, f *teamFile) { readMap(d, n, "layout", layoutKeys(), &f.layout) }},
		{"defaults", "keys", "for members that do not say it themselves", func(d *decoder, n ast.Node, f *teamFile) {
			readMap(d, n, "defaults", defaultsKeys(), &f.defaults)
		}},
		{"members", "list", "the teammates", func(d *decoder, n ast.Node, f *teamFile) {
			f.members = readList(d, n, "members", "a member", memberKeys(), func(m *memberPart, p Pos) { m.pos = p })
		}},
		{"tasks", "list", "the tasks, numbered from 1 in their order", func(d *decoder, n ast.Node, f *teamFile) {
			f.tasks = readList(d, n, "tasks", "a task", taskKeys(), func(t *taskPart, p Pos) { t.pos = p })
		}},
		{"profiles", "keys", "how an agent is run, by the agent's name", readProfiles},
		{"hooks", "keys", "programs that may object, by the event they are asked about", readHooks},
		{"lifecycle", "keys", "limits and the end", func(d *decoder, n ast.Node, f *teamFile) {
			readMap(d, n, "lifecycle", lifecycleKeys(), &f.lifecycle)
		}},
	}
}

func readEngine(d *decoder, n ast.Node, f *teamFile) {
	f.engine = d.text(n, "engine")
	if !f.engine.Set || f.engine.V == store.InFiles {
		return
	}
	if err := store.CheckEngine(f.engine.V); err != nil {
		d.failWith(f.engine.Pos, err)
	}
}

func layoutKeys() []key[layoutPart] {
	return []key[layoutPart]{
		{"placement", strings.Join(placements(), "|"), "beside the lead, a window, or a session of our own", func(d *decoder, n ast.Node, l *layoutPart) {
			l.placement = d.oneOf(n, "placement", placements()...)
		}},
		{"arrange", strings.Join(arrangements(), "|"), "arrangement of the lead's window; main-vertical", func(d *decoder, n ast.Node, l *layoutPart) {
			l.arrange = d.oneOf(n, "arrange", arrangements()...)
		}},
		{"main", "40%|100", "size of the lead's pane with main-vertical; 40%", func(d *decoder, n ast.Node, l *layoutPart) {
			l.main = d.word(n, "main")
			if l.main.Set && !mainSize(l.main.V) {
				d.fail(l.main.Pos, "main takes a share such as 40%% or a number of columns, not %q", l.main.V)
			}
		}},
		{"min", "COLSxROWS", "smallest pane; 40x10 beside the lead, 80x20 in our own session", readMin},
		{"maxPanes", "number", "most panes of ours in one window", func(d *decoder, n ast.Node, l *layoutPart) {
			l.maxPanes = d.integer(n, "maxPanes", 1, 1000)
		}},
	}
}

func mainSize(s string) bool {
	digits, share := strings.CutSuffix(s, "%")
	v, err := strconv.ParseUint(digits, 10, 16)
	return err == nil && v > 0 && (!share || v < 100)
}

func readMin(d *decoder, n ast.Node, l *layoutPart) {
	s := d.word(n, "min")
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

func defaultsKeys() []key[defaultsPart] {
	return []key[defaultsPart]{
		{"agent", "profile", "profile of the members", func(d *decoder, n ast.Node, p *defaultsPart) { p.agent = d.text(n, "agent") }},
		{"model", "text", "model of the members", func(d *decoder, n ast.Node, p *defaultsPart) { p.model = d.text(n, "model") }},
		{"cwd", "folder", "working folder, counted from the file's own", func(d *decoder, n ast.Node, p *defaultsPart) { p.cwd = d.text(n, "cwd") }},
		{"environment", OfLead + "|" + OfLoginShell, "what they inherit: the lead's variables, or also what the login shell's files set; " + OfLead, func(d *decoder, n ast.Node, p *defaultsPart) {
			p.environment = d.oneOf(n, "environment", OfLead, OfLoginShell)
		}},
	}
}

func lifecycleKeys() []key[lifecyclePart] {
	return []key[lifecyclePart]{
		{"onLeadExit", "keep|shutdown", "what happens to the teammates when up is interrupted; keep", func(d *decoder, n ast.Node, l *lifecyclePart) {
			l.onLeadExit = d.oneOf(n, "onLeadExit", "keep", "shutdown")
		}},
		{"onLoss", "release|keep", "what becomes of the tasks that a lost teammate had in progress; release", func(d *decoder, n ast.Node, l *lifecyclePart) {
			l.onLoss = d.oneOf(n, "onLoss", teams.ReleaseTasks, teams.KeepTasks)
		}},
		{"silent", "time", "how long a machine may say nothing until onLoss holds for the tasks of its teammates; 10m", func(d *decoder, n ast.Node, l *lifecyclePart) { l.silent = d.duration(n, "silent") }},
		{"ask", "time", "how long a teammate may think about a shutdown; 30s", func(d *decoder, n ast.Node, l *lifecyclePart) { l.ask = d.duration(n, "ask") }},
		{"term", "time", "from SIGTERM to SIGKILL; 5s", func(d *decoder, n ast.Node, l *lifecyclePart) { l.term = d.duration(n, "term") }},
		{"kill", "time", "from SIGKILL to closing the pane; 2s", func(d *decoder, n ast.Node, l *lifecyclePart) { l.kill = d.duration(n, "kill") }},
		{"ready", "time", "how long a new teammate may take to be there; 20s", func(d *decoder, n ast.Node, l *lifecyclePart) { l.ready = d.duration(n, "ready") }},
		{"keep", "true|false", "up keeps the team when its tasks are done, until ^C or down; false", func(d *decoder, n ast.Node, l *lifecyclePart) { l.keep = d.boolean(n, "keep") }},
		{"assign", "auto|off", "whether ready tasks without an owner are offered to idle agents; auto", func(d *decoder, n ast.Node, l *lifecyclePart) {
			l.assign = d.oneOf(n, "assign", "auto", "off")
		}},
		{"maxParallel", "number", "most items of runs that are under way at a time, all runs together; 8; in config.yaml, which the daemon reads", func(d *decoder, n ast.Node, l *lifecyclePart) {
			l.maxParallel = d.integer(n, "maxParallel", 1, 1000)
		}},
		{"maxTeammates", "number", "most live teammates; 64", func(d *decoder, n ast.Node, l *lifecyclePart) {
			l.maxTeammates = d.integer(n, "maxTeammates", 1, 10_000)
		}},
	}
}

func memberKeys() []key[memberPart] {
	type m = memberPart
	return []key[m]{
		{"name", "name", "name of the teammate (needed)", func(d *decoder, n ast.Node, p *m) { p.name = d.text(n, "name") }},
		{"agent", "profile", "how it is run", func(d *decoder, n ast.Node, p *m) { p.agent = d.text(n, "agent") }},
		{"model", "text", "model of the agent", func(d *decoder, n ast.Node, p *m) { p.model = d.text(n, "model") }},
		{"agentType", "text", "type of the agent, for people and for Claude Code", func(d *decoder, n ast.Node, p *m) { p.agentType = d.text(n, "agentType") }},
		{"prompt", "text", "its first message", func(d *decoder, n ast.Node, p *m) { p.prompt = d.text(n, "prompt") }},
		{"cwd", "folder", "working folder, counted from the file's own", func(d *decoder, n ast.Node, p *m) { p.cwd = d.text(n, "cwd") }},
		{"git", "keys", "a repository of which it gets a worktree, on the machine where it runs; instead of cwd", readGit},
		{"env", "keys", "variables over those of the lead", readEnv},
		{"color", "colour", "colour of its name and border", func(d *decoder, n ast.Node, p *m) { p.color = d.text(n, "color") }},
		{"kind", strings.Join(profiles.Kinds(), "|"), "kind of agent, if not the profile's", func(d *decoder, n ast.Node, p *m) { p.kind = d.oneOf(n, "kind", profiles.Kinds()...) }},
		{"placement", strings.Join(placements(), "|"), "where its pane goes, if not where the layout says", func(d *decoder, n ast.Node, p *m) {
			p.placement = d.oneOf(n, "placement", placements()...)
		}},
		{"machine", "name|auto", "the machine it runs on, of a team on an engine; auto: the one with most room", func(d *decoder, n ast.Node, p *m) { p.machine = d.text(n, "machine") }},
		{"planMode", "true|false", "it plans first and asks", func(d *decoder, n ast.Node, p *m) { p.planMode = d.boolean(n, "planMode") }},
		{"worktree", "true|branch", "a git worktree of its own; true: on a branch of its own", readWorktree},
		{"restart", strings.Join(Restarts(), "|"), "what to do when it ends by itself", func(d *decoder, n ast.Node, p *m) { p.restart = d.oneOf(n, "restart", Restarts()...) }},
		{"readyTimeout", "time", "how long it may take to be there", func(d *decoder, n ast.Node, p *m) { p.ready = d.duration(n, "readyTimeout") }},
		{"run", "command|task", "a worker's command for each task (sh -c); task: each task brings its own", func(d *decoder, n ast.Node, p *m) { p.run = d.text(n, "run") }},
		{"command", "list", "program and arguments, run as they are", func(d *decoder, n ast.Node, p *m) { p.command = readCommand(d, n) }},
	}
}

func gitKeys() []key[gitPart] {
	return []key[gitPart]{
		{"url", "url|folder", "where it is (needed); no password in it", func(d *decoder, n ast.Node, p *gitPart) { p.url = d.text(n, "url") }},
		{"ref", "text", "the branch, tag or commit with which the member begins; where its HEAD is", func(d *decoder, n ast.Node, p *gitPart) { p.ref = d.word(n, "ref") }},
	}
}

func readGit(d *decoder, n ast.Node, m *memberPart) {
	m.git = &gitPart{}
	before := len(d.mistakes)
	readMap(d, n, "git", gitKeys(), m.git)
	if m.git.url.absent() && len(d.mistakes) == before {
		d.fail(at(n), "git needs the url of a repository")
	}
}

func taskKeys() []key[taskPart] {
	return []key[taskPart]{
		{"subject", "text", "what is to be done (needed)", func(d *decoder, n ast.Node, t *taskPart) { t.subject = d.text(n, "subject") }},
		{"description", "text", "the whole of it", func(d *decoder, n ast.Node, t *taskPart) { t.description = d.text(n, "description") }},
		{"activeForm", "text", "how it is called while it is done", func(d *decoder, n ast.Node, t *taskPart) { t.activeForm = d.text(n, "activeForm") }},
		{"owner", "name", "the only member that may take it", func(d *decoder, n ast.Node, t *taskPart) { t.owner = d.text(n, "owner") }},
		{"blockedBy", "list", "tasks to be done before, by number or subject", readBlockers},
		{"run", "command", "a worker's command for this task (sh -c)", func(d *decoder, n ast.Node, t *taskPart) { t.run = d.text(n, "run") }},
		{"metadata", "keys", "anything else, kept with the task", readMetadata},
	}
}

// readList reads a list of mappings.
func readList[T any](d *decoder, n ast.Node, what, item string, keys []key[T], place func(*T, Pos)) []T {
	var out []T
	d.eachItem(n, what, func(v ast.Node) {
		var t T
		place(&t, at(v))
		if isNull(v) {
			d.fail(at(v), "%s takes keys and values, not nothing", item)
			return
		}
		readMap(d, v, item, keys, &t)
		out = append(out, t)
	})
	return out
}

func readEnv(d *decoder, n ast.Node, m *memberPart) { m.env = d.variables(n) }

// variables reads a mapping of variables as K=V.
func (d *decoder) variables(n ast.Node) (env []string) {
	d.eachKey(n, "env", func(name string, pos Pos, v ast.Node) {
		if err := CheckVariable(name); err != nil {
			d.fail(pos, "%v", err)
			return
		}
		if isNull(v) {
			env = append(env, name+"=")
			return
		}
		if s := d.word(v, "a variable"); s.Set {
			env = append(env, name+"="+s.V)
		}
	})
	return env
}

// CheckVariable says whether name can be that of an environment variable.
func CheckVariable(name string) error {
	if name == "" || strings.ContainsAny(name, "= \t\n\x00") {
		return fmt.Errorf("%q cannot be the name of a variable", name)
	}
	return nil
}

func readWorktree(d *decoder, n ast.Node, m *memberPart) {
	if own, is := n.(*ast.BoolNode); is {
		m.worktree = scalar[string]{"", at(n), own.Value}
		return
	}
	m.worktree = d.text(n, "worktree")
}

func readCommand(d *decoder, n ast.Node) []string {
	var argv []string
	d.eachItem(n, "command", func(v ast.Node) {
		if s := d.word(v, "an argument"); s.Set {
			argv = append(argv, s.V)
		}
	})
	if _, list := n.(*ast.SequenceNode); list && (len(argv) == 0 || argv[0] == "") {
		d.fail(at(n), "command takes a program and its arguments")
	}
	return argv
}

func readBlockers(d *decoder, n ast.Node, t *taskPart) {
	one := func(v ast.Node) {
		s := d.word(v, "blockedBy")
		if s.Set {
			_, number := v.(*ast.IntegerNode)
			t.blockedBy = append(t.blockedBy, blocker{s, number})
		}
	}
	switch n.(type) {
	case *ast.IntegerNode, *ast.StringNode:
		one(n)
	default:
		d.eachItem(n, "blockedBy", one)
	}
}

func readMetadata(d *decoder, n ast.Node, t *taskPart) {
	t.metadata = map[string]json.RawMessage{}
	d.eachKey(n, "metadata", func(name string, pos Pos, v ast.Node) {
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
	return d.text(v, "metadata").V
}
