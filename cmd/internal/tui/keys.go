package tui

import (
	"slices"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/teams/api"
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
		{[]string{"up", "k"}, "up in the list (down, j: down): teammates, or lines", step(-1)},
		{[]string{"down", "j"}, "", step(1)},
		{[]string{"shift+up"}, "the teammate above (shift+down: below)", func(m *model) []action { return m.move(-1) }},
		{[]string{"shift+down"}, "", func(m *model) []action { return m.move(1) }},
		{[]string{"enter"}, "open; a pane: type to it, ctrl+\\ or F10 leaves", (*model).enterOrOpen},
		{[]string{"esc"}, "back to the list, and to the pane", (*model).back},
		{[]string{"a"}, "what waits for an answer", show(requestsView)},
		{[]string{"ctrl+t"}, "tasks, and what they wait for", show(tasksView)},
		{[]string{"i"}, "messages", show(messagesView)},
		{[]string{"e"}, "what has happened since the dashboard began", show(eventsView)},
		{[]string{"tab"}, "the next view", (*model).next},
		{[]string{"shift+tab"}, "delegate mode on or off: the lead only coordinates", func(m *model) []action { return []action{setMode{!m.Delegate}} }},
		{[]string{"/"}, "show only some teammates, by name, state or profile", func(m *model) []action {
			m.mode, m.input = filtering, m.filter
			return nil
		}},
		{[]string{"m"}, "message to the teammate, or an answer to a message", (*model).message},
		{[]string{"d"}, "the task is done (x: failed, o: back to the list)", onTask(func(_ *model, t api.Task) []action { return []action{taskDone{t.ID}} })},
		{[]string{"x"}, "", onTask(func(m *model, t api.Task) []action {
			return m.write("why did task "+plain(t.ID)+" fail? ", func(reason string) action { return taskFail{t.ID, reason} })
		})},
		{[]string{"o"}, "", onTask(func(_ *model, t api.Task) []action { return []action{taskRelease{t.ID}} })},
		{[]string{"s"}, "stop the teammate", onSelected(func(m *model) []action { return m.confirm(stop{m.selected}, "stop "+m.selected+"?") })},
		{[]string{"r"}, "restart the teammate", onSelected(func(m *model) []action { return m.confirm(restart{m.selected}, "restart "+m.selected+"?") })},
		{[]string{"f"}, "go to its real pane; where it has none: ctrl-\\ d leaves", onSelected(func(m *model) []action { return []action{focus{m.selected}} })},
		{[]string{"y"}, "yes to what is asked below (n: no)", func(m *model) []action { return m.answer(true) }},
		{[]string{"n"}, "", func(m *model) []action { return m.answer(false) }},
		{[]string{"pgup"}, "older lines (pgdown: newer)", func(m *model) []action { m.scrollBy(m.page()); return nil }},
		{[]string{"pgdown"}, "", func(m *model) []action { m.scrollBy(-m.page()); return nil }},
		{[]string{"?"}, "this help", show(helpView)},
		{[]string{"q", "ctrl+c"}, "leave; the team goes on (ctrl+z: to the shell, until fg)", func(*model) []action { return []action{quit{}} }},
		{[]string{"ctrl+z"}, "", func(*model) []action { return []action{suspend{}} }},
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
	case ended:
		return m.afterTyping(k.String())
	case confirming:
		m.mode = browsing
		if k.String() == "y" {
			return []action{m.asked}
		}
		return nil
	}
	m.covered, m.note = m.note != "", ""
	for _, b := range bindings() {
		if slices.Contains(b.keys, k.String()) {
			return b.do(m)
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
		m.note = "nobody waits for an answer"
		return nil
	}
	if a.Dialog && a.YesKeys == "" {
		m.note = "nothing is pressed: " + a.line()
		return nil
	}
	if m.panel != requestsView && m.covered && m.read != a { // now it is to be seen
		return nil
	}
	if m.now.Sub(m.fresh) < readTime { // the key may have been meant for the one before
		m.fresh, m.read, m.note = time.Time{}, a, "another question has come up: "+a.line()+" — "+a.keys()
		return nil
	}
	return []action{reply{a, yes}}
}

func (m *model) confirm(a action, question string) []action {
	m.mode, m.asked, m.prompt = confirming, a, question+" (y: yes, any other key: no)"
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

// step moves through the list that is shown, or through the teammates.
func step(by int) func(*model) []action {
	return func(m *model) []action {
		switch {
		case m.opened:
			m.scrollBy(-by)
		case m.items() > 0:
			m.point(m.at + by)
		default:
			return m.move(by)
		}
		return nil
	}
}

// enterOrOpen opens the item at the cursor, or types into the selected teammate.
func (m *model) enterOrOpen() []action {
	if m.items() == 0 {
		return m.enter()
	}
	m.open()
	return nil
}

func (m *model) back() []action {
	if m.opened {
		m.shut()
		return nil
	}
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
	m.panel, m.first, m.scroll, m.opened, m.at = p, false, 0, false, 0
	switch p {
	case helpView:
		m.scrollBy(len(m.help()))
	case messagesView: // the newest
		m.point(len(m.Letters) - 1)
	case requestsView, tasksView:
		m.point(0)
	}
}

// scrollBy goes that many lines back, as far as there are any.
func (m *model) scrollBy(lines int) {
	w, rows := m.mainSize()
	m.scroll = max(0, min(m.scroll+lines, len(m.listed(w))-rows))
	if n := m.items(); n > 0 && !m.opened { // the cursor stays on the screen
		first := firstLine(n, rows, m.scroll)
		m.at = max(first, min(m.at, first+rows-1, n-1))
	}
}

// typed sends a key to the teammate: every one, Escape too, but those that leave it and
// those that go to another one.
func (m *model) typed(k tea.KeyPressMsg) []action {
	switch k.String() {
	case "ctrl+\\", "f10":
		m.mode = browsing
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

// afterTyping takes no key but those that leave, until one of them comes: others were meant
// for the teammate, and would stop one here, or answer a question.
func (m *model) afterTyping(key string) []action {
	by, leaves := map[string]int{"ctrl+\\": 0, "f10": 0, "esc": 0, "shift+up": -1, "shift+down": 1}[key]
	if !leaves {
		return nil
	}
	m.mode, m.note = browsing, ""
	return m.move(by)
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
	case "esc", "ctrl+c":
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
		return []action{m.written(m.input)}
	}
	return nil
}
