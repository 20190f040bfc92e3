package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// A mark is not believed without looking who sits in the pane.
func TestXH11_SomebodyElseSitsInThePane(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	opened := open(t, b, spec("shell", lead), spec("dead", lead), spec("copied", lead))
	person, dead, copied := opened[0], opened[1], opened[2]
	s.Run("respawn-pane", "-k", "-t", string(person.ID), "sleep 1001")
	s.Run("set-option", "-p", "-t", lead, "@leadlight", s.Format(string(copied.ID), "#{@leadlight}"))
	for id, mark := range map[backend.ID]backend.Mark{person.ID: person.Mark, backend.ID(lead): copied.Mark} {
		if err := backend.CloseOne(t.Context(), b, id, mark); !errors.Is(err, fault.Unproven) || !strings.Contains(err.Error(), "another program") {
			t.Errorf("close %s: %v", id, err)
		}
	}
	die(t, s, dead)
	for i, err := range b.Close(t.Context(), backend.Marked{ID: dead.ID, Mark: dead.Mark}, backend.Marked{ID: copied.ID, Mark: copied.Mark}) {
		if err != nil {
			t.Errorf("close %d: %v", i, err)
		}
	}
	if got := s.Panes(); len(got) != 2 || got[0] != lead || got[1] != string(person.ID) {
		t.Errorf("left are %v", got)
	}
}

// die ends the program of a pane, which stays.
func die(t *testing.T, s *tmuxtest.S, p backend.Pane) {
	t.Helper()
	s.Run("set-option", "-p", "-t", string(p.ID), "remain-on-exit", "on")
	if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, "it is dead", func() bool {
		s.Run("run-shell", "-b", "true") // tmux may miss the end of a program until the next one ends
		return s.Format(string(p.ID), "#{pane_dead}") == "1"
	})
}

// Who asks from within a pane of ours does not close it.
func TestXH11_TheAskingPaneStays(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	answer := filepath.Join(t.TempDir(), "answer")
	inside := spec("inside", lead)
	inside.Argv = []string{"sh", "-c", `LL_SOCKET=$1 LL_ANSWER=$2 "$3" -test.run '^TestClosesItsOwnPane$'; sleep 1000`, "sh", s.Socket, answer, self}
	pane := open(t, b, inside)[0]
	tmuxtest.Eventually(t, "it has asked", func() bool { _, err := os.Stat(answer); return err == nil })
	if said, _ := os.ReadFile(answer); !strings.Contains(string(said), "this program runs in it") || len(s.Panes()) != 2 {
		t.Errorf("it was told %q, left are %v", said, s.Panes())
	}
	stale := newBackend(t, tmux.Options{Socket: s.Socket, Getenv: func(name string) string { // from long ago
		return map[string]string{"TMUX": fmt.Sprintf("%s,%d,0", s.Socket, s.PID()), "TMUX_PANE": string(pane.ID)}[name]
	}})
	if err := backend.CloseOne(t.Context(), stale, pane.ID, pane.Mark); err != nil || len(s.Panes()) != 1 {
		t.Errorf("from elsewhere: %v, left are %v", err, s.Panes())
	}
}

// TestClosesItsOwnPane is the other half of TestXH11_TheAskingPaneStays.
func TestClosesItsOwnPane(t *testing.T) {
	answer := os.Getenv("LL_ANSWER")
	if answer == "" {
		t.Skip("runs in a pane")
	}
	b, err := tmux.New(tmux.Options{Socket: os.Getenv("LL_SOCKET")})
	if err != nil {
		t.Fatal(err)
	}
	tmuxtest.Eventually(t, "it is marked", func() bool { list, err := b.List(t.Context()); return err == nil && len(list) == 1 })
	list, _ := b.List(t.Context())
	said := fmt.Sprint(backend.CloseOne(t.Context(), b, list[0].ID, list[0].Mark))
	if err := os.WriteFile(answer+"~", []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Rename(answer+"~", answer)
}

// The last pane of a person's session leaves a shell there, closed by us or by itself.
func TestXH11_ThePersonsSessionStays(t *testing.T) {
	for _, how := range []string{"close", "leave"} {
		s := tmuxtest.Server(t)
		s.Config("set -g default-shell /bin/sh")
		lead := s.NewSession("200x50")
		b := newBackend(t, tmux.Options{Socket: s.Socket})
		pane := open(t, b, spec("last", lead))[0]
		s.Run("kill-pane", "-t", lead)
		if how == "close" {
			s.Run("set-option", "-s", "command-alias[100]", "kill-pane=display-message of theirs")
			if err := backend.CloseOne(t.Context(), b, pane.ID, pane.Mark); err != nil {
				t.Error(err)
			}
		} else {
			if err := b.Leave(t.Context(), pane.ID); err != nil {
				t.Error(err)
			}
			s.Run("kill-pane", "-t", string(pane.ID))
		}
		if out, err := s.Try("list-panes", "-a", "-F", "#{pane_id} #{@leadlight}"); err != nil || strings.Contains(out, string(pane.ID)+" ") || strings.TrimSpace(out) == "" {
			t.Fatalf("%s: left are %q, %v", how, out, err)
		}
		left := s.Panes()[0]
		if got := s.Format(left, "#{session_windows} #{window_panes} #{pane_dead} #{pane_start_command}"); got != "1 1 0 " && got != "1 1 0" {
			t.Errorf("%s: left is %q", how, got)
		}
		s.Run("send-keys", "-t", left, "echo shell-$((40+2))", "Enter")
		tmuxtest.Eventually(t, "a shell answers there", func() bool { return strings.Contains(s.Capture(left), "shell-42") })
	}
}

// What a person has set for all sessions, and what is zoomed, does not act on ours.
func TestXF18_TheUsersOptions(t *testing.T) {
	s := tmuxtest.Server(t)
	s.Config("set -g default-size 40x10", "set -g window-size smallest", "set -g remain-on-exit on", "set -g default-command 'exec nothing'",
		"set -g base-index 1", "set -g pane-base-index 1", "set -g renumber-windows on", "set -g automatic-rename on", "set -g status off")
	person := s.NewSession("60x20")
	s.Run("set-option", "-t", person, "destroy-unattached", "off", ";", "set-option", "-g", "destroy-unattached", "on", ";", "set-option", "-g", "detach-on-destroy", "on", ";", "set-option", "-g", "default-shell", "/bin/false")
	pid := s.PID()
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	session := spec("own", "")
	session.Place, session.Target = backend.Session, ""
	pane := open(t, b, session)[0]
	want := fmt.Sprintf("%d 200x50 latest ", pid)
	if got := s.Format(string(pane.ID), "#{pid} #{window_width}x#{window_height} #{window-size} #{destroy-unattached} #{detach-on-destroy}"); got != want+"0 off" && got != want+"off off" {
		t.Errorf("our session has %s, want %s", got, want)
	}
	window := spec("beside", string(pane.ID))
	window.Place = backend.Window
	panes := open(t, b, window, spec("split", string(pane.ID)))
	for _, err := range b.Close(t.Context(), backend.Marked{ID: panes[0].ID, Mark: panes[0].Mark}, backend.Marked{ID: panes[1].ID, Mark: panes[1].Mark}) {
		if err != nil {
			t.Error(err)
		}
	}
	if left := s.Panes(); len(left) != 2 || !slices.Contains(left, string(pane.ID)) {
		t.Errorf("left are %v", left)
	}
}

// What the hooks of a person print or run into within our line is neither a pane nor a
// failure of ours, and one that moves panes moves none of our marks.
func TestXF18_TheUsersHooks(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	for _, hook := range []string{"after-split-window", "after-new-window", "after-list-panes", "after-set-option", "after-resize-pane"} {
		s.Run("set-hook", "-g", hook, "display-message -p 'hooked: %1 @1 $1'")
		s.Run("set-hook", "-g", hook+"[1]", "run-shell 'echo from a shell'")
	}
	s.Run("set-hook", "-g", "after-split-window[2]", "select-layout tiled")
	s.Run("set-hook", "-g", "after-new-window[2]", "rename-window mine")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	window := spec("beside", lead)
	window.Place = backend.Window
	panes := open(t, b, spec("one", lead), spec("two", lead), window)
	list, err := b.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatalf("there are %+v, %v", list, err)
	}
	for _, p := range panes {
		if err := backend.CloseOne(t.Context(), b, p.ID, p.Mark); err != nil {
			t.Errorf("close %s: %v", p.Mark.Agent, err)
		}
	}
	s.Run("set-hook", "-g", "-u", "after-list-panes")
	if left := s.Panes(); len(left) != 1 || left[0] != lead {
		t.Errorf("left are %v, want %s", left, lead)
	}
}

// A tmux that would end with all its panes is not asked to make a window, and a split is
// made.
func TestXF18_ManualSizes(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	pid := s.PID()
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	s.Run("resize-window", "-t", lead, "-x", "190") // makes this window's own option manual, which ends nobody
	resized := spec("resized", lead)
	resized.Place = backend.Window
	open(t, b, resized)
	s.Run("set-option", "-g", "window-size", "manual")
	for _, w := range strings.Fields(s.Run("list-windows", "-a", "-F", "#{window_id}")) { // what one has for itself does not count
		s.Run("set-option", "-w", "-t", w, "window-size", "latest")
	}
	window, session := spec("beside", lead), spec("own", "")
	window.Place, session.Place = backend.Window, backend.Session
	crashes := regexp.MustCompile(`^3\.[3-6]`).MatchString(s.Format(lead, "#{version}"))
	for _, sp := range []backend.Spec{window, session} {
		err := b.Open(t.Context(), []backend.Spec{sp})[0].Err
		if (err != nil) != crashes || err != nil && !strings.Contains(fault.Of(err).Hint, "window-size latest") {
			t.Errorf("%s: %v", sp.Place, err)
		}
	}
	open(t, b, spec("split", lead))
	if got := s.Format(lead, "#{pid}"); got != strconv.Itoa(pid) {
		t.Errorf("the server is %s, and was %d", got, pid)
	}
}

// A window that is in several sessions has each of its panes once.
func TestXF18_LinkedWindows(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	window := s.Format(lead, "#{session_id}:#{window_id}")
	s.Run("new-session", "-d", "-t", s.Format(lead, "#{session_id}"))
	s.Run("new-session", "-d", "-s", "other", "sleep", "1000")
	s.Run("link-window", "-d", "-s", window, "-t", "other:7")
	b := newBackend(t, tmux.Options{Socket: s.Socket, Getenv: func(name string) string {
		return map[string]string{"TMUX": fmt.Sprintf("%s,%d,0", s.Socket, s.PID()), "TMUX_PANE": lead}[name]
	}})
	pane := open(t, b, spec("one", lead))[0]
	look, err := b.Look(t.Context())
	if err != nil || len(look.Ours) != 1 || len(look.Window) != 2 || look.Self == nil {
		t.Errorf("there are %+v, %v", look, err)
	}
	if err := backend.CloseOne(t.Context(), b, pane.ID, pane.Mark); err != nil || len(slices.Compact(slices.Sorted(slices.Values(s.Panes())))) != 2 {
		t.Errorf("%v, left are %v", err, s.Panes())
	}
}

func TestXF18_AZoomedWindow(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket, Getenv: func(name string) string {
		return map[string]string{"TMUX": fmt.Sprintf("%s,%d,0", s.Socket, s.PID()), "TMUX_PANE": lead}[name]
	}})
	open(t, b, spec("one", lead))
	want := s.Format(lead, "#{pane_width}")
	s.Run("resize-pane", "-Z", "-t", lead)
	here, err := b.Self(t.Context())
	if err != nil || here.Self == nil || fmt.Sprint(here.Self.Width) != want {
		t.Fatalf("the lead is %+v, without the zoom of %s columns: %v", here.Self, want, err)
	}
	self := here.Self
	open(t, b, spec("two", lead))
	if err := b.Arrange(t.Context(), backend.Layout{Window: self.Window, Kind: backend.MainVertical, Main: "40%"}); err != nil {
		t.Error(err)
	}
	if got := s.Format(lead, "#{window_zoomed_flag} #{pane_active} #{@leadlight-zoom}"); got != "1 1 " && got != "1 1" {
		t.Errorf("zoomed, active and noted: %q", got)
	}
	s.Run("resize-pane", "-Z", "-t", lead)
	if got := s.Format(lead, "#{pane_width}"); got != "80" {
		t.Errorf("the lead has %s columns", got)
	}
}

// "No socket" is not "no server".
func TestXF18_XS35_SocketGone(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	users := newBackend(t, tmux.Options{Socket: s.Socket})
	own := newBackend(t, tmux.Options{Socket: s.Socket, Own: true})
	pane := open(t, users, spec("one", lead))[0]
	pid := s.PID()
	if err := os.Remove(s.Socket); err != nil {
		t.Fatal(err)
	}
	_, err := users.List(t.Context())
	if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(fault.Of(err).Hint, fmt.Sprintf("kill -USR1 %d", pid)) {
		t.Errorf("the person's server: %v, hint %q", err, fault.Of(err).Hint)
	}
	session := spec("more", "")
	session.Place = backend.Session
	if err := users.Open(t.Context(), []backend.Spec{session})[0].Err; !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("a second server: %v", err)
	}
	if list, err := own.List(t.Context()); err != nil || len(list) != 1 || list[0].ID != pane.ID {
		t.Errorf("our own: %v, %v", list, err)
	}
	if err := os.Remove(s.Socket); err != nil {
		t.Fatal(err)
	}
	if err := backend.CloseOne(t.Context(), own, pane.ID, pane.Mark); err != nil || len(s.Panes()) != 1 {
		t.Errorf("close: %v, left are %v", err, s.Panes())
	}
}

// tmux's reason is said, and nobody starts a server where TMUX says that one runs.
func TestXS19_NoServerThere(t *testing.T) {
	session := spec("one", "")
	session.Place = backend.Session
	nowhere := filepath.Join(t.TempDir(), "no", "s")
	failing := wrapper(t, `tmux "$@" || exit; [ "$1" = -V ] && exit; exit 1`) // as from 3.6 on
	var err error
	for _, program := range []string{"", failing} {
		err = newBackend(t, tmux.Options{Socket: nowhere, Program: program}).Open(t.Context(), []backend.Spec{session})[0].Err
		silent := noBorders(t, tmuxtest.Server(t)) && strings.Contains(err.Error(), "no tmux server is running on "+nowhere) // 3.2 gives no reason
		if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "No such file or directory") && !silent {
			t.Errorf("in a folder that is not there: %v", err)
		}
	}
	dead := filepath.Join(t.TempDir(), "s")
	b := newBackend(t, tmux.Options{Socket: dead, Getenv: func(name string) string {
		return map[string]string{"TMUX": dead + ",1234,0", "TMUX_PANE": "%0"}[name]
	}})
	err = b.Open(t.Context(), []backend.Spec{session})[0].Err
	if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(fault.Of(err).Hint, "unset TMUX") {
		t.Errorf("on a dead socket: %v", err)
	}
	if _, err := b.Probe(t.Context()); !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(fault.Of(err).Hint, "unset TMUX") {
		t.Errorf("a look at a dead socket: %v", err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("a server was started")
	}
}

// A set costs the same number of programs whatever it holds.
func TestProgramsForASet(t *testing.T) {
	for _, n := range []int{2, 10} {
		s := tmuxtest.Server(t)
		lead := s.NewSession("300x200")
		dir := t.TempDir()
		counter, program := filepath.Join(dir, "runs"), filepath.Join(dir, "tmux")
		if err := exetest.Write(program, []byte("#!/bin/sh\necho run >> "+counter+"\nexec tmux \"$@\"\n")); err != nil {
			t.Fatal(err)
		}
		b := newBackend(t, tmux.Options{Socket: s.Socket, Program: program, Getenv: func(name string) string {
			return map[string]string{"TMUX": fmt.Sprintf("%s,%d,0", s.Socket, s.PID()), "TMUX_PANE": lead}[name]
		}})
		count := func() int {
			text, _ := os.ReadFile(counter)
			_ = os.Remove(counter)
			return strings.Count(string(text), "run")
		}
		here, err := b.Self(t.Context())
		if err != nil || here.Self == nil {
			t.Fatal(here, err)
		}
		self := here.Self
		var specs []backend.Spec
		for i := range n {
			sp := spec(fmt.Sprint("m", i), lead)
			sp.Below = i > 0
			if sp.Chain = min(i, 1); i > 0 {
				sp.Target = ""
			}
			specs = append(specs, sp)
		}
		opened := open(t, b, specs...)
		if err := b.Arrange(context.Background(), backend.Layout{Window: self.Window, Kind: backend.MainVertical, Main: "40%"}); err != nil {
			t.Fatal(err)
		}
		if got := count(); got > 5 {
			t.Errorf("opening %d ran tmux %d times", n, got)
		}
		var set []backend.Marked
		for _, p := range opened {
			set = append(set, backend.Marked{ID: p.ID, Mark: p.Mark})
		}
		if err := errors.Join(b.Close(t.Context(), set...)...); err != nil {
			t.Fatal(err)
		}
		if got := count(); got > 2 || len(s.Panes()) != 1 {
			t.Errorf("closing %d ran tmux %d times, left are %v", n, got, s.Panes())
		}
	}
}

// Our own server is pleasant; what a person changes there stays, and theirs is left alone.
func TestXD10_OurOwnServer(t *testing.T) {
	s := tmuxtest.Server(t)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Own: true, Status: func(m backend.Mark) []string {
		return []string{"printf", "requests: 2 in %s", m.Team + " a'b"}
	}})
	session := spec("own", "")
	session.Place = backend.Session
	pane := open(t, b, session)[0]
	if got := s.Format(string(pane.ID), "#{mouse} #{escape-time} #{history_limit}"); got != "1 10 50000" && got != "on 10 50000" {
		t.Errorf("mouse, escape-time and history are %s", got)
	}
	if got := s.Format(string(pane.ID), "#{E:status-left}#{E:status-right}"); !strings.Contains(got, "own") || !strings.Contains(got, "1 teammate ") || !strings.Contains(got, "C-b d leaves") {
		t.Errorf("the status line says %q", got)
	}
	s.Run("set-option", "-p", "-t", string(pane.ID), "@leadlight-state", "waiting")
	if got := s.Format(string(pane.ID), "#{E:status-left}"); !strings.Contains(got, "1 teammate · 1 waiting") {
		t.Errorf("the status line says %q", got)
	}
	person := tmuxtest.Server(t)
	screen := person.NewSession("120x20", "env", "-u", "TMUX", "tmux", "-S", s.Socket, "attach")
	tmuxtest.Eventually(t, "the command says how many requests wait", func() bool {
		return strings.Contains(person.Capture(screen), "requests: 2 in "+pane.Mark.Team+" a'b C-b d leaves")
	})
	s.Run("set-option", "-g", "mouse", "off")
	open(t, b, session)
	if got := s.Run("show-options", "-g", "-v", "mouse"); got != "off" {
		t.Errorf("mouse is %s again", got)
	}
	settings := func() string {
		return person.Run("show-options", "-s") + person.Run("show-options", "-g") + person.Run("show-options", "-gw")
	}
	before := settings()
	open(t, newBackend(t, tmux.Options{Socket: person.Socket}), session)
	if after := settings(); after != before {
		t.Errorf("a person's own server had these options:\n%s\nand has:\n%s", before, after)
	}
}
