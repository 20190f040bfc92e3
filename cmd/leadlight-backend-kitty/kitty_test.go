package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/cmd/leadlight-backend-kitty/kittytest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// display is a screen for the kitties of a test. A machine without kitty can do without
// this test; CI installs it.
func display(t *testing.T) *kittytest.Display {
	t.Helper()
	if missing := kittytest.Missing(); missing != "" {
		t.Skip(missing)
	}
	return kittytest.NewDisplay(t)
}

func inside(s *kittytest.S) func(string) string {
	return func(name string) string {
		return map[string]string{ListenVariable: "unix:" + s.Socket, WindowVariable: "1"}[name]
	}
}

func dial(t backendtest.T, s *kittytest.S, limit time.Duration) *Backend {
	b, err := New(Options{Socket: s.Socket, Getenv: inside(s), Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// All cases but those that break it are put to one kitty, one after the other: it takes a
// while to start.
func TestBackend(t *testing.T) {
	screen := display(t)
	shared := screen.Kitty(t)
	s := shared
	opts := backendtest.Opts{New: func(t backendtest.T) backendtest.Terminal {
		s := s
		return backendtest.Terminal{
			Backend: dial(t, s, time.Minute),
			At:      backend.Spec{Place: backend.Window, Target: "1"},
			Focus:   s.Focus,
			Border:  func(id backend.ID) string { return s.Shown(string(id)) },
			Other:   func() backend.Backend { return dial(t, s, time.Minute) },
			Inside: func(id backend.ID) backend.Backend {
				b, err := New(Options{Socket: s.Socket, Limit: time.Minute, Getenv: func(name string) string {
					return map[string]string{ListenVariable: "unix:" + s.Socket, WindowVariable: string(id)}[name]
				}})
				if err != nil {
					t.Fatal(err)
				}
				return b
			},
			Freeze: s.Freeze, Kill: s.Kill,
			Impatient: dial(t, s, 300*time.Millisecond), Patience: time.Minute,
		}
	}, Insiders: true}
	t.Logf("declared weak: %q", opts.Weaknesses())
	for _, c := range backendtest.Cases(opts) {
		t.Run(c.Name, func(t *testing.T) {
			if s = shared; slices.Contains([]string{"TV11_Frozen", "CR01_Killed"}, c.Name) {
				s = screen.Kitty(t)
			} else {
				s.Reset()
			}
			c.Run(t)
		})
	}
}

// The lead keeps the share it was given, and what a kitty that hung opens too late goes.
func TestMainAndLate(t *testing.T) {
	s := display(t).Kitty(t)
	b, impatient := dial(t, s, time.Minute), dial(t, s, 300*time.Millisecond)
	spec := func(agent string) backend.Spec {
		return backend.Spec{Argv: []string{"sleep", "1000"}, Dir: t.TempDir(), Place: backend.Split, Target: "1", Mark: backend.Mark{Base: "b", Team: "t", Agent: agent, Host: agent}}
	}
	var window string
	for _, r := range b.Open(t.Context(), []backend.Spec{spec("one"), spec("two"), spec("three")}) {
		if window = r.Pane.Window; r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	for main, want := range map[string]int{"40%": 70, "60%": 106, "50": 50, "99%": 159} {
		if err := b.Arrange(t.Context(), backend.Layout{Window: window, Kind: backend.MainVertical, Main: main}); err != nil {
			t.Fatal(err)
		}
		if got := s.Windows()[0].Columns; got < want-3 || got > want+3 {
			t.Errorf("with %s the lead has %d columns, want about %d", main, got, want)
		}
	}
	thaw := s.Freeze()
	if err := impatient.Open(t.Context(), []backend.Spec{spec("late")})[0].Err; !errors.Is(err, fault.BackendUnavailable) {
		t.Errorf("a kitty that hangs opened a window: %v", err)
	}
	thaw()
	came := false
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		came = came || len(s.Windows()) == 5
		list, err := b.List(t.Context()) // which does not know that it is late
		if _, impatientErr := impatient.List(t.Context()); err == nil && impatientErr == nil && came && len(list) == 3 && len(s.Windows()) == 4 {
			return
		}
	}
	t.Errorf("it came: %v; windows are %+v", came, s.Windows())
}

// What cannot be reached is said with the way out.
func TestSocket(t *testing.T) {
	for address, says := range map[string]string{"": "KITTY_LISTEN_ON is empty", "tcp:localhost:1234": "no socket of this machine", "unix:": "no socket"} {
		_, err := Socket(func(string) string { return address })
		if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(err.Error(), says) || !strings.Contains(fault.Of(err).Hint, "conf") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if got, err := Socket(func(string) string { return "unix:@kitty" }); err != nil || got != "@kitty" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := New(Options{Socket: "relative"}); !errors.Is(err, fault.InvalidArgument) {
		t.Errorf("%v", err)
	}
}
