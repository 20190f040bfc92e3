package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestKeysAfterTheEndOfTyping: what is typed on is for the teammate that has ended, not for
// the dashboard.
func TestKeysAfterTheEndOfTyping(t *testing.T) {
	gone := sample()
	gone.Members = gone.Members[1:]
	for name, end := range map[string]func(*model){
		"it ended":   func(m *model) { m.update(left{"amy", nil}) },
		"it is gone": func(m *model) { m.update(gone) },
	} {
		m := shownModel()
		p := sample()
		p.Asks = []ask{{ID: "t1", From: "bob", Text: "may it use Bash? rm"}}
		m.update(p)
		presses(m, "enter")
		gone.Asks = p.Asks
		end(m)
		if acts := presses(m, "s", "y", "y", "r", "y", "q"); len(acts) > 0 || !strings.Contains(m.draw(), "Esc goes back") {
			t.Errorf("%s: %#v\n%s", name, acts, m.draw())
		}
		if acts := presses(m, "esc", "y"); len(acts) != 1 || m.mode != browsing {
			t.Errorf("%s: after Escape: %#v", name, acts)
		}
	}
}

// TestTheQuestionBeforeHarmStands: what comes meanwhile does not hide it.
func TestTheQuestionBeforeHarmStands(t *testing.T) {
	m := shownModel()
	presses(m, "s")
	if m.update(noted{"bob: terminated"}); !strings.Contains(m.draw(), "stop amy?") {
		t.Error(m.draw())
	}
	if presses(m, "n"); !strings.Contains(m.draw(), "bob: terminated") { // it was not to be seen yet
		t.Error(m.draw())
	}
}

// TestANoteSaysWhy: the reason of an error stands at its end.
func TestANoteSaysWhy(t *testing.T) {
	m := shownModel()
	m.update(noted{"send to amy: write " + strings.Repeat("/研究", 40) + ": no space left on device"})
	if last := m.footer(); !strings.Contains(last, "send to amy") || !strings.Contains(last, "no space left on device") || ansi.StringWidth(last) != 80 {
		t.Errorf("%q", last)
	}
}

// TestAQuestionBehindANote is shown before a key answers it.
func TestAQuestionBehindANote(t *testing.T) {
	m := shownModel()
	m.update(noted{"bob: terminated"})
	p := sample()
	p.Asks = []ask{{ID: "t1", From: "bob", Text: "may it use Bash? rm"}}
	m.update(p)
	if acts := presses(m, "y"); len(acts) > 0 || !strings.Contains(m.draw(), "may it use Bash?") {
		t.Errorf("%#v\n%s", acts, m.draw())
	}
	if acts := presses(m, "y"); len(acts) != 1 {
		t.Errorf("%#v", acts)
	}
}

// TestATeamThatIsGone: nothing is said of its teammates any more, until it is there again.
func TestATeamThatIsGone(t *testing.T) {
	m := shownModel()
	m.update(picture{Err: fault.New(fault.CorruptFile, "config.json is damaged")})
	if text := m.draw(); !strings.Contains(text, "damaged · what is shown is older") || !strings.Contains(text, "amy") {
		t.Error(text)
	}
	m.update(picture{Err: fault.New(fault.TeamNotFound, "team alpha does not exist")})
	if text := m.draw(); !strings.Contains(text, "does not exist") || strings.Contains(text, "run") && !strings.Contains(text, "no teammate runs") || strings.Contains(text, "amy") {
		t.Error(text)
	}
	if m.update(sample()); strings.Contains(m.draw(), "does not exist") || !strings.Contains(m.draw(), "amy") {
		t.Error(m.draw())
	}
}

// TestTheCursorStaysOnTheScreen, whatever comes and however small the screen becomes.
func TestTheCursorStaysOnTheScreen(t *testing.T) {
	m := shownModel()
	p := sample()
	grow := func(n int) {
		for range n {
			p.Tasks = append(p.Tasks, api.Task{ID: fmt.Sprint(len(p.Tasks) + 1), Subject: fmt.Sprintf("subject%dx", len(p.Tasks)+1), Status: "pending"})
		}
		m.update(p)
	}
	grow(50)
	presses(m, "ctrl+t", "down", "down")
	for what, change := range map[string]func(){
		"more tasks":       func() { grow(30) },
		"a smaller screen": func() { m.update(tea.WindowSizeMsg{Width: 60, Height: 12}) },
	} {
		if change(); !strings.Contains(m.draw(), "subject3x") {
			t.Errorf("%s: %s", what, m.draw())
		}
	}
}

// TestNoVerbIsSuspended: it would hold its locks until somebody comes back.
func TestNoVerbIsSuspended(t *testing.T) {
	p := &program{}
	p.verbs.RLock()
	if got, ok := p.do(suspend{})().(noted); !ok || !strings.Contains(got.Text, "under way") {
		t.Errorf("%+v", got)
	}
}
