package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// items is how many things the chosen panel lists that can be opened, 0 if none can.
func (m *model) items() int {
	switch m.panel {
	case requestsView:
		return len(m.Asks)
	case tasksView:
		return len(m.Tasks)
	case messagesView:
		return len(m.Letters)
	}
	return 0
}

// point puts the cursor on an item and scrolls so far that it is seen.
func (m *model) point(at int) {
	n := m.items()
	m.at = max(0, min(at, n-1))
	_, rows := m.mainSize()
	first := firstLine(n, rows, m.scroll)
	switch {
	case m.at < first:
		m.scroll = n - rows - m.at
	case m.at >= first+rows:
		m.scroll = n - 1 - m.at
	}
	m.scroll = max(0, min(m.scroll, n-rows))
}

// showCursor keeps the cursor on the screen after the list or the screen has changed.
func (m *model) showCursor() {
	if m.items() > 0 && !m.opened {
		m.point(m.at)
	}
}

// open shows all of the item at the cursor, from its beginning.
func (m *model) open() {
	m.opened, m.scroll = true, 0
	w, _ := m.mainSize()
	m.scrollBy(len(m.detail(w)))
}

// shut goes back to the list.
func (m *model) shut() {
	m.opened, m.scroll = false, 0
	m.point(m.at)
}

// detail is the opened item, and last what can be done about it.
func (m *model) detail(w int) []string {
	var head, text, keys string
	switch m.panel {
	case requestsView:
		a := m.Asks[m.at]
		head, text, keys = "asked by "+plain(a.From), a.Text, a.keys()
	case tasksView:
		t := m.Tasks[m.at]
		head, text, keys = taskHead(t), taskText(t), "d: done · x: failed · o: back to the list, without an owner"
	case messagesView:
		l := m.Letters[m.at]
		head = fmt.Sprintf("%s → %s, %s", plain(l.From), plain(l.To), l.At.Local().Format("2 Jan 15:04:05"))
		text, keys = cmp.Or(l.Body, l.Text), "m: answer"
	}
	out := []string{bold(fit(" "+head, w)), ""}
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range wrap(plain(line), w-2) {
			out = append(out, " "+part)
		}
	}
	out = append(out, "")
	for _, part := range wrap(keys+" · Esc: back", w-2) {
		out = append(out, faint(" "+part))
	}
	return out
}

func taskHead(t api.Task) string {
	head := fmt.Sprintf("task %s: %s · %s", plain(t.ID), plain(t.Subject), t.Status)
	if t.Owner != "" {
		head += " · " + plain(t.Owner)
	}
	return head
}

func taskText(t api.Task) string {
	text := t.Description
	for _, part := range []struct{ name, text string }{
		{"blocked by ", strings.Join(t.BlockedBy, ", ")}, {"blocks ", strings.Join(t.Blocks, ", ")},
		{"result: ", t.Result}, {"failed: ", t.Failure},
	} {
		if part.text != "" {
			text += "\n\n" + part.name + part.text
		}
	}
	return strings.Trim(text, "\n")
}

// keys are those that answer.
func (a ask) keys() string {
	switch {
	case a.Dialog && a.YesKeys == "":
		return "y and n press nothing there"
	case a.Dialog:
		return "y: presses " + a.YesKeys + " there, n: presses " + a.NoKeys
	}
	return "y: yes, n: no"
}

// line is the question as one line.
func (a ask) line() string {
	if a.Dialog {
		return plain(a.From) + " waits: " + plain(a.Text)
	}
	return plain(a.From) + " asks: " + plain(a.Text)
}

// requestLines are what waits for a person.
func (m *model) requestLines() []string {
	if len(m.Asks) == 0 {
		return []string{faint(" nobody waits for an answer")}
	}
	var out []string
	for _, a := range m.Asks {
		out = append(out, " "+inColor("?", "yellow")+" "+a.line())
	}
	return out
}

// onTask does something about the task at the cursor.
func onTask(f func(*model, api.Task) []action) func(*model) []action {
	return func(m *model) []action {
		if m.panel != tasksView || len(m.Tasks) == 0 {
			m.note = "Ctrl+T shows the tasks; choose one there"
			return nil
		}
		return f(m, m.Tasks[m.at])
	}
}

// write asks for a line and makes an action of it.
func (m *model) write(prompt string, do func(string) action) []action {
	m.mode, m.input, m.prompt, m.written = writing, "", prompt, do
	return nil
}

// message writes to the sender of the message at the cursor, else to the selected
// teammate.
func (m *model) message() []action {
	to := m.selected
	if m.panel == messagesView && len(m.Letters) > 0 {
		if to = m.Letters[m.at].From; m.member(to) == nil {
			to = m.Letters[m.at].To
		}
	}
	if m.member(to) == nil {
		m.note = "no teammate is selected"
		return nil
	}
	return m.write("to "+plain(to)+": ", func(text string) action { return send{to, text} })
}
