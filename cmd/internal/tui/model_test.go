package tui

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// press is a key by its name.
func press(name string) tea.KeyPressMsg {
	named := map[string]tea.Key{
		"shift+up": {Code: tea.KeyUp, Mod: tea.ModShift}, "shift+down": {Code: tea.KeyDown, Mod: tea.ModShift},
		"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
		"ctrl+t": {Code: 't', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+z": {Code: 'z', Mod: tea.ModCtrl}, "tab": {Code: tea.KeyTab}, "f10": {Code: tea.KeyF10}, "ctrl+\\": {Code: '\\', Mod: tea.ModCtrl},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "backspace": {Code: tea.KeyBackspace},
	}
	if k, ok := named[name]; ok {
		return tea.KeyPressMsg(k)
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// presses types keys and returns what they ask for.
func presses(m *model, keys ...string) (acts []action) {
	for _, k := range keys {
		acts = append(acts, m.update(press(k))...)
	}
	return acts
}

func sample() picture {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	unread, last := 2, api.Time(at.Add(-90*time.Second))
	return picture{At: at, Snapshot: teams.Snapshot{
		Members: []api.Member{
			{Name: "amy", State: api.StateActive, Kind: "interactive", Profile: "claude", Color: "red", Unread: &unread, Task: "1", LastActivityAt: &last, TmuxPaneID: "%5"},
			{Name: "bob", State: api.StateIdle, Kind: "worker", Profile: "shell", Color: "blue"},
			{Name: "研究員", State: api.StateFailed, Kind: "plain", Profile: "exec", Reason: "exited with 3"},
		},
		Tasks: []api.Task{
			{ID: "1", Subject: "Read", Status: "in_progress", Owner: "amy"},
			{ID: "2", Subject: "Write", Status: "blocked", BlockedBy: []string{"1"}},
		},
	}, Letters: []letter{{ID: "a", From: "amy", To: "lead", Text: "hi\x1b[2J\nthere", Type: "message", At: at}}}
}

func shownModel() *model {
	m := newModel("alpha")
	m.update(sample())
	return m
}

func TestM13_KeysOfTheDashboard(t *testing.T) {
	for _, tc := range []struct {
		keys []string
		want []action
		then func(*model) bool
	}{
		{[]string{"shift+down"}, []action{look{}}, func(m *model) bool { return m.selected == "bob" }},
		{[]string{"shift+down", "shift+down", "shift+down", "shift+up"}, []action{look{}, look{}, look{}}, func(m *model) bool { return m.selected == "bob" }},
		{[]string{"shift+up"}, nil, func(m *model) bool { return m.selected == "amy" }},
		{[]string{"enter"}, []action{attach{"amy", 21, 80}, look{}}, func(m *model) bool { return m.mode == typing }},
		{[]string{"enter", "q", "ctrl+t"}, []action{attach{"amy", 21, 80}, look{}, keystrokes{[]byte("q")}, keystrokes{[]byte{0x14}}}, func(m *model) bool { return m.mode == typing }},
		{[]string{"enter", "esc"}, []action{attach{"amy", 21, 80}, look{}, keystrokes{[]byte{0x1b}}}, func(m *model) bool { return m.mode == typing }},
		{[]string{"enter", "ctrl+\\"}, []action{attach{"amy", 21, 80}, look{}, detach{}}, func(m *model) bool { return m.mode == browsing }},
		{[]string{"down", "enter", "f10"}, []action{look{}, attach{"bob", 21, 80}, look{}, detach{}}, func(m *model) bool { return m.mode == browsing }},
		{[]string{"enter", "shift+down"}, []action{attach{"amy", 21, 80}, look{}, detach{}, attach{"bob", 21, 80}, look{}}, nil},
		{[]string{"down", "down", "enter"}, []action{look{}, look{}}, func(m *model) bool { return strings.Contains(m.note, "r restarts it") }},
		{[]string{"ctrl+t"}, nil, func(m *model) bool { return m.panel == tasksView }},
		{[]string{"ctrl+t", "ctrl+t"}, nil, func(m *model) bool { return m.panel == paneView }},
		{[]string{"tab", "tab", "tab"}, nil, func(m *model) bool { return m.panel == messagesView }},
		{[]string{"?", "esc"}, nil, func(m *model) bool { return m.panel == paneView }},
		{[]string{"/", "B", "o", "enter"}, []action{look{}}, func(m *model) bool { return m.selected == "bob" && len(m.shown()) == 1 }},
		{[]string{"/", "z", "enter", "esc"}, nil, func(m *model) bool { return m.filter == "" && len(m.shown()) == 3 }},
		{[]string{"m", "h", "研", "backspace", "i", "enter"}, []action{send{"amy", "hi"}}, func(m *model) bool { return m.mode == browsing }},
		{[]string{"m", "h", "esc"}, nil, func(m *model) bool { return m.mode == browsing }},
		{[]string{"s", "y"}, []action{stop{"amy"}}, nil},
		{[]string{"m", "h", "ctrl+c"}, nil, func(m *model) bool { return m.mode == browsing }},
		{[]string{"ctrl+z"}, []action{suspend{}}, nil},
		{[]string{"s", "n"}, nil, func(m *model) bool { return m.mode == browsing }},
		{[]string{"r", "y"}, []action{restart{"amy"}}, nil},
		{[]string{"f"}, []action{focus{"amy"}}, nil},
		{[]string{"q"}, []action{quit{}}, nil},
		{[]string{"ctrl+c"}, []action{quit{}}, nil},
	} {
		m := shownModel()
		if got := presses(m, tc.keys...); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%v: %#v, want %#v", tc.keys, got, tc.want)
		}
		if tc.then != nil && !tc.then(m) {
			t.Errorf("%v: %+v", tc.keys, m)
		}
	}
}

func TestM14_DelegateModeByAKey(t *testing.T) {
	m := shownModel()
	if got := presses(m, "shift+tab"); !reflect.DeepEqual(got, []action{setMode{true}}) {
		t.Errorf("%#v", got)
	}
	p := sample()
	p.Delegate = true
	m.update(p)
	if !strings.Contains(m.draw(), "delegate mode") {
		t.Error("the mode is not shown")
	}
	if got := presses(m, "shift+tab"); !reflect.DeepEqual(got, []action{setMode{false}}) {
		t.Errorf("%#v", got)
	}
}

func TestAnswersToPlansAndTools(t *testing.T) {
	m := shownModel()
	if got := presses(m, "y", "n"); got != nil || m.note == "" {
		t.Errorf("%#v, %q", got, m.note)
	}
	plan, tool := ask{ID: "p1", From: "bob", Text: "is this plan good? 1. look", Plan: true}, ask{ID: "t1", From: "amy", Text: "may it use Bash?"}
	p := sample()
	p.Asks = []ask{plan, tool}
	m.update(p)
	m.note = ""
	if got := m.draw(); !strings.Contains(got, "amy asks: may it use Bash?") {
		t.Errorf("%q", got)
	}
	if got := presses(m, "y", "down", "n"); !reflect.DeepEqual(got, []action{reply{tool, true}, look{}, reply{plan, false}}) {
		t.Errorf("%#v", got)
	}
}

// A key that was meant for one question does not answer another, which has just come in
// its place.
func TestAnotherQuestionIsReadFirst(t *testing.T) {
	m := shownModel()
	one, two := ask{ID: "t1", From: "amy", Text: "may it use Read?"}, ask{ID: "t2", From: "amy", Text: "may it use Bash?"}
	p := sample()
	p.Asks = []ask{one, two}
	m.update(p)
	p.Asks, p.At = []ask{two}, p.At.Add(time.Second)
	m.update(p)
	if got := presses(m, "y"); got != nil || !strings.Contains(m.draw(), "another question has come up") {
		t.Errorf("%#v\n%s", got, m.draw())
	}
	if got := presses(m, "y"); !reflect.DeepEqual(got, []action{reply{two, true}}) {
		t.Errorf("%#v", got)
	}
	p.Asks, p.At = []ask{one}, p.At.Add(time.Second)
	m.update(p)
	m.update(paneText{Name: "amy", At: p.At.Add(2 * time.Second)})
	if got := presses(m, "n"); !reflect.DeepEqual(got, []action{reply{one, false}}) {
		t.Errorf("%#v", got)
	}
}

// What changes between two pictures is told, and who waits or fails calls.
func TestEventsAndCalls(t *testing.T) {
	m := shownModel()
	p := sample()
	p.Members[0].State, p.Members[0].Reason = api.StateWaiting, "may it write?"
	p.Members = p.Members[:2]
	p.Tasks[1].Status = "completed"
	p.Tasks = append(p.Tasks, api.Task{ID: "3", Subject: "More", Status: "pending"})
	p.Letters = append(p.Letters, letter{ID: "b", From: "bob", To: "lead"})
	got := m.update(p)
	if !reflect.DeepEqual(got, []action{call{"amy is waiting: may it write?"}}) {
		t.Errorf("%#v", got)
	}
	var told []string
	for _, e := range m.events {
		told = append(told, e.Text)
	}
	want := []string{"task 2 is completed", "task 3: More", "mail from bob to lead", "amy is waiting: may it write?"}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
	if n := len(m.update(p)); n != 0 {
		t.Error("the same picture says something new")
	}
}

// Whatever is on the screen, it has its size, and nothing of others moves the cursor.
func TestTheScreenHasItsSize(t *testing.T) {
	hostile := "\x1b[31mred 研究\x1b[0m\x1b[2J\x1b]0;title\x07\x1bc\ttab\x9b31m\r" + strings.Repeat("研", 300)
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 10}, {133, 41}, {81, 25}} {
		for p := paneView; p <= helpView; p++ {
			for _, mode := range []mode{browsing, typing, filtering, writing} {
				m := shownModel()
				m.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				m.Asks = []ask{{ID: "1", From: hostile, Text: hostile}}
				m.panel, m.mode, m.note, m.input, m.prompt = p, mode, hostile, hostile, "to amy: "
				m.opened = m.items() > 0 && mode == browsing
				m.note = plain(hostile)
				m.update(paneText{Name: "amy", Text: strings.Repeat(hostile+"\n", 60)})
				lines := strings.Split(m.draw(), "\n")
				if len(lines) != size[1] {
					t.Fatalf("%v panel %d mode %d: %d lines", size, p, mode, len(lines))
				}
				for i, l := range lines {
					if w := ansi.StringWidth(l); w > size[0] || w < size[0] && i < size[1]-1 {
						t.Errorf("%v panel %d mode %d line %d: %d cells: %q", size, p, mode, i, w, l)
					}
					if rest := strings.Map(func(r rune) rune {
						if r < ' ' && r != 0x1b || r >= 0x7f && r < 0xa0 {
							return 'X'
						}
						return -1
					}, l); rest != "" || strings.Contains(l, "title") {
						t.Errorf("%v panel %d line %d lets through %q", size, p, i, l)
					}
				}
			}
		}
	}
	m := newModel("x")
	m.update(tea.WindowSizeMsg{Width: 5, Height: 3})
	if m.draw() != "5x3 is too small" {
		t.Errorf("%q", m.draw())
	}
}

// Help is whole at 80 columns, and can be leafed through from its beginning where there
// is less room; lists are leafed through no further than there is something.
func TestHelpAndLeafing(t *testing.T) {
	m := shownModel()
	presses(m, "?")
	if got := m.draw(); strings.Contains(got, "…") || !strings.Contains(got, "leave; the team goes on") || !strings.Contains(got, " Keys") {
		t.Errorf("%s", got)
	}
	m.update(tea.WindowSizeMsg{Width: 44, Height: 10})
	presses(m, "esc", "?")
	m.update(tea.KeyPressMsg{Code: tea.KeyPgUp})
	if got := m.draw(); !strings.Contains(got, " Keys") {
		t.Errorf("not the beginning:\n%s", got)
	}
	for range 100 {
		m.update(tea.KeyPressMsg{Code: tea.KeyPgDown})
	}
	if got := m.draw(); !strings.Contains(got, "leave; the team goes") || !strings.Contains(got, "until fg)") {
		t.Errorf("not the end:\n%s", got)
	}
	m.update(tea.WindowSizeMsg{Width: 80, Height: 24})
	presses(m, "esc", "i")
	p := sample()
	for i := range 60 {
		p.Letters = append(p.Letters, letter{ID: fmt.Sprint(i), Text: fmt.Sprintf("letter %d.", i)})
	}
	m.update(p)
	for range 100 {
		m.update(tea.KeyPressMsg{Code: tea.KeyPgUp})
	}
	if got := m.draw(); !strings.Contains(got, "hi there") {
		t.Errorf("not the oldest:\n%s", got)
	}
	m.update(tea.KeyPressMsg{Code: tea.KeyPgDown})
	if got := m.draw(); strings.Contains(got, "hi there") || strings.Contains(got, "letter 59.") {
		t.Errorf("not one page newer:\n%s", got)
	}
}

// Nothing of the dashboard itself has a background of its own, or black, white or grey
// letters: it is as legible on a light terminal as on a dark one.
func TestLightAndDark(t *testing.T) {
	both := []string{"0", "1", "2", "7", "22", "27", "31", "32", "33", "34", "35", "36", "38;5;141", "38;5;208", ""}
	p := sample()
	p.Members = nil
	for i, color := range []string{"red", "green", "yellow", "blue", "magenta", "pink", "cyan", "purple", "orange", "white", "black", ""} {
		for _, state := range []string{api.StateActive, api.StateIdle, api.StateWaiting, api.StateFailed, api.StateStopped, api.StateUnknown} {
			p.Members = append(p.Members, api.Member{Name: fmt.Sprint(state, i), State: state, Color: color})
		}
	}
	for _, status := range []string{"completed", "failed", "blocked", "pending"} {
		p.Tasks = append(p.Tasks, api.Task{ID: status, Subject: "x", Status: status, Owner: "o", Failure: "why"})
	}
	sgr := regexp.MustCompile("\x1b\\[([0-9;:]*)m")
	seen := map[string]bool{}
	m := newModel("alpha")
	m.update(tea.WindowSizeMsg{Width: 120, Height: 90})
	m.update(p)
	for m.panel = paneView; m.panel <= helpView; m.panel++ {
		for _, set := range sgr.FindAllStringSubmatch(m.draw(), -1) {
			seen[set[1]] = true
			if rest := strings.TrimPrefix(set[1], "1;"); !slices.Contains(both, rest) {
				t.Errorf("panel %d sets %q", m.panel, set[1])
			}
		}
	}
	if !seen["31"] || !seen["7"] || !seen["2"] {
		t.Errorf("where are the colours? %v", seen)
	}
}

func TestPaneShowsColoursAndItsLowerPart(t *testing.T) {
	m := shownModel()
	m.update(paneText{Name: "amy", Text: "first\n" + strings.Repeat("x\n", 30) + "\x1b[1;38;5;9mlast 研究\x1b[0m\n"})
	out := m.draw()
	if strings.Contains(out, "first") || !strings.Contains(out, "\x1b[1;38;5;9mlast 研究") {
		t.Errorf("%q", out)
	}
	m.update(paneText{Name: "bob", Text: "not the selected one"})
	if strings.Contains(m.draw(), "not the selected one") {
		t.Error("another one's pane is shown")
	}
}

func FuzzColored(f *testing.F) {
	for _, s := range []string{"\x1b[31mx\x1b[m", "\x1b[2J", "\x1b]8;;http://x\x1b\\y", "\x1b", "\x1b[", "研\x9b31m", "\x1b[38:2::1:2:3mx", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(s, "\n", " ")
		out := colored(s)
		for rest := out; rest != ""; {
			if found := sequence(rest); found != "" {
				if !strings.HasPrefix(found, "\x1b[") || !strings.HasSuffix(found, "m") {
					t.Fatalf("%q lets %q through", s, found)
				}
				rest = rest[len(found):]
				continue
			}
			if rest[0] < ' ' || rest[0] == 0x7f {
				t.Fatalf("%q lets %q through", s, rest[:1])
			}
			rest = rest[1:]
		}
		if w := ansi.StringWidth(crop(out, 20)); w != 20 {
			t.Fatalf("%q is %d cells wide", crop(out, 20), w)
		}
		plain(s)
	})
}

func TestEncode(t *testing.T) {
	for want, k := range map[string]tea.Key{
		"a": {Code: 'a', Text: "a"}, "研": {Code: '研', Text: "研"}, "\x03": {Code: 'c', Mod: tea.ModCtrl}, "\x1d": {Code: ']', Mod: tea.ModCtrl},
		"\x1b[A": {Code: tea.KeyUp}, "\x1b[Z": {Code: tea.KeyTab, Mod: tea.ModShift}, "\x1bb": {Code: 'b', Mod: tea.ModAlt}, "\x7f": {Code: tea.KeyBackspace},
		"\x1b[1;5C": {Code: tea.KeyRight, Mod: tea.ModCtrl}, "\x1b[5;2~": {Code: tea.KeyPgUp, Mod: tea.ModShift}, "\x1b[1;7P": {Code: tea.KeyF1, Mod: tea.ModAlt | tea.ModCtrl},
		"\x1b\r": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "\r": {Code: tea.KeyEnter}, "\x00": {Code: ' ', Mod: tea.ModCtrl}, "": {Code: tea.KeyF20},
	} {
		if got := string(encode(k)); got != want {
			t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	if got := encode(tea.Key{Code: 'k', Mod: tea.ModSuper}); got != nil {
		t.Errorf("super+k, which is no text, is typed as %q", got)
	}
}

// What is pasted is one paste for a program that knows them, and lines else; cursor keys
// are as the program has asked for them.
func TestPastesAndModes(t *testing.T) {
	m := shownModel()
	presses(m, "enter")
	if got := m.update(tea.PasteMsg{Content: "one\ntwo"}); !reflect.DeepEqual(got, []action{pasted{"one\ntwo"}}) {
		t.Errorf("%#v", got)
	}
	var modes keyModes
	for _, c := range []struct{ wrote, up, paste string }{
		{"", "\x1b[A", "one\rtwo\r[201~three"},
		{"x\x1b[?2004", "\x1b[A", "one\rtwo\r[201~three"},
		{"h\x1b[?1hmore", "\x1bOA", "\x1b[200~one\rtwo\r[201~three\x1b[201~"},
		{"\x1b[?1049h\x1b[?2004l", "\x1bOA", "one\rtwo\r[201~three"},
		{"\x1b[?1h\x1b[?1l", "\x1b[A", "one\rtwo\r[201~three"},
	} {
		for _, b := range []byte(c.wrote) { // in the smallest pieces
			if n, err := modes.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if up, text := string(modes.keys([]byte("\x1b[A"))), string(modes.paste("one\r\ntwo\n\x1b[201~three")); up != c.up || text != c.paste {
			t.Errorf("after %q: %q and %q, want %q and %q", c.wrote, up, text, c.up, c.paste)
		}
	}
}
