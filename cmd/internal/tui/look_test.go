package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Boxes are read again only when something may have come, and are shown meanwhile.
func TestLooksIntoBoxes(t *testing.T) {
	p := &program{model: newModel("alpha"), told: true}
	letters := func(ids ...string) (l []letter) {
		for _, id := range ids {
			l = append(l, letter{ID: id})
		}
		return l
	}
	for _, c := range []struct {
		name    string
		seen    teamSeen
		want    int
		mailDue bool
	}{
		{"the first look", teamSeen{picture{Letters: letters("a", "b")}, true, true}, 2, false},
		{"one without the boxes", teamSeen{picture{}, true, false}, 2, false},
		{"one that fails", teamSeen{picture{Err: errors.New("no")}, false, true}, 0, true},
		{"one into the boxes", teamSeen{picture{Letters: letters("c")}, false, true}, 1, true},
	} {
		got := p.whole(c.seen)
		if len(got.Letters) != c.want || p.mailDue != c.mailDue {
			t.Errorf("%s: %d letters, boxes due %v", c.name, len(got.Letters), p.mailDue)
		}
		p.model.take(got)
	}
	p.mailDue = false
	if p.lookSoon(false) == nil || p.lookSoon(true) != nil || !p.mailDue {
		t.Error("two changes are two looks, or the boxes are forgotten")
	}
	now := time.Now()
	p.Update(teamSeen{picture{At: now, Letters: letters("c", "d")}, false, true})
	if p.Update(teamSeen{picture{At: now.Add(-time.Second)}, false, true}); len(p.model.Letters) != 2 || !p.mailDue {
		t.Errorf("an older look takes the place of a later one: %+v", p.model.Letters)
	}
	p.told = false
	if p.Update(changed{}); p.every() != toldEvery {
		t.Error("it looks often though every change is told")
	}
	p.Update(changed{over: true})
	if p.every() != teamEvery {
		t.Error("it waits to be told though nobody tells")
	}
}

// TestXD11_WithoutATerminal: one without a terminal is headless to a person, whatever its
// roster has to call it.
func TestXD11_WithoutATerminal(t *testing.T) {
	m := newModel("alpha")
	m.update(tea.WindowSizeMsg{Width: 120, Height: 30})
	p := sample()
	for i := range p.Members {
		p.Members[i].TmuxPaneID = "in-process"
	}
	m.update(p)
	if got := ansi.Strip(m.draw()); !strings.Contains(got, "headless") || strings.Contains(got, "in-process") {
		t.Errorf("%s", got)
	}
}
