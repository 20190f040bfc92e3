// Package backendtest is the suite that every backend passes. An implementation's test
// is a constructor and one call:
//
//	opts := backendtest.Opts{New: …}
//	t.Logf("declared weak: %q", opts.Weaknesses())
//	for _, c := range backendtest.Cases(opts) {
//		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
//	}
//
// It does not know package testing, so that the program can put it to a stranger's
// backend, too. What a backend cannot do it declares in Opts; no case skips itself. The cases put
// real programs into real panes and look at what those programs saw.
package backendtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
)

// Opts names the backend and its weaknesses.
type Opts struct {
	// New makes a fresh terminal for one case and cleans it up with t.
	New func(t T) Terminal

	NoFocus  bool // there is no focus to keep or to take: Terminal.Focus is nil
	NoBorder bool // labels are not visible anywhere: Terminal.Border is nil
	NoReopen bool // panes end with the backend's process: Terminal.Other is nil
	NoFreeze bool // there is no server that could hang: Terminal.Freeze is nil
	NoKill   bool // there is no server that could die: Terminal.Kill is nil

	// What the test can do to show whose a pane is.
	Visitors bool // somebody else can come into a pane: Terminal.Visit
	Insiders bool // what runs in a pane can be asked from: Terminal.Inside
	Sessions bool // a person has sessions that end with their last pane: Terminal.Alone
}

// Weaknesses are those that are declared, each with what it means; what depends on them is
// left out. Whoever runs the cases prints them.
func (o Opts) Weaknesses() []string {
	var out []string
	for _, w := range []struct {
		declared bool
		what     string
	}{
		{o.NoFocus, "focus: there is no focus to keep or to take"},
		{o.NoBorder, "border: what people see on a pane's border is not looked at"},
		{o.NoReopen, "reopen: panes end with the program"},
		{o.NoFreeze, "freeze: a terminal that hangs is not tried"},
		{o.NoKill, "kill: a terminal that dies is not tried"},
	} {
		if w.declared {
			out = append(out, w.what)
		}
	}
	return out
}

// Terminal is one terminal: a backend, and ways to see and to break what the backend
// works on that do not go through it.
type Terminal struct {
	Backend backend.Backend
	// At says where panes go: Place and, if need be, Target. 50 have to fit.
	At backend.Spec
	// Focus describes what has the focus, for every viewer.
	Focus func() string
	// Border returns what people see written on a pane's border.
	Border func(id backend.ID) string
	// Other returns a second backend on the same terminal, as another process has it.
	Other func() backend.Backend
	// Freeze makes the terminal stop answering until thaw is called.
	Freeze func() (thaw func())
	// Kill ends the terminal without a goodbye.
	Kill func()
	// Visit ends the program of a pane and starts another one there, as a person would.
	Visit func(id backend.ID)
	// Inside is a backend as a program in that pane has it.
	Inside func(id backend.ID) backend.Backend
	// Alone makes the pane the last of a person's session, whose panes left counts.
	Alone func(id backend.ID) (left func() int)
	// Impatient is Backend with a short time limit, to be asked while the terminal is frozen;
	// Patience is how long a call of it may take then.
	Impatient backend.Backend
	Patience  time.Duration
}

// T is what a case needs of whoever runs it; *testing.T has it.
type T interface {
	Context() context.Context // done when the case is over
	Cleanup(func())
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any) // does not return
	Fatalf(format string, args ...any)
}

// Case is one promise of the contract. Cases may run at the same time.
type Case struct {
	Name string
	Run  func(T)
}

// Cases returns the cases that a backend with these weaknesses has to pass.
func Cases(o Opts) []Case {
	var out []Case
	for _, c := range cases() {
		if c.needs != nil && !c.needs(o) {
			continue
		}
		out = append(out, Case{c.name, func(t T) {
			dir := scratch(t) // first, to be removed last
			c.run(t, &rig{T: t, Terminal: o.New(t), dir: dir})
		}})
	}
	return out
}

// scratch makes a folder for the programs in the panes. They may still be writing when
// their terminal has ended, so removing it may take a moment.
func scratch(t T) string {
	dir, err := os.MkdirTemp("", "backendtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r := &rig{T: t}
		r.eventually("the folder of the programs is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}

type testCase struct {
	name  string
	needs func(Opts) bool
	run   func(T, *rig)
}

func cases() []testCase {
	focus := func(o Opts) bool { return !o.NoFocus }
	return slices.Concat(openCases(), whoseCases(), []testCase{
		{"LY04_FocusStays", focus, focusStays},
		{"FocusTakesThere", focus, focusTakesThere},
		{"ListByMark", nil, listByMark},
		{"TV04_HostileTitlesAndFolders", nil, hostileTitles},
		{"PI11_LabelSurvivesTitle", func(o Opts) bool { return !o.NoBorder }, labelSurvivesTitle},
		{"CloseTwice", nil, closeTwice},
		{"PI04_CloseWithAnotherMark", nil, closeWrongMark},
		{"PI04_LabelWithAnotherMark", nil, labelWrongMark},
		{"PI06_UnknownAndMalformedIDs", nil, unknownIDs},
		{"TV11_Frozen", func(o Opts) bool { return !o.NoFreeze }, frozen},
		{"CR01_Killed", func(o Opts) bool { return !o.NoKill }, killed},
		{"ReopenFindsMarks", func(o Opts) bool { return !o.NoReopen }, reopen},
		{"Capture", nil, capture},
		{"Arrange", nil, arrange},
	})
}

// rig is one case at work.
type rig struct {
	T
	Terminal
	dir string // where the programs in the panes write
}

// recorder is a program that writes down where it is and what it was given, and stays.
const recorder = `f=$1; shift
pwd -P > "$f.pwd"
for a do printf '%s\0' "$a"; done > "$f.tmp"
mv "$f.tmp" "$f.argv"
exec sleep 1000`

// spec is a pane for an agent of that name which records its arguments.
func (r *rig) spec(agent string, args ...string) backend.Spec {
	return r.script(agent, recorder, append([]string{filepath.Join(r.dir, agent)}, args...)...)
}

// script is a pane for an agent that runs a shell script.
func (r *rig) script(agent, script string, args ...string) backend.Spec {
	s := r.At
	s.Argv = append([]string{"sh", "-c", script, "sh"}, args...)
	s.Dir = r.dir
	s.Name = agent
	s.Mark = backend.Mark{Base: "b", Team: "team", Agent: agent, Host: "host-of-" + agent + filepath.Base(r.dir)} // one host, one pane: cases run side by side
	s.Label = backend.Label{Name: agent, State: "running", Color: "blue"}
	return s
}

// open opens panes that all have to come about.
func (r *rig) open(specs ...backend.Spec) []backend.Pane {
	r.Helper()
	var list []backend.Pane
	results := r.Backend.Open(r.Context(), specs)
	if len(results) != len(specs) {
		r.Fatalf("%d results for %d specs", len(results), len(specs))
	}
	for i, res := range results {
		if res.Err != nil {
			r.Fatalf("open %s: %v", specs[i].Mark.Agent, res.Err)
		}
		list = append(list, res.Pane)
	}
	return list
}

// recorded waits for what an agent's program wrote down.
func (r *rig) recorded(agent string) (args []string, dir string) {
	r.Helper()
	file := filepath.Join(r.dir, agent)
	r.eventually("the program of "+agent+" runs", func() bool {
		_, err := os.Stat(file + ".argv")
		return err == nil
	})
	argv, err := os.ReadFile(file + ".argv")
	if err != nil {
		r.Fatal(err)
	}
	if len(argv) > 0 {
		args = strings.Split(strings.TrimSuffix(string(argv), "\x00"), "\x00")
	}
	pwd, err := os.ReadFile(file + ".pwd")
	if err != nil {
		r.Fatal(err)
	}
	return args, strings.TrimSuffix(string(pwd), "\n")
}

// close closes a pane, which has to succeed.
func (r *rig) close(p backend.Pane) {
	r.Helper()
	if err := backend.CloseOne(r.Context(), r.Backend, p.ID, p.Mark); err != nil {
		r.Errorf("close %s of %s: %v", p.ID, p.Mark.Agent, err)
	}
}

// left checks whose panes are listed.
func (r *rig) left(want ...string) {
	r.Helper()
	if got := agents(r.list()); !slices.Equal(got, want) {
		r.Errorf("left are %v, want %v", got, want)
	}
}

// list lists and fails on an error.
func (r *rig) list() []backend.Pane {
	r.Helper()
	list, err := r.Backend.List(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return list
}

func (r *rig) has(id backend.ID) bool {
	r.Helper()
	return slices.ContainsFunc(r.list(), func(p backend.Pane) bool { return p.ID == id })
}

func (r *rig) eventually(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("not within a minute: %s", what)
		}
	}
}

// agents returns the sorted names of the agents whose marks panes carry.
func agents(list []backend.Pane) []string {
	var names []string
	for _, p := range list {
		names = append(names, p.Mark.Agent)
	}
	slices.Sort(names)
	return names
}
