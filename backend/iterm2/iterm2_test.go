package iterm2_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2"
	"github.com/leadlight-dev/leadlight/backend/iterm2/iterm2test"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// spec is a pane for an agent that stays, beside target.
func spec(agent string, target backend.ID) backend.Spec {
	return backend.Spec{
		Argv: []string{"sleep", "1000"}, Dir: os.TempDir(), Place: backend.Split, Target: target,
		Mark: backend.Mark{Base: "b", Team: "team", Agent: agent, Host: "host of " + agent}, Label: backend.Label{Name: agent, State: "active", Color: "blue"},
	}
}

func opened(t *testing.T, b backend.Backend, specs ...backend.Spec) []backend.Pane {
	t.Helper()
	var out []backend.Pane
	for i, r := range b.Open(t.Context(), specs) {
		if r.Err != nil {
			t.Fatalf("%s: %v", specs[i].Mark.Agent, r.Err)
		}
		out = append(out, r.Pane)
	}
	return out
}

func start(t *testing.T) (*iterm2test.Server, *iterm2.Backend, backend.ID) {
	s := iterm2test.Start(t)
	return s, open(t, s, s.Lead, time.Minute), backend.ID(s.Lead)
}

func TestBesideTheLead(t *testing.T) {
	s, b, lead := start(t)
	column := spec("two", "")
	column.Chain, column.Below = 1, true
	focus := s.Focus()
	list := opened(t, b, spec("one", lead), column)
	here, err := b.Self(t.Context())
	self := here.Self
	if err != nil || here.ID() != lead || len(here.Window) != 3 || self.WindowWidth != 200 || self.WindowHeight != 60 {
		t.Fatalf("self %+v in a window of %d, %v", self, len(here.Window), err)
	}
	if got := s.Focus(); got != focus {
		t.Errorf("the focus went from %s to %s", focus, got)
	}
	if err := b.Arrange(t.Context(), backend.Layout{Window: self.Window, Kind: backend.MainVertical, Main: "40%"}); err != nil {
		t.Fatal(err)
	}
	got := []wire.Size{s.Size(s.Lead), s.Size(string(list[0].ID)), s.Size(string(list[1].ID))}
	want := []wire.Size{{Cols: 79, Rows: 60}, {Cols: 120, Rows: 29}, {Cols: 120, Rows: 30}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the sizes are %v, want %v", got, want)
	}
	if color, _ := s.Profile(string(list[0].ID), "Tab Color").(map[string]any); color["Blue Component"] == nil || s.Profile(string(list[0].ID), "Badge Text") != "one" {
		t.Errorf("the pane looks like %v", color)
	}
	if err := b.Focus(t.Context(), list[1].ID); err != nil || !strings.Contains(s.Focus(), string(list[1].ID)) {
		t.Errorf("the focus is %s, error %v", s.Focus(), err)
	}
}

// A session of its own window does not take the keyboard either.
// An iTerm2 that says that it made a session which was there before is not believed: that
// session is neither marked nor closed.
func TestXH11_ITerm2AnswersWithTheLeadsSession(t *testing.T) {
	s, b, lead := start(t)
	s.Distort(func(a *wire.Response) {
		if a.SplitPane != nil {
			a.SplitPane.Sessions = []string{s.Lead}
		}
		if a.CreateTab != nil {
			a.CreateTab.Session = s.Lead
		}
	})
	for _, place := range []backend.Place{backend.Split, backend.Window, backend.Session} {
		sp := spec("one", lead)
		if sp.Place = place; place == backend.Session {
			sp.Target = ""
		}
		if err := b.Open(t.Context(), []backend.Spec{sp})[0].Err; !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), "was there before") {
			t.Errorf("%s: %v", place, err)
		}
	}
	for _, r := range s.Requests() {
		if r.Close != nil || r.Variable != nil && len(r.Variable.Set) > 0 {
			t.Errorf("it was asked to do something to a session that is not ours: %+v", r)
		}
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 0 || s.Programs()[s.Lead] == 0 {
		t.Errorf("ours are %v, %v; there are %v", list, err, s.Programs())
	}
}

func TestAWindowOfItsOwn(t *testing.T) {
	s, b, lead := start(t)
	own := spec("one", "")
	own.Place = backend.Session
	tab := spec("two", "")
	tab.Place, tab.Chain = backend.Window, 1
	list := opened(t, b, own, tab)
	if list[0].Session != list[1].Session || list[0].Window == list[1].Window {
		t.Errorf("%+v and %+v, want two tabs of one window", list[0], list[1])
	}
	if !strings.Contains(s.Focus(), string(lead)+" (keyboard)") {
		t.Errorf("the focus is %s", s.Focus())
	}
}

func TestNoRoom(t *testing.T) {
	_, b, lead := start(t)
	var specs []backend.Spec
	for i := range 9 {
		specs = append(specs, spec(fmt.Sprint("a", i), lead))
	}
	results := b.Open(t.Context(), specs)
	if err := results[8].Err; !errors.Is(err, fault.NoSpace) {
		t.Errorf("the ninth split of one pane: %v", err)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) == 0 || len(list) == len(specs) {
		t.Errorf("%d panes, error %v", len(list), err)
	}
}

// Whose target was closed by hand is opened beside another living pane of the team, and
// when there is none, beside the lead.
func TestIT02_ClosedTargetIsReplaced(t *testing.T) {
	s, b, lead := start(t)
	list := opened(t, b, spec("one", lead), spec("two", lead))
	begun(t, s)
	s.CloseByHand(string(list[1].ID))
	three := opened(t, b, spec("three", list[1].ID))[0]
	if s.Size(string(three.ID)).Cols >= s.Size(s.Lead).Cols || three.Window != list[0].Window {
		t.Errorf("the third pane is %+v", three)
	}
	begun(t, s)
	asked := s.Requests()
	if last := lastSplit(asked); last != string(list[0].ID) {
		t.Errorf("it was split off %s, want the living teammate %s", last, list[0].ID)
	}
	s.CloseByHand(string(list[0].ID))
	s.CloseByHand(string(three.ID))
	window := spec("four", three.ID)
	window.Place = backend.Window
	opened(t, b, spec("five", three.ID), window)
	if all, err := b.List(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%d panes of ours, error %v", len(all), err)
	}
}

// begun waits until all programs run.
func begun(t *testing.T, s *iterm2test.Server) {
	t.Helper()
	dir := filepath.Join(s.Home, "commands")
	_, err := os.Stat(dir)
	for end := time.Now().Add(time.Minute); err == nil; time.Sleep(5 * time.Millisecond) {
		if _, err = os.Stat(dir); time.Now().After(end) {
			t.Fatal("a program does not begin")
		}
	}
}

func lastSplit(asked []*wire.Request) (session string) {
	for _, r := range asked {
		if r.SplitPane != nil {
			session = r.SplitPane.Session
		}
	}
	return session
}

func TestIT02_NobodyToStandBeside(t *testing.T) {
	s := iterm2test.Start(t)
	b := open(t, s, "", time.Minute)
	r := b.Open(t.Context(), []backend.Spec{spec("one", "11111111-2222-3333-4444-555555555555")})
	if !errors.Is(r[0].Err, backend.ErrGone) {
		t.Errorf("%v", r[0].Err)
	}
}

// What stands between us and iTerm2 hangs, is refused, or breaks: an error in time, with
// what to do, and nothing half-made.
func TestIT05_RefusedOrHanging(t *testing.T) {
	hang := func(ctx context.Context) (string, string, error) { <-ctx.Done(); return "", "", ctx.Err() }
	spent := func(context.Context) (string, string, error) { return "spent", "key", nil }
	for _, tc := range []struct {
		name   string
		cookie iterm2.Cookie
		broken func(*iterm2test.Server)
		says   string
		hint   string
	}{
		{"the helper hangs", hang, nil, "did not answer in time", "Automation"},
		{"a cookie that was used", spent, nil, "401", "Python API"},
		{"permission refused", nil, func(s *iterm2test.Server) { s.Refuse(http.StatusUnauthorized) }, "401", "Python API"},
		{"too old a client", nil, func(s *iterm2test.Server) { s.Refuse(http.StatusNotAcceptable) }, "406", "--backend tmux"},
		{"a handshake not understood", nil, func(s *iterm2test.Server) { s.Refuse(http.StatusBadRequest) }, "400", "--backend tmux"},
		{"not running", nil, (*iterm2test.Server).Kill, "does not run", "Enable Python API"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := iterm2test.Start(t)
			if tc.broken != nil {
				tc.broken(s)
			}
			if tc.cookie == nil {
				tc.cookie = s.Cookie
			}
			limit := 2 * time.Minute // a busy machine needs time to say no
			if tc.says == "did not answer in time" {
				limit = 50 * time.Millisecond
			}
			dir := filepath.Join(s.Home, "commands")
			b, err := iterm2.New(iterm2.Options{Socket: s.Socket, Dir: dir, Cookie: tc.cookie, Timeout: limit})
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			err = b.Open(t.Context(), []backend.Spec{spec("one", backend.ID(s.Lead))})[0].Err
			e := fault.Of(err)
			if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(e.Message, tc.says) || !strings.Contains(e.Hint, tc.hint) {
				t.Errorf("%v (hint %q), want %q and %q", err, e.Hint, tc.says, tc.hint)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the folder of commands is there")
			}
			if tc.name != "not running" && len(s.Requests()) != 0 {
				t.Error("something was asked all the same")
			}
		})
	}
}

// The helper is a program of the system; here it is a script.
func TestIT05_TheHelper(t *testing.T) {
	for _, tc := range []struct{ name, script, says string }{
		{"refused", "echo 'execution error: Not authorized (-1743)' >&2; exit 1", "-1743"},
		{"speaks of something else", "echo usage: osascript -e", "usage: osascript -e"},
		{"says nothing", "exit 0", "no cookie"},
		{"hangs", "exec sleep 1000", "in time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := exetest.Write(filepath.Join(dir, "osascript"), []byte("#!/bin/sh\n"+tc.script+"\n")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			limit := time.Minute // a busy machine needs time to say no
			if tc.name == "hangs" {
				limit = time.Second
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("it did not answer in time"))
			defer cancel()
			_, _, err := iterm2.AskByScript(ctx)
			if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), tc.says) || fault.Of(err).Hint == "" {
				t.Errorf("%v, want %q and a hint", err, tc.says)
			}
		})
	}
	dir := t.TempDir()
	if err := exetest.Write(filepath.Join(dir, "osascript"), []byte("#!/bin/sh\ncase \"$*\" in *'for app named \"leadlight\"') echo '1a2b 3c4d';; esac\n")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if cookie, key, err := iterm2.AskByScript(t.Context()); cookie != "1a2b" || key != "3c4d" || err != nil {
		t.Errorf("%s %s %v", cookie, key, err)
	}
}

// One connection serves all, and a lost one is an error for who waits on it and for
// nobody else.
func TestTheConnection(t *testing.T) {
	s, _, lead := start(t)
	var mu sync.Mutex
	cookies := 0
	b, err := iterm2.New(iterm2.Options{Socket: s.Socket, Dir: filepath.Join(s.Home, "c"), Cookie: func(ctx context.Context) (string, string, error) {
		mu.Lock()
		cookies++
		mu.Unlock()
		return s.Cookie(ctx)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.HangUp)
	pane := opened(t, b, spec("one", lead))[0]
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if list, err := b.List(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("%d panes, error %v", len(list), err)
			}
		})
	}
	wg.Wait()
	if cookies != 1 {
		t.Errorf("%d cookies were asked for", cookies)
	}
	s.HangUp(func(r *wire.Request) bool { return r.SetProfile != nil })
	if err := b.Label(t.Context(), pane.ID, pane.Mark, backend.Label{Name: "one"}); !errors.Is(err, fault.BackendUnavailable) || errors.Is(err, backend.ErrGone) {
		t.Errorf("a label on a connection that broke: %v", err)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("afterwards %d panes, error %v", len(list), err)
	}
	if cookies != 2 {
		t.Errorf("%d cookies were asked for", cookies)
	}
	// Broken after iTerm2 has split: the caller learns of it, and the pane bears no mark.
	s.HangUp(func(r *wire.Request) bool { return r.SplitPane != nil })
	if err := b.Open(t.Context(), []backend.Spec{spec("two", lead)})[0].Err; !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("a split on a connection that broke: %v", err)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 1 || list[0].ID != pane.ID {
		t.Errorf("afterwards %v, error %v", list, err)
	}
}

// Whoever asks while somebody else waits behind a dialog waits no longer than they want to.
func TestIT05_NobodyWaitsBehindAnother(t *testing.T) {
	s := iterm2test.Start(t)
	asked := make(chan struct{})
	b, err := iterm2.New(iterm2.Options{Socket: s.Socket, Dir: filepath.Join(s.Home, "c"), Cookie: func(ctx context.Context) (string, string, error) {
		close(asked)
		<-ctx.Done()
		return "", "", ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	first, answer := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := b.List(first); done <- err }()
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.List(ctx); !errors.Is(err, context.DeadlineExceeded) { // one that waits for the first never comes back
		t.Errorf("the second: %v", err)
	}
	answer()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
}

func TestSessionOf(t *testing.T) {
	const id = "0EC1D2E3-A4B5-4C6D-8E9F-0123456789AB"
	for value, want := range map[string]backend.ID{
		"w0t0p0:" + id: id, "w12t3p4:" + id: id, id: "", "": "", "w0t0p0:": "", "w0t0p0:all": "", "w0t0p0:active": "", "w0t0p0:" + id + "x": "",
	} {
		if got, ok := iterm2.SessionOf(value); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %v", value, got, ok)
		}
	}
}

func TestSocketPath(t *testing.T) {
	for suite, want := range map[string]string{
		"": "/h/Library/Application Support/iTerm2/private/socket", "Mine": "/h/Library/Application Support/Mine/private/socket",
		"../x": "/h/Library/Application Support/iTerm2/private/socket",
	} {
		if got := iterm2.SocketPath(func(name string) string { return map[string]string{"HOME": "/h", "IT2_SUITE": suite}[name] }); got != want {
			t.Errorf("with %q: %s", suite, got)
		}
	}
}
