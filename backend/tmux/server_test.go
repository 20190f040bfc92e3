package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// env is an environment of these variables only.
func env(kv ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(kv); i += 2 {
			if kv[i] == name {
				return kv[i+1]
			}
		}
		return ""
	}
}

// https://github.com/dotdevdotdev/agentwire-dev/pull/903
func TestPI06_SelfIsTheExactPane(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	s.Run("split-window", "-t", lead, "--", "sleep", "1000") // now this one is active
	pid := s.PID()
	inside := fmt.Sprintf("%s,%d,0", s.Socket, pid)
	link := filepath.Join(filepath.Dir(s.Socket), "l")
	if err := os.Symlink(s.Socket, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, tmux, pane string
		ok               bool
	}{
		{"inside", inside, lead, true},
		{"through a link", fmt.Sprintf("%s,%d,0", link, pid), lead, true},
		{"another server", "/tmp/other/default,77,0", lead, false},
		{"an earlier server on this socket", s.Socket + ",1,0", lead, false},
		{"no TMUX", "", lead, false},
		{"no TMUX_PANE", inside, "", false},
		{"a pane that is gone", inside, "%99", false},
		{"not a pane", inside, "lead:9.9", false},
		{"not a value of TMUX", "claude-swarm-321", lead, false},
	} {
		b := newBackend(t, tmux.Options{Socket: s.Socket, Getenv: env("TMUX", c.tmux, "TMUX_PANE", c.pane)})
		here, err := b.Self(t.Context())
		if ok := here.Self != nil; ok != c.ok || err != nil || ok && (string(here.ID()) != lead || len(here.Window) != 2) {
			t.Errorf("%s: %+v, %v", c.name, here, err)
		}
	}
}

// https://github.com/mertkayacs/reevesagents/issues/17 https://github.com/Thurbeen/thurbox/pull/971
func TestPI04_RestartedServer(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	pane := open(t, b, spec("builder", lead))[0]
	s.Kill()
	s.NewSession("200x50")
	if got := s.Run("split-window", "-P", "-F", "#{pane_id}", "--", "sleep", "1000"); got != string(pane.ID) {
		t.Fatalf("the editor got %s", got)
	}
	if err := backend.CloseOne(t.Context(), b, pane.ID, pane.Mark); !errors.Is(err, fault.Unproven) {
		t.Errorf("close: %v", err)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("listed are %v, %v", list, err)
	}
	if all, err := b.ListAll(t.Context()); err != nil || len(all) != 2 || all[0].Server == pane.Server {
		t.Errorf("all: %+v, %v", all, err)
	}
	if len(s.Panes()) != 2 {
		t.Errorf("left are %v", s.Panes())
	}
}

// https://github.com/Yeachan-Heo/oh-my-claudecode/pull/726
func TestSH14_TheLeadsPaneIsNoTarget(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	mark := open(t, b, spec("builder", lead))[0].Mark
	if err := backend.CloseOne(t.Context(), b, backend.ID(lead), mark); !errors.Is(err, fault.Unproven) || fault.Of(err).Hint == "" {
		t.Errorf("close of the lead's pane: %v", err)
	}
	if len(s.Panes()) != 2 {
		t.Errorf("left are %v", s.Panes())
	}
}

// https://github.com/JKHeadley/instar/pull/1271 https://github.com/gastownhall/gastown/issues/3146
func TestSH11_DeadPanes(t *testing.T) {
	const noPID = `for a; do shift; set -- "$@" "$(printf %s. "$a" | sed 's/#{?pane_pid,/#{?#{?pane_dead,,1},/; s/#{pane_pid}/#{?pane_dead,,#{pane_pid}}/')"; done
for a; do shift; set -- "$@" "${a%.}"; done` // a dead pane has no pid from 3.8 on
	for _, conf := range []string{"off", "on", "failed", "off # 3.8"} {
		s := tmuxtest.Server(t)
		s.Config("set -g remain-on-exit " + conf)
		lead := s.NewSession("200x50")
		o := tmux.Options{Socket: s.Socket}
		if strings.HasSuffix(conf, "3.8") {
			o.Program = wrapper(t, noPID)
		}
		b := newBackend(t, o)
		failing, fine := spec("failing", lead), spec("fine", lead)
		wait := `echo said; read line < "$1"; exit $2`
		fifo := filepath.Join(t.TempDir(), "go")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		lines, err := os.OpenFile(fifo, os.O_RDWR, 0) // does not wait for a reader
		if err != nil {
			t.Fatal(err)
		}
		defer lines.Close()
		failing.Argv = []string{"sh", "-c", wait, "sh", fifo, "3"}
		fine.Argv = []string{"sh", "-c", wait, "sh", fifo, "0"}
		opened := open(t, b, failing, fine)
		tmuxtest.Eventually(t, "it has said so", func() bool { // tmux may lose what a program says right before its end
			return strings.Contains(s.Capture(string(opened[0].ID)), "said")
		})
		if _, err := lines.WriteString("x\nx\n"); err != nil {
			t.Fatal(err)
		}
		tmuxtest.Eventually(t, "the failed one is dead, the other gone", func() bool {
			s.Run("run-shell", "-b", "true") // tmux may miss the end of a program until the next one ends
			list, err := b.List(t.Context())
			return err == nil && len(list) == 1 && list[0].Dead && list[0].Mark.Agent == "failing"
		})
		for _, lines := range []int{0, 2} {
			if got, err := b.Capture(t.Context(), opened[0].ID, lines, false); err != nil || !strings.HasPrefix(got, "said\nPane is dead") {
				t.Errorf("remain-on-exit %s: %d lines of a dead pane: %q, %v", conf, lines, got, err)
			}
		}
		for _, p := range opened {
			if err := backend.CloseOne(t.Context(), b, p.ID, p.Mark); err != nil {
				t.Errorf("remain-on-exit %s: close %s: %v", conf, p.Mark.Agent, err)
			}
		}
		if got := s.Panes(); !slices.Equal(got, []string{lead}) {
			t.Errorf("remain-on-exit %s: left are %v", conf, got)
		}
	}
}

// https://github.com/brizzai/fleet/pull/289 https://github.com/vybestack/llxprt-code/issues/2469
func TestEN04_TheUsersServerHearsNothing(t *testing.T) {
	user := tmuxtest.Server(t)
	theirs := user.NewSession("200x50")
	for _, verb := range []string{"list-panes", "split-window", "new-session", "new-window", "kill-pane", "select-window", "select-pane", "select-layout", "list-clients", "capture-pane"} {
		user.Run("set-hook", "-g", "after-"+verb, "set-option -g -a @heard ' "+verb+"'")
	}
	heard := func() string { return user.Run("show-options", "-g", "-q", "-v", "@heard") }
	if user.Run("list-panes"); heard() == "" {
		t.Fatal("the user's server does not tell what it hears")
	}
	user.Run("set-option", "-g", "@heard", "")
	before := user.Run("show-options", "-g")
	t.Setenv("TMUX", fmt.Sprintf("%s,%d,0", user.Socket, user.PID()))
	t.Setenv("TMUX_PANE", theirs)
	s := tmuxtest.Server(t)
	b, err := tmux.New(tmux.Options{Socket: s.Socket, Own: true}) // reads the real environment
	if err != nil {
		t.Fatal(err)
	}
	first := spec("one", "")
	first.Place = backend.Session
	pane := open(t, b, first)[0]
	if here, err := b.Self(t.Context()); here.Self != nil || err != nil {
		t.Errorf("self on a private server: %v, %v", here, err)
	}
	if err := b.Focus(t.Context(), pane.ID); fault.Of(err).Hint == "" {
		t.Errorf("focus: %v", err)
	}
	if err := backend.CloseOne(t.Context(), b, pane.ID, pane.Mark); err != nil {
		t.Error(err)
	}
	if got := heard(); got != "" {
		t.Errorf("the user's server was asked to%s", got)
	}
	if after := user.Run("show-options", "-g"); after != before {
		t.Error("the user's options changed")
	}
}

func TestEN06_OddSocketPath(t *testing.T) {
	s := tmuxtest.Server(t)
	dir := filepath.Join(filepath.Dir(s.Socket), "my dir", "a,b")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Socket = filepath.Join(dir, "s")
	lead := s.NewSession("200x50")
	value := fmt.Sprintf("%s,%d,0", s.Socket, s.PID())
	b := newBackend(t, tmux.Options{Socket: s.Socket, Getenv: env("TMUX", value, "TMUX_PANE", lead)})
	if here, err := b.Self(t.Context()); err != nil || string(here.ID()) != lead {
		t.Errorf("self: %v, %v", here, err)
	}
	open(t, b, spec("a", lead))
}

func TestTV01_ProgramsThatAreNotUsable(t *testing.T) {
	s := tmuxtest.Server(t)
	s.NewSession("80x24")
	answer := func(v string) string { return `[ "$1" = -V ] && echo "` + v + `" && exit` }
	for _, c := range []struct {
		name, lines, says string
	}{
		{"too old", answer("tmux 2.9a"), "2.9a"},
		{"much too old", `[ "$1" = -V ] && echo "tmux: unknown option -- V" && exit 1`, "version"},
		{"silent", `[ "$1" = -V ] && exit`, "no version"},
		{"incapable look-alike", answer("psmux 3.3.8") + "\necho split-window; exit", "kill-pane"},
		{"hangs", "exec sleep 1000", "not answering"},
	} {
		limit := time.Minute // a busy machine needs time to say no
		if c.name == "hangs" {
			limit = 500 * time.Millisecond
		}
		b := newBackend(t, tmux.Options{Socket: s.Socket, Program: wrapper(t, c.lines), Timeout: limit})
		res := b.Open(t.Context(), []backend.Spec{spec("a", "%0")})[0]
		if !errors.Is(res.Err, fault.BackendUnavailable) || !strings.Contains(fmt.Sprint(res.Err), c.says) {
			t.Errorf("%s: %v, want %q in it", c.name, res.Err, c.says)
		}
	}
	for _, version := range []string{"psmux 3.3.8", "psmux 0.4.0", "tmux HEAD"} {
		capable := newBackend(t, tmux.Options{Socket: s.Socket, Program: wrapper(t, answer(version))})
		open(t, capable, spec("a", "%0"))
	}
	if _, err := tmux.New(tmux.Options{Socket: s.Socket, Program: "/no/such/tmux"}); !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("no tmux: %v", err)
	}
}

// A server that is started ahead serves who opens a session, and goes if nobody does.
func TestStartedAhead(t *testing.T) {
	s := tmuxtest.Server(t)
	own := spec("own", "")
	own.Place = backend.Session
	runs := filepath.Join(t.TempDir(), "runs")
	program := wrapper(t, "echo run >>"+runs)
	for _, name := range []string{"its last pane", "who wanted it", "the next one", "who was killed"} {
		o := tmux.Options{Socket: s.Socket, Own: true, Program: program}
		if name == "who was killed" {
			o.AheadLife = 50 * time.Millisecond
		}
		b := newBackend(t, o)
		release := b.Ahead(t.Context())
		if name == "who was killed" {
			tmuxtest.Eventually(t, "the server goes by itself", func() bool {
				_, err := s.Try("display-message", "-p", "up")
				return err != nil
			})
			continue
		}
		pid, err := strconv.Atoi(s.Run("display-message", "-p", "#{pid}"))
		if err != nil {
			t.Fatal(err)
		}
		if list, err := newBackend(t, tmux.Options{Socket: s.Socket, Own: true}).ListAll(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("another process sees %v, %v", list, err)
		}
		switch name {
		case "its last pane":
			p := open(t, b, own)[0]
			if text, _ := os.ReadFile(runs); strings.Count(string(text), "run") != 3 {
				t.Errorf("tmux ran\n%s", text)
			}
			release()
			if got := s.Run("show-options", "-s", "-v", "exit-empty"); got != "on" {
				t.Errorf("exit-empty is %s", got)
			}
			if err := backend.CloseOne(t.Context(), b, p.ID, p.Mark); err != nil {
				t.Fatal(err)
			}
		case "who wanted it":
			release()
		case "the next one": // uses what one has started that was killed
			next := newBackend(t, tmux.Options{Socket: s.Socket, Own: true})
			defer next.Ahead(t.Context())()
			p := open(t, next, own)[0]
			if err := backend.CloseOne(t.Context(), next, p.ID, p.Mark); err != nil {
				t.Fatal(err)
			}
		}
		tmuxtest.Eventually(t, "the server goes with "+name, func() bool { return !tmuxtest.Alive(pid) })
	}
}

// Who is interrupted while the server starts leaves none.
func TestInterruptedAhead(t *testing.T) {
	s := tmuxtest.Server(t)
	slow := wrapper(t, `case "$*" in *start-server*) tmux "$@"; exec sleep 1000;; esac`)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Own: true, Program: slow, Timeout: 5 * time.Minute, AheadLife: time.Hour})
	runs := func() bool { _, err := s.Try("display-message", "-p", "up"); return err == nil }
	ctx, interrupt := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Ahead(ctx)() }()
	tmuxtest.Eventually(t, "the server runs", runs)
	interrupt()
	<-done
	tmuxtest.Eventually(t, "the server goes", func() bool { return !runs() })
}

func TestProbe(t *testing.T) {
	s := tmuxtest.Server(t)
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	r, err := b.Probe(t.Context())
	if err != nil || r.Running || r.Usable != nil || !filepath.IsAbs(r.Program) || r.Version.Text == "" || r.Socket != s.Socket {
		t.Errorf("without a server: %+v, %v", r, err)
	}
	if _, err := os.Stat(s.Socket); err == nil {
		t.Error("the probe started a server")
	}
	open(t, b, spec("a", s.NewSession("80x24")))
	if r, err := b.Probe(t.Context()); err != nil || !r.Running || r.Panes != 2 || r.Ours != 1 {
		t.Errorf("with a server: %+v, %v", r, err)
	}
	s.Stop()
	impatient := newBackend(t, tmux.Options{Socket: s.Socket, Timeout: 200 * time.Millisecond})
	tmuxtest.Eventually(t, "its version is said in time", func() bool { _, err := impatient.Version(t.Context()); return err == nil })
	if r, err := impatient.Probe(t.Context()); !errors.Is(err, fault.BackendUnavailable) || r.Usable != nil || !r.Running {
		t.Errorf("with a stopped server: %+v, %v", r, err)
	}
}

// A real person's client: an outer server shows the inner one.
// https://github.com/anthropics/claude-code/issues/41114 https://github.com/manaflow-ai/cmux/issues/2118
func TestIT03_LY04_A16_FocusWithAPersonLooking(t *testing.T) {
	s, outer := tmuxtest.Server(t), tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	own := spec("own", "")
	own.Place = backend.Session
	inside := env("TMUX", fmt.Sprintf("%s,%d,0", s.Socket, s.PID()), "TMUX_PANE", lead)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Getenv: inside})
	window := spec("window", lead)
	window.Place = backend.Window
	opened := open(t, b, spec("split", lead), window, own)

	err := b.Focus(t.Context(), opened[0].ID)
	if hint := fault.Of(err).Hint; !strings.Contains(hint, "tmux -S "+s.Socket+" attach-session -t") {
		t.Errorf("nobody looks: %v, hint %q", err, hint)
	}
	s.Run("select-pane", "-t", lead)
	outer.NewSession("100x30", "env", "-u", "TMUX", "-u", "TMUX_PANE", "tmux", "-u", "-S", s.Socket, "attach-session", "-t", s.Format(lead, "#{session_id}"))
	looking := func() string { out, _ := s.Try("list-clients", "-F", "#{session_id}"); return out }
	tmuxtest.Eventually(t, "the client is attached", func() bool { return looking() != "" })

	active := func() string { return looking() + " " + s.Format(looking(), "#{window_id} #{pane_id}") }
	before := active()
	more := spec("more", lead)
	more.Place = backend.Window
	open(t, b, spec("split2", lead), more)
	if after := active(); after != before {
		t.Errorf("opening moved the person from %s to %s", before, after)
	}
	for _, p := range opened {
		if err := b.Focus(context.Background(), p.ID); err != nil {
			t.Errorf("focus %s: %v", p.Mark.Agent, err)
		}
		if got := active(); got != fmt.Sprint(p.Session, " ", p.Window, " ", p.ID) {
			t.Errorf("focus %s: the person sees %s", p.Mark.Agent, got)
		}
	}
}
