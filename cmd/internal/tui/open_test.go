package tui

import (
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// waitingSample is the sample with something that waits for a person, and things to open.
func waitingSample() picture {
	p := sample()
	p.Members[1].State, p.Members[1].Reason, p.Members[1].Worktree = api.StateWaiting, "Trust this folder?", "/w"
	p.Changes = map[string]teams.Changed{"bob": {Branch: "leadlight/alpha/bob", Added: 12, Removed: 3}}
	p.Tasks[0].Description = "Every file of it.\nThen say what you found."
	p.Letters[0].Body = "hi, this is long"
	p.Asks = []ask{{ID: "t1", From: "amy", Text: "may it use Bash? ls"}, {ID: "dialog:bob", From: "bob", Text: "Trust this folder?", Dialog: true, YesKeys: "Enter", NoKeys: "Escape"}}
	return p
}

// Requests come first, and one key answers the one at the cursor; a dialog too.
func TestXD07_RequestsAreShownFirstAndAnswered(t *testing.T) {
	m := newModel("alpha")
	m.update(waitingSample())
	if got := ansi.Strip(m.draw()); m.panel != requestsView || !strings.Contains(got, "2 requests") || !strings.Contains(got, "amy asks: may it use Bash? ls — y: yes, n: no") {
		t.Errorf("panel %d\n%s", m.panel, got)
	}
	tool, dialog := m.Asks[0], m.Asks[1]
	if got := presses(m, "y", "down", "n"); !reflect.DeepEqual(got, []action{reply{tool, true}, reply{dialog, false}}) {
		t.Errorf("%#v", got)
	}
	if got := ansi.Strip(m.draw()); !strings.Contains(got, "bob waits: Trust this folder? — y: presses Enter there, n: presses Escape") {
		t.Errorf("%s", got)
	}
	presses(m, "enter")
	if got := ansi.Strip(m.draw()); !strings.Contains(got, "asked by bob") {
		t.Errorf("%s", got)
	}
	p := waitingSample()
	p.Asks = p.Asks[:1] // bob's is answered elsewhere, while it is open
	m.update(p)
	if got := ansi.Strip(m.draw()); strings.Contains(got, "asked by bob") || !strings.Contains(got, "1 request") {
		t.Errorf("%s", got)
	}
	p.Asks = nil
	m.update(p)
	if m.panel != paneView {
		t.Errorf("nobody asks, and panel %d is shown", m.panel)
	}
	presses(m, "a")
	m.update(p)
	if m.panel != requestsView {
		t.Errorf("the requests were asked for, and panel %d is shown", m.panel)
	}
}

// What the tasks have cost stands above them, once an agent has told.
func TestTheTasksShowTheirUsage(t *testing.T) {
	m := newModel("alpha")
	p := sample()
	m.update(p)
	presses(m, "ctrl+t")
	if got := ansi.Strip(m.draw()); strings.Contains(got, "tokens") {
		t.Errorf("nobody has told\n%s", got)
	}
	for i := range p.Tasks {
		p.Tasks[i].Usage = &api.Usage{InputTokens: 100, OutputTokens: 20, CostUSD: 0.25}
	}
	m.update(p)
	want := api.Usage{InputTokens: 100 * int64(len(p.Tasks)), OutputTokens: 20 * int64(len(p.Tasks)), CostUSD: 0.25 * float64(len(p.Tasks))}
	if got := ansi.Strip(m.draw()); len(p.Tasks) < 2 || !strings.Contains(got, "Tasks  "+want.String()) {
		t.Errorf("want %s\n%s", want, got)
	}
}

// A task and a message are opened, and acted on.
func TestXD07_TasksAndMessagesAreOpened(t *testing.T) {
	for _, tc := range []struct {
		keys  []string
		want  []action
		shows string
	}{
		{[]string{"ctrl+t", "enter"}, nil, "Then say what you found."},
		{[]string{"ctrl+t", "down", "d"}, []action{taskDone{"2"}}, "Write"},
		{[]string{"ctrl+t", "enter", "o"}, []action{taskRelease{"1"}}, "Every file of it."},
		{[]string{"ctrl+t", "x", "n", "o", "enter"}, []action{taskFail{"1", "no"}}, ""},
		{[]string{"ctrl+t", "x", "esc"}, nil, ""},
		{[]string{"i", "enter"}, nil, "hi, this is long"},
		{[]string{"i", "m", "k", "enter"}, []action{send{"amy", "k"}}, ""},
		{[]string{"i", "enter", "esc", "esc"}, nil, "amy — active"},
		{[]string{"tab", "tab", "d"}, nil, "choose one there"},
	} {
		m := newModel("alpha")
		p := waitingSample()
		p.Asks = nil
		m.update(p)
		if tc.keys[0] == "tab" {
			m.turn(messagesView)
		}
		if got := presses(m, tc.keys...); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%v: %#v, want %#v", tc.keys, got, tc.want)
		}
		if got := ansi.Strip(m.draw()); !strings.Contains(got, tc.shows) {
			t.Errorf("%v shows not %q:\n%s", tc.keys, tc.shows, got)
		}
	}
}

// The mouse selects, opens, types into the pane, and its wheel moves through what it is over.
func TestXD07_Mouse(t *testing.T) {
	at := func(x, y int) tea.Msg { return tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft} }
	for _, tc := range []struct {
		name string
		do   []tea.Msg
		want []action
		then func(*model) bool
	}{
		{"a teammate", []tea.Msg{at(5, 3)}, []action{look{}}, func(m *model) bool { return m.selected == "bob" }},
		{"the selected one", []tea.Msg{at(5, 2)}, []action{attach{"amy", 21, 80}, look{}}, func(m *model) bool { return m.mode == typing }},
		{"the pane", []tea.Msg{at(60, 10)}, []action{attach{"amy", 21, 80}, look{}}, nil},
		{"below the list", []tea.Msg{at(5, 20)}, nil, nil},
		{"the title", []tea.Msg{at(5, 0)}, nil, nil},
		{"a task, twice", []tea.Msg{press("ctrl+t"), at(60, 3), at(60, 3)}, nil, func(m *model) bool { return m.at == 1 && m.opened }},
		{"the wheel over the list", []tea.Msg{tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown}}, []action{look{}}, func(m *model) bool { return m.selected == "bob" }},
		{"while typing", []tea.Msg{press("enter"), at(5, 3)}, []action{attach{"amy", 21, 80}, look{}}, func(m *model) bool { return m.selected == "amy" }},
		{"the strip of a large screen", []tea.Msg{tea.WindowSizeMsg{Width: 200, Height: 50}, at(60, 44)}, nil, func(m *model) bool { return m.panel == tasksView }},
	} {
		m := shownModel()
		var got []action
		for _, msg := range tc.do {
			got = append(got, m.update(msg)...)
		}
		if !reflect.DeepEqual(got, tc.want) || tc.then != nil && !tc.then(m) {
			t.Errorf("%s: %#v, want %#v; %+v", tc.name, got, tc.want, m)
		}
	}
}

// A name has its own colour, a state the state's, also on the selected line; a worktree
// shows its branch and how much changed.
func TestXD07_XD09_ColoursAndWorktrees(t *testing.T) {
	m := newModel("alpha")
	p := waitingSample()
	p.Asks = nil
	m.update(p)
	m.update(tea.WindowSizeMsg{Width: 119, Height: 40})
	presses(m, "down")
	out := m.draw()
	for _, want := range []string{inColor(fit("amy", 11), "red"), inColor(fit("active", 8), "green"), inColor(fit("waiting", 8), "yellow"), "leadlight/alpha/bob +12 −3"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%q", want, out)
		}
	}
}

// Of several teams one is chosen.
func TestXD07_Chooser(t *testing.T) {
	list := []api.TeamSummary{{Name: "alpha", Teammates: 3}, {Name: "beta", Description: "docs\x1b[2J"}, {Name: "gamma-with-a-name-of-43-cells-all-to-be-seen"}}
	for _, tc := range []struct {
		do   []tea.Msg
		want string
	}{
		{[]tea.Msg{press("down"), press("enter")}, "beta"},
		{[]tea.Msg{press("up"), press("enter")}, "alpha"},
		{[]tea.Msg{press("down"), press("q")}, ""},
		{[]tea.Msg{tea.MouseClickMsg{X: 3, Y: 4, Button: tea.MouseLeft}}, list[2].Name},
	} {
		c := &chooser{teams: list, width: 80, height: 24}
		for _, msg := range tc.do {
			_, _ = c.Update(msg)
		}
		if c.chosen != tc.want {
			t.Errorf("%v: %q, want %q", tc.do, c.chosen, tc.want)
		}
		if text := c.View().Content; strings.Contains(text, "\x1b[2J") || !strings.Contains(text, "3 teams: which one?") || !strings.Contains(text, list[2].Name) {
			t.Errorf("%q", text)
		}
	}
}

// TestXD07_ADialogIsAnsweredInItsOwnWay: yes is yes, also where Enter alone would be no.
func TestXD07_ADialogIsAnsweredInItsOwnWay(t *testing.T) {
	for _, tc := range []struct {
		question string
		lines    bool
		yes, no  string
	}{
		{"Trust this folder?", false, "Enter", "Escape"},
		{"Run it? [yes | no]", false, "Enter", "Escape"}, // a menu and its choices
		{"Run make? [y/N]", true, "y Enter", "n Enter"},
		{"Run make? (Y/n)", false, "y", "n"},
		{"Continue connecting (yes/no)?", true, "y e s Enter", "n o Enter"},
		{"Overwrite? yes/no", false, "y", "n"},
	} {
		if yes, no := dialogKeys(tc.question, tc.lines); yes != tc.yes || no != tc.no {
			t.Errorf("%s: %q and %q", tc.question, yes, no)
		}
	}
	m, p := newModel("alpha"), waitingSample()
	p.Asks = dialogs(teams.Snapshot{Members: []api.Member{{Name: "bob", State: api.StateWaiting, Reason: "its input holds a text", AtDialog: true, Unsubmitted: true}}}, nil)
	m.update(p)
	for _, key := range []string{"y", "n"} { // Enter would submit a line that nobody has read here
		if got := presses(m, key); len(got) != 0 || !strings.Contains(m.note, "nothing is pressed: bob waits: its input holds a text") {
			t.Errorf("%s does %#v and says %q", key, got, m.note)
		}
	}
}
