package tui

import (
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/panes/profiles"
)

// binding is one key while browsing.
type binding struct {
	keys []string
	help string // "" if it stands with another one
	do   func(*model) []action
}

// bindings is the table of keys, in the order of the help.
func bindings() []binding {
	show := func(p panel) func(*model) []action {
		return func(m *model) []action {
			if m.panel == p {
				p = paneView
			}
			m.turn(p)
			return nil
		}
	}
	return []binding{
		{[]string{"shift+up", "up", "k"}, "select the teammate above", func(m *model) []action { return m.move(-1) }},
		{[]string{"shift+down", "down", "j"}, "select the teammate below", func(m *model) []action { return m.move(1) }},
		{[]string{"enter"}, "view the teammate and type to it; escape comes back", (*model).enter},
		{[]string{"esc"}, "back to the pane", (*model).back},
		{[]string{"ctrl+t"}, "tasks, and what they wait for", show(tasksView)},
		{[]string{"i"}, "messages", show(messagesView)},
		{[]string{"e"}, "what has happened since the dashboard began", show(eventsView)},
		{[]string{"tab"}, "the next view", (*model).next},
		{[]string{"shift+tab"}, "delegate mode on or off: the lead only coordinates", func(m *model) []action { return []action{setMode{!m.delegate}} }},
		{[]string{"/"}, "show only some teammates, by name, state or profile", func(m *model) []action {
			m.mode, m.input = filtering, m.filter
			return nil
		}},
		{[]string{"m"}, "message to the teammate", onSelected(func(m *model) []action { m.mode, m.input = writing, ""; return nil })},
		{[]string{"s"}, "stop the teammate", onSelected(func(m *model) []action { return m.confirm(stop{m.selected}, "stop "+m.selected+"?") })},
		{[]string{"r"}, "restart the teammate", onSelected(func(m *model) []action { return m.confirm(restart{m.selected}, "restart "+m.selected+"?") })},
		{[]string{"f"}, "go to its real pane; where it has none: ctrl-\\ d leaves", onSelected(func(m *model) []action { return []action{focus{m.selected}} })},
		{[]string{"y"}, "yes to the plan, or the tool, that is asked for below", func(m *model) []action { return m.answer(true) }},
		{[]string{"n"}, "no to it", func(m *model) []action { return m.answer(false) }},
		{[]string{"pgup"}, "older lines", func(m *model) []action { m.scrollBy(m.page()); return nil }},
		{[]string{"pgdown"}, "newer lines", func(m *model) []action { m.scrollBy(-m.page()); return nil }},
		{[]string{"?"}, "this help", show(helpView)},
		{[]string{"q", "ctrl+c"}, "leave; the team goes on", func(*model) []action { return []action{quit{}} }},
	}
}

// onSelected does nothing without a selected teammate.
func onSelected(f func(*model) []action) func(*model) []action {
	return func(m *model) []action {
		if m.member(m.selected) == nil {
			m.note = "no teammate is selected"
			return nil
		}
		return f(m)
	}
}

// key takes a key where the mode wants it.
func (m *model) key(k tea.KeyPressMsg) []action {
	switch m.mode {
	case typing:
		return m.typed(k)
	case filtering, writing:
		return m.edit(k)
	case confirming:
		m.mode, m.note = browsing, ""
		if k.String() == "y" {
			return []action{m.asked}
		}
		return nil
	}
	m.note = ""
	for _, b := range bindings() {
		for _, name := range b.keys {
			if name == k.String() {
				return b.do(m)
			}
		}
	}
	return nil
}

// readTime is how long a question stands before a key answers it, if it came in the place
// of another one.
const readTime = time.Second

func (m *model) answer(yes bool) []action {
	a, ok := m.asking()
	if !ok {
		m.note = "nobody asks for a plan or the use of a tool"
		return nil
	}
	if m.now.Sub(m.fresh) < readTime { // the key may have been meant for the one before
		m.fresh, m.note = time.Time{}, "another question has come up: read it, and answer again"
		return nil
	}
	return []action{reply{a, yes}}
}

func (m *model) confirm(a action, question string) []action {
	m.mode, m.asked, m.note = confirming, a, question+" (y: yes, any other key: no)"
	return nil
}

// enter types into the selected teammate, if it runs.
func (m *model) enter() []action {
	x := m.member(m.selected)
	switch {
	case x == nil:
		return nil
	case !x.Live():
		m.note = x.Name + " is " + x.State + ": r restarts it"
		return nil
	case x.Kind == "":
		m.note = x.Name + " was not started by leadlight: f goes to its pane"
		return nil
	}
	m.panel, m.mode, m.note = paneView, typing, ""
	return []action{m.attachment(), look{}}
}

func (m *model) back() []action {
	m.turn(paneView)
	m.filter = ""
	return nil
}

func (m *model) next() []action {
	m.turn((m.panel + 1) % helpView)
	return nil
}

// turn shows a panel: the newest of a list, the beginning of the help.
func (m *model) turn(p panel) {
	m.panel, m.scroll = p, 0
	if p == helpView {
		m.scrollBy(len(m.help()))
	}
}

// scrollBy goes that many lines back, as far as there are any.
func (m *model) scrollBy(lines int) {
	w, rows := m.mainSize()
	m.scroll = max(0, min(m.scroll+lines, len(m.listed(w))-rows))
}

// typed sends a key to the teammate. Escape comes back, and interrupts the current turn
// of an agent that has turns.
func (m *model) typed(k tea.KeyPressMsg) []action {
	switch k.String() {
	case "esc":
		m.mode = browsing
		if x := m.member(m.selected); x != nil && (x.Kind == profiles.Interactive || x.Kind == profiles.Native) {
			return []action{keystrokes{[]byte{0x1b}}, detach{}}
		}
		return []action{detach{}}
	case "shift+up":
		return m.move(-1)
	case "shift+down":
		return m.move(1)
	}
	if b := encode(tea.Key(k)); len(b) > 0 {
		return []action{keystrokes{b}}
	}
	return nil
}

// paste puts text where keys go.
func (m *model) paste(text string) []action {
	switch m.mode {
	case typing:
		return []action{pasted{text}}
	case filtering, writing:
		m.input += plain(text)
	}
	return nil
}

// edit changes the line at the bottom.
func (m *model) edit(k tea.KeyPressMsg) []action {
	switch k.String() {
	case "esc":
		m.mode = browsing
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.input)
		m.input = m.input[:len(m.input)-n]
	case "ctrl+u":
		m.input = ""
	case "enter":
		return m.entered()
	default:
		m.input += k.Text
	}
	if m.mode == filtering {
		m.filter = m.input
		return m.move(0)
	}
	return nil
}

// entered takes the line at the bottom.
func (m *model) entered() []action {
	was := m.mode
	m.mode = browsing
	if was == writing && m.input != "" {
		return []action{send{m.selected, m.input}}
	}
	return nil
}
