package tmux_test

import (
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
)

// The window's own border options come back as they were, set or not set.
func TestBordersAreRestored(t *testing.T) {
	const status = "pane-border-status"
	for _, c := range []struct {
		name          string
		before        []string // commands
		during, after string   // value in the window itself; "-": not set there
	}{
		{"not set", nil, "top", "-"},
		{"off here", []string{"off"}, "top", "off"},
		{"top here", []string{"top"}, "top", "top"},
		{"bottom here", []string{"bottom"}, "bottom", "bottom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := tmuxtest.Server(t)
			if noBorders(t, s) {
				t.Skip("this tmux has no border for one pane")
			}
			lead := s.NewSession("200x50")
			for _, v := range c.before {
				s.Run("set-option", "-w", "-t", lead, status, v)
			}
			s.Run("set-option", "-w", "-t", lead, "pane-border-format", "mine")
			here := func() string {
				if v := s.Run("show-options", "-w", "-v", "-q", "-t", lead, status); v != "" {
					return v
				}
				return "-"
			}
			before := s.Run("show-options", "-w", "-t", lead)
			b := newBackend(t, tmux.Options{Socket: s.Socket})
			one, two := open(t, b, spec("one", lead))[0], open(t, b, spec("two", lead))[0]
			for i, p := range []backend.Pane{one, two} {
				if got := here(); got != c.during {
					t.Errorf("with %d panes closed it is %s, want %s", i, got, c.during)
				}
				if got := shown(s, backend.ID(lead)); got != "mine" {
					t.Errorf("the lead's border says %q", got)
				}
				if err := backend.CloseOne(t.Context(), b, p.ID, p.Mark); err != nil {
					t.Error(err)
				}
			}
			if got := here(); got != c.after {
				t.Errorf("afterwards it is %s, want %s", got, c.after)
			}
			if after := s.Run("show-options", "-w", "-t", lead); after != before {
				t.Errorf("the window's options were\n%s\nand are\n%s", before, after)
			}
		})
	}
}

// Before 3.3 a border belongs to the window: it is left alone.
func TestBordersOfOldTmuxAreLeftAlone(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	before := s.Run("show-options", "-w", "-t", lead)
	b := newBackend(t, tmux.Options{Socket: s.Socket, Program: wrapper(t, `[ "$1" = -V ] && echo tmux 3.2a && exit`)})
	pane := open(t, b, spec("a", lead))[0]
	if err := b.Label(t.Context(), pane.ID, pane.Mark, backend.Label{Name: "a", State: "idle", Color: "blue"}); err != nil {
		t.Fatal(err)
	}
	if after := s.Run("show-options", "-w", "-t", lead); after != before {
		t.Errorf("the window's options were %q and are %q", before, after)
	}
	if got := s.Format(string(pane.ID), "#{@leadlight-name} #{@leadlight-state}"); got != "a idle" {
		t.Errorf("the label is %q", got)
	}
}

// https://github.com/tmux/tmux/issues/2179
func TestTV03_NoLocale(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	t.Setenv("LANG", "C")
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	sp := spec("研究員", lead)
	sp.Argv = []string{"sh", "-c", `printf '%s\n' "$1"; exec sleep 1000`, "sh", "équipe 研究員"}
	pane := open(t, b, sp)[0]
	tmuxtest.Eventually(t, "the output comes back as it was written", func() bool {
		text, err := b.Capture(t.Context(), pane.ID, 0, false)
		return err == nil && text == "équipe 研究員\n"
	})
	if got := shown(s, pane.ID); !strings.Contains(got, "研究員") && !noBorders(t, s) {
		t.Errorf("the border says %q", got)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 1 || list[0].Mark.Agent != "研究員" {
		t.Errorf("listed are %v, %v", list, err)
	}
	own := spec("研究員", "")
	own.Place = backend.Session
	if argv, err := b.Attach(t.Context(), open(t, b, own)[0].ID); err != nil || argv[len(argv)-1] != "=研究員" {
		t.Errorf("attach by %q, %v", argv, err)
	}
	s.Run("rename-session", "-t", lead, "a$b") // tmux 3.4 shows it in another form than it takes it
	if argv, err := b.Attach(t.Context(), pane.ID); err != nil || argv[len(argv)-1] != pane.Session {
		t.Errorf("attach by %q, %v, want %s", argv, err, pane.Session)
	}
}

// https://github.com/kunchenguid/firstmate/pull/134
func TestPI11_RenamedWindows(t *testing.T) {
	s := tmuxtest.Server(t)
	s.Config("set -g allow-rename on", "set -g automatic-rename on")
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	sp := spec("a", lead)
	sp.Place = backend.Window
	sp.Argv = []string{"sh", "-c", `printf '\033kstolen\033\\\033]2;stolen\033\\'; exec sleep 1000`}
	pane := open(t, b, sp)[0]
	tmuxtest.Eventually(t, "the title is set", func() bool { return s.Format(string(pane.ID), "#{pane_title}") == "stolen" })
	s.Run("rename-window", "-t", pane.Window, "lead")
	if got := shown(s, pane.ID); (strings.Contains(got, "stolen") || !strings.Contains(got, "a running")) && !noBorders(t, s) {
		t.Errorf("the border says %q", got)
	}
	if err := backend.CloseOne(t.Context(), b, pane.ID, pane.Mark); err != nil || len(s.Panes()) != 1 {
		t.Errorf("close: %v, left are %v", err, s.Panes())
	}
}

// Marks are ours to write; what else stands in those options is not ours and breaks nothing.
func TestForgedMarks(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	open(t, b, spec("a", lead))
	for _, v := range []string{"x y", "a\nb", "%9 @9", "1.!.?.x.y", "1.....", "#(touch x)", strings.Repeat("z", 5000), "", "-"} {
		s.Run("set-option", "-p", "-t", lead, "@leadlight", v)
		s.Run("set-option", "-w", "-t", lead, "@leadlight-border", v)
		if list, err := b.List(t.Context()); err != nil || len(list) != 1 || list[0].Mark.Agent != "a" {
			t.Errorf("with %.20q: %v, %v", v, list, err)
		}
	}
}

// https://github.com/anthropics/claude-code/issues/23615 https://github.com/Yeachan-Heo/oh-my-claudecode/issues/1158
func TestLY05_ArrangeLeavesNothingBehind(t *testing.T) {
	s := tmuxtest.Server(t)
	lead := s.NewSession("200x50")
	window := s.Format(lead, "#{window_id}")
	b := newBackend(t, tmux.Options{Socket: s.Socket})
	for _, width := range []string{"", "77"} {
		if width != "" {
			s.Run("set-option", "-w", "-t", lead, "main-pane-width", width)
		}
		opened := open(t, b, spec("a", lead), spec("b", lead))
		if err := b.Arrange(t.Context(), backend.Layout{Window: window, Kind: backend.MainVertical, Main: "40%"}); err != nil {
			t.Fatal(err)
		}
		if got := s.Format(lead, "#{pane_width}"); got != "80" { // of 200
			t.Errorf("the lead's pane has %s columns", got)
		}
		if got := s.Run("show-options", "-w", "-v", "-q", "-t", lead, "main-pane-width"); got != width {
			t.Errorf("main-pane-width was %q and is %q", width, got)
		}
		if got := s.Panes(); got[0] != lead {
			t.Errorf("the panes are in the order %v", got)
		}
		for _, p := range opened {
			if err := backend.CloseOne(t.Context(), b, p.ID, p.Mark); err != nil {
				t.Error(err)
			}
		}
	}
}
