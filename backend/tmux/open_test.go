package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GianlucaP106/gotmux/gotmux"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// spec is a pane that sleeps, beside the target.
func spec(agent, target string) backend.Spec {
	return backend.Spec{
		Argv: []string{"sleep", "1000"}, Dir: "/", Place: backend.Split, Target: backend.ID(target), Name: agent,
		Mark:  backend.Mark{Base: "b", Team: "team", Agent: agent, Host: "host-" + agent},
		Label: backend.Label{Name: agent, State: "running", Color: "red"},
	}
}

// open opens panes that all have to come about.
func open(t testing.TB, b *tmux.Backend, specs ...backend.Spec) []backend.Pane {
	t.Helper()
	var list []backend.Pane
	for i, r := range b.Open(context.Background(), specs) {
		if r.Err != nil {
			t.Fatalf("open %s: %v", specs[i].Mark.Agent, r.Err)
		}
		list = append(list, r.Pane)
	}
	return list
}

// A batch in strips gives the very geometry that its specs give one after the other,
// also with indexes from 1 and renumbered windows.
// https://github.com/anthropics/claude-code/issues/23527 https://github.com/rappdw/sandy/issues/65
func TestPI01_PI02_BatchIsLikeOneByOne(t *testing.T) {
	s := tmuxtest.Server(t)
	s.Config("set -g base-index 1", "set -g pane-base-index 1", "set -g renumber-windows on")
	s.NewSession("200x60")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	// A pane cut one way, then the other, then the first way again; then by chance.
	plans := [][]cut{{{0, true}, {0, false}, {0, true}, {1, false}, {0, false}}}
	for rnd := rand.New(rand.NewPCG(1, 2)); len(plans) < 6; {
		var plan []cut
		for i := range 8 {
			plan = append(plan, cut{rnd.IntN(i + 1), rnd.IntN(2) == 0})
		}
		plans = append(plans, plan)
	}
	for _, plan := range plans {
		specs := halves(plan, 100, 60)
		batch, single := layout(t, s, b, specs, true), layout(t, s, b, specs, false)
		if !slices.Equal(batch, single) {
			t.Errorf("%v: in a batch\n%s\none by one\n%s", plan, strings.Join(batch, "\n"), strings.Join(single, "\n"))
		}
	}
}

// cut is a split of an earlier pane of the batch.
type cut struct {
	from  int
	below bool
}

// halves plans a batch: a first pane of w columns and h rows, which is then cut.
func halves(plan []cut, w, h int) []backend.Spec {
	first := spec("0", "")
	first.Size = w
	specs := []backend.Spec{first}
	size := [][2]int{{w, h}}
	for i, c := range plan {
		axis := 0
		if c.below {
			axis = 1
		}
		fresh := size[c.from]
		fresh[axis] = (fresh[axis] - 1) / 2
		if fresh[axis] < 3 {
			break
		}
		size[c.from][axis] -= fresh[axis] + 1
		size = append(size, fresh)
		s := spec(fmt.Sprint(i+1), "")
		s.Chain, s.Below, s.Size = i+1-c.from, c.below, fresh[axis]
		specs = append(specs, s)
	}
	return specs
}

// layout opens the specs in a window of their own and tells where each pane stands.
func layout(t *testing.T, s *tmuxtest.S, b *tmux.Backend, specs []backend.Spec, batch bool) []string {
	t.Helper()
	lead := s.Run("new-window", "-d", "-P", "-F", "#{pane_id}", "--", "sleep", "1000")
	specs = slices.Clone(specs)
	specs[0].Target = backend.ID(lead)
	var opened []backend.Pane
	if batch {
		opened = open(t, b, specs...)
	} else {
		for i, sp := range specs {
			if sp.Chain > 0 {
				sp.Target, sp.Chain = opened[i-sp.Chain].ID, 0
			}
			opened = append(opened, open(t, b, sp)...)
		}
	}
	var where []string
	for i, p := range opened {
		where = append(where, fmt.Sprint(i, " ", s.Format(string(p.ID), "#{pane_left},#{pane_top} #{pane_width}x#{pane_height}")))
	}
	s.Run("kill-window", "-t", lead)
	return where
}

func TestUnsizedColumnIsShared(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	specs := []backend.Spec{spec("a0", lead)}
	for i := 1; i < 10; i++ {
		sp := spec(fmt.Sprintf("a%d", i), "")
		sp.Chain, sp.Below = 1, true
		specs = append(specs, sp)
	}
	top := -1
	for i, p := range open(t, b, specs...) {
		var y, h int
		if _, err := fmt.Sscan(s.Format(string(p.ID), "#{pane_top} #{pane_height}"), &y, &h); err != nil {
			t.Fatal(err)
		}
		if y <= top || h < 3 || h > 5 {
			t.Errorf("pane %d stands at row %d and has %d rows", i, y, h)
		}
		top = y
	}
	if got := s.Format(lead, "#{pane_left},#{pane_top} #{pane_active} #{pane_height}"); !strings.HasPrefix(got, "0,") || !strings.Contains(got, " 1 ") {
		t.Errorf("the lead's pane is %s", got)
	}
}

// A spec that is refused does not take those down that hang on its pane.
func TestRefusedSpecHasAnHeir(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	specs := []backend.Spec{spec("bad", lead), spec("heir", ""), spec("third", ""), spec("bad too", ""), spec("last", "")}
	specs[0].Dir, specs[3].Dir = "/no/such/dir", "/no/such/dir"
	for i, chain := range []int{0, 1, 2, 1, 1} {
		specs[i].Chain, specs[i].Below, specs[i].Size = chain, i > 0, []int{119, 24, 24, 12, 6}[i]
	}
	results := b.Open(t.Context(), specs)
	for i, want := range []string{"", "81,0 119x24", "81,25 119x11", "", "81,37 119x12"} {
		if want == "" {
			if !errors.Is(results[i].Err, fault.InvalidArgument) {
				t.Errorf("%d: %v", i, results[i].Err)
			}
			continue
		}
		if results[i].Err != nil {
			t.Errorf("%d: %v", i, results[i].Err)
			continue
		}
		got := s.Format(string(results[i].Pane.ID), "#{pane_left},#{e|-:#{pane_top},1} #{pane_width}x#{pane_height}")
		if !strings.HasPrefix(got, want) && !noBorders(t, s) { // their line is counted
			t.Errorf("%d stands at %s, want %s…", i, got, want)
		}
	}
	if len(s.Panes()) != 4 {
		t.Errorf("the panes are %v", s.Panes())
	}
}

// https://github.com/tmux/tmux/issues/3416
func TestLY01_NoSpace(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("80x10")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	var specs []backend.Spec
	for i := range 8 {
		sp := spec(fmt.Sprintf("n%d", i), lead)
		sp.Below, sp.Size = true, 2
		specs = append(specs, sp)
	}
	elsewhere := spec("window", lead)
	elsewhere.Place = backend.Window
	failed := 0
	results := b.Open(t.Context(), append(specs, elsewhere))
	for _, r := range results {
		if r.Err != nil {
			failed++
			if !errors.Is(r.Err, fault.NoSpace) {
				t.Errorf("no room: %v", r.Err)
			}
		}
	}
	if failed == 0 || failed == len(specs) || results[8].Err != nil {
		t.Errorf("%d of 8 had no room; the window: %v", failed, results[8].Err)
	}
	if got := len(s.Panes()); got != 1+len(results)-failed {
		t.Errorf("%d panes are there, %d specs failed", got, failed)
	}
}

// https://github.com/tmux/tmux/issues/1335 https://github.com/tmuxinator/tmuxinator/issues/686
func TestLY02_OwnSession(t *testing.T) {
	s := tmuxtest.Server(t)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Own: true})
	var pid int
	// Many times over: a server that is just leaving must not spoil the next start.
	for range 5 {
		first := spec("one", "")
		first.Place, first.Name = backend.Session, "v1.2:#(touch x)"
		second, third := spec("two", ""), spec("three", "")
		second.Chain = 1
		third.Chain, third.Place, third.Name = 2, backend.Window, "#(touch x)"
		opened := open(t, b, first, second, third)
		if p := opened[2]; p.WindowWidth != 200 || p.WindowHeight < 49 || p.Session != opened[0].Session || p.Window == opened[0].Window {
			t.Errorf("the third pane is %+v", p)
		}
		argv, err := b.Attach(t.Context(), opened[1].ID)
		if want := []string{"tmux", "-S", s.Socket, "attach-session", "-t", "=v1_2___touch_x_"}; err != nil || !slices.Equal(argv, want) {
			t.Errorf("attach by %q, %v, want %q", argv, err, want)
		}
		pid = s.PID()
		for _, p := range opened {
			if err := backend.CloseOne(t.Context(), b, p.ID, p.Mark); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	}
	tmuxtest.Eventually(t, "the server ended with its last pane", func() bool { return !tmuxtest.Alive(pid) })
}

// In a session of our own all panes are opened with one program, and marked and laid out with
// another; they stand where they do on a person's server, which takes more.
func TestASessionIsOpenedWithOneLine(t *testing.T) {
	var specs []backend.Spec
	for i := range 10 { // four to a window
		sp := spec(fmt.Sprint("m", i), "")
		switch i % 4 {
		case 0:
			sp.Place, sp.Chain = backend.Window, i
			if i == 0 {
				sp.Place = backend.Session
			}
		case 1:
			sp.Chain, sp.Size = 1, 99
		default:
			sp.Chain, sp.Size, sp.Below = 2, 24, true
		}
		specs = append(specs, sp)
	}
	runs := filepath.Join(t.TempDir(), "runs")
	where := map[bool][]string{}
	for _, own := range []bool{true, false} {
		s := tmuxtest.Server(t)
		b := newBackend(t, tmux.Options{Socket: s.Socket, Own: own, Program: wrapper(t, "echo run >>"+runs)})
		laidOut := 0
		results := b.OpenArranged(t.Context(), specs, func(results []backend.Result) (layouts []backend.Layout) {
			for i, r := range results {
				if r.Err != nil {
					t.Fatalf("own %v: %d: %v", own, i, r.Err)
				}
				where[own] = append(where[own], s.Format(string(r.Pane.ID), "#{window_index} #{pane_left},#{pane_top} #{pane_width}x#{pane_height}"))
				if specs[i].Place != backend.Split {
					layouts = append(layouts, backend.Layout{Window: r.Pane.Window, Kind: backend.Even})
				}
			}
			return layouts
		})
		for i, r := range results {
			if r.Err != nil || r.Pane.Mark != specs[i].Mark {
				t.Errorf("own %v: %d: %+v, %v", own, i, r.Pane, r.Err)
			} else if s.Format(string(r.Pane.ID), "#{pane_width} #{pane_active}") == "200 "+map[bool]string{true: "1", false: "0"}[specs[i].Place != backend.Split] {
				laidOut++
			}
		}
		if laidOut != len(specs) {
			t.Errorf("own %v: %d panes of %d are laid out, with the first of each window active", own, laidOut, len(specs))
		}
		text, _ := os.ReadFile(runs)
		if got := strings.Count(string(text), "run"); own && got > 3 { // one asks for the version
			t.Errorf("tmux ran %d times", got)
		}
	}
	if !slices.Equal(where[true], where[false]) {
		t.Errorf("on our own server they stand\n%s\non a person's\n%s", strings.Join(where[true], "\n"), strings.Join(where[false], "\n"))
	}
}

// A pane for which there is no room, and a name that is in use, keep none of the others.
func TestASessionInOneLineWithMistakes(t *testing.T) {
	s := tmuxtest.Server(t)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Own: true})
	first, right, below, none, window, last := spec("first", ""), spec("right", ""), spec("below", ""), spec("none", ""), spec("window", ""), spec("last", "")
	first.Place, window.Place = backend.Session, backend.Window
	right.Chain, right.Size = 1, 198
	below.Chain, below.Below = 1, true
	none.Chain, none.Size = 3, 1 // beside the first, which has one column left
	window.Chain, last.Chain = 4, 1
	open(t, b, first)
	if got := b.Open(t.Context(), nil); len(got) > 0 { // none of those that were meant could be prepared
		t.Errorf("nothing was to be opened: %+v", got)
	}
	for i, r := range b.Open(t.Context(), []backend.Spec{first, right, below, none, window, last}) {
		if wrong := i == 3; wrong != errors.Is(r.Err, fault.NoSpace) || !wrong && r.Err != nil {
			t.Errorf("%d: %+v, %v", i, r.Pane, r.Err)
		}
	}
	want := "first 0\nright 0\nbelow 0\nwindow 1\nlast 1"
	if got := s.Run("list-panes", "-s", "-t", "=first-2:", "-F", "#{@leadlight-name} #{window_index}"); got != want {
		t.Errorf("in the session stand\n%s\nand should\n%s", got, want)
	}
}

// A server that is just leaving takes the next client down with it.
func TestStartRightAfterAnEnd(t *testing.T) {
	s := tmuxtest.Server(t)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Own: true})
	own := spec("own", "")
	own.Place = backend.Session
	for range 30 {
		open(t, b, own)
		s.PID() // to be waited for
		s.Run("kill-server")
	}
}

// https://github.com/Kewton/CommandMate/issues/1158
func TestPI08_SessionNamesAreWhole(t *testing.T) {
	s := tmuxtest.Server(t)
	s.Run("new-session", "-d", "-s", "team-2", "--", "sleep", "1000")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	one, two := spec("one", ""), spec("two", "")
	one.Place, one.Name, two.Place, two.Name = backend.Session, "team", backend.Session, "team"
	for i, want := range []string{"team", "team-3"} {
		p := open(t, b, one, two)[i]
		if i == 0 {
			if got := s.Format(string(p.ID), "#{session_name}"); got != want {
				t.Errorf("the session is %s, want %s", got, want)
			}
		}
	}
	if got := s.Run("list-sessions", "-F", "#{session_name}"); !strings.Contains(got, "team-2\n") {
		t.Errorf("sessions are %s", got)
	}
}

// https://github.com/anthropics/claude-code/issues/40168 https://github.com/anthropics/claude-code/issues/72985
func TestSP01_TV06_NoShellInBetween(t *testing.T) {
	s := tmuxtest.Server(t)
	dir := t.TempDir()
	shell := filepath.Join(dir, "shell")
	if err := exetest.Write(shell, []byte("#!/bin/sh\ntouch "+dir+"/used\nsleep 3\n")); err != nil {
		t.Fatal(err)
	}
	s.Config("set -g default-shell "+shell, "set -g prefix C-Space")
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	sp := spec("a", lead)
	// https://github.com/anthropics/claude-code/issues/72343 (SP-12): all three are terminals.
	sp.Argv = []string{"sh", "-c", `test -t 0 && test -t 1 && test -t 2 && touch "$1"; exec sleep 1000`, "sh", dir + "/ran"}
	open(t, b, sp)
	tmuxtest.Eventually(t, "the program runs in a terminal", func() bool { _, err := os.Stat(dir + "/ran"); return err == nil })
	if _, err := os.Stat(dir + "/used"); err == nil {
		t.Error("the user's shell was started")
	}
}

// https://github.com/stablyai/orca/issues/6778
func TestSP04_NoSecondStep(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	program := wrapper(t, `case " $* " in *" respawn-pane "*|*" send-keys "*) echo unsupported >&2; exit 1;; esac`)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Program: program})
	open(t, b, spec("a", lead))
}

// A failure names each command of the line, what was said, and the status.
// https://github.com/anthropics/claude-code/issues/46349
func TestUX02_CommandsAndStatus(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket, Program: wrapper(t, `case " $* " in *" split-window "*) echo unheard of >&2; exit 3;; esac`)})
	res := b.Open(t.Context(), []backend.Spec{spec("a", lead)})
	if err := res[0].Err; err == nil || !strings.Contains(err.Error(), "split-window: unheard of: exit status 3") {
		t.Errorf("%v", err)
	}
}

// wrapper is a tmux that runs some shell lines first.
func wrapper(t *testing.T, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tmux")
	if err := exetest.Write(file, []byte("#!/bin/sh\n"+lines+"\nexec tmux \"$@\"\n")); err != nil {
		t.Fatal(err)
	}
	return file
}

// A batch larger than one command line is opened and marked in several.
func TestManyPanesInOneBatch(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	var specs []backend.Spec
	for i := range 60 {
		sp := spec(fmt.Sprintf("m%02d", i), lead)
		sp.Place = backend.Window
		sp.Argv = []string{"sh", "-c", "exec sleep 1000", strings.Repeat("x", 500)}
		specs = append(specs, sp)
	}
	open(t, b, specs...)
	if list, err := b.List(t.Context()); err != nil || len(list) != 60 {
		t.Errorf("%d panes, %v", len(list), err)
	}
}

// gotmux is the second witness: what it sees is what we say, as long as no title trips it.
func TestGotmuxSeesTheSame(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	window := spec("w", lead)
	window.Place = backend.Window
	open(t, b, spec("a", lead), window)
	listed, err := b.List(t.Context())
	if err != nil || len(listed) != 2 {
		t.Fatalf("listed are %v, %v", listed, err)
	}
	var seen []*gotmux.Pane
	tmuxtest.Eventually(t, "the programs are seen to run", func() bool {
		if seen, err = (&gotmux.Tmux{Socket: &gotmux.Socket{Path: s.Socket}}).ListAllPanes(); err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(seen, func(g *gotmux.Pane) bool { return g.CurrentPath == "" })
	})
	for _, p := range listed {
		at := slices.IndexFunc(seen, func(g *gotmux.Pane) bool { return g.Id == string(p.ID) })
		if at < 0 {
			t.Errorf("gotmux does not see %s", p.ID)
		} else if g := seen[at]; int(g.Pid) != p.PID || g.Width != p.Width || g.Height != p.Height || g.CurrentCommand != "sleep" || g.CurrentPath != "/" {
			t.Errorf("gotmux sees %+v, we %+v", g, p)
		}
	}
	if len(seen) != 3 {
		t.Errorf("gotmux sees %d panes", len(seen))
	}
}
