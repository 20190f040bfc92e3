package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Sizes, in cells.
const (
	leastWidth  = 40
	leastHeight = 10
	listWidth   = 37
	wideList    = 48
	wide        = 120 // from here on the list has wideList
	tall        = 40  // from here on there is a strip of tasks and messages below
	stripHeight = 14
)

// draw is the whole screen: height lines of width cells.
func (m *model) draw() string {
	if m.width < leastWidth || m.height < leastHeight {
		return fmt.Sprintf("%dx%d is too small", m.width, m.height)
	}
	body := m.height - 2
	var lines []string
	switch {
	case m.mode == typing:
		lines = m.drawPane(m.width, body)
	case m.panel == helpView:
		lines = page(m.help(), m.width, body, m.scroll)
	default:
		lines = m.columns(body)
	}
	return strings.Join(append(append([]string{m.title()}, lines...), m.footer()), "\n")
}

// columns are the teammates beside what is looked at, and, on a large screen, tasks and
// messages below.
func (m *model) columns(rows int) []string {
	right, upper := m.mainSize()
	left, main := m.teammates(m.width-right-1, rows), m.main(right, upper+1)
	if m.height >= tall {
		main = append(main, m.strip(right)...)
	}
	for i := range left {
		left[i] += faint("│") + main[i]
	}
	return left
}

// mainSize is the room of the panel that was chosen, less its head.
func (m *model) mainSize() (w, rows int) {
	list, body := listWidth, m.height-2
	switch {
	case m.panel == helpView:
		return m.width, body
	case m.width >= wide:
		list = wideList
	}
	if m.height >= tall {
		body -= stripHeight
	}
	return m.width - list - 1, body - 1
}

// main is the panel that was chosen.
func (m *model) main(w, rows int) []string {
	head := map[panel]string{requestsView: "Requests", tasksView: "Tasks", messagesView: "Messages", eventsView: "Events"}[m.panel]
	if head == "" {
		return m.drawPane(w, rows)
	}
	if used := m.usage(); m.panel == tasksView && used != nil {
		head += "  " + used.String()
	}
	lines := m.listed(w)
	if !m.opened && m.items() > 0 {
		lines[m.at] = reverse(fit(ansi.Strip(lines[m.at]), w))
	}
	return append([]string{bold(fit(" "+head, w))}, page(lines, w, rows-1, m.scroll)...)
}

// usage is what the tasks have cost together, nil if no agent has told.
func (m *model) usage() (sum *api.Usage) {
	for _, t := range m.Tasks {
		sum = sum.And(t.Usage)
	}
	return sum
}

// listed are the lines of the panel that was chosen, none of the pane's.
func (m *model) listed(w int) []string {
	if m.opened {
		return m.detail(w)
	}
	switch m.panel {
	case requestsView:
		return m.requestLines()
	case tasksView:
		return m.taskLines()
	case messagesView:
		return m.messageLines()
	case eventsView:
		return m.eventLines()
	case helpView:
		return m.help()
	}
	return nil
}

// strip is what a large screen shows besides: tasks, and messages or events.
func (m *model) strip(w int) []string {
	half := (w - 1) / 2
	box := func(text string, lines []string, w int) []string {
		return append([]string{faint(strings.Repeat("─", w)), bold(fit(" "+text, w))}, page(lines, w, stripHeight-2, 0)...)
	}
	first := box("Tasks", m.taskLines(), half)
	second := box("Messages", m.messageLines(), w-half-1)
	if m.panel == messagesView {
		second = box("Events", m.eventLines(), w-half-1)
	}
	for i := range first {
		first[i] += faint("│") + second[i]
	}
	return first
}

// page is the last lines of a list, less those that were scrolled past, filled up to
// rows lines of w cells.
func page(lines []string, w, rows, back int) []string {
	first := firstLine(len(lines), rows, back)
	out := make([]string, 0, rows)
	for _, l := range lines[first:min(len(lines), first+rows)] {
		out = append(out, fit(l, w))
	}
	return fill(out, w, rows)
}

// fill adds blank lines of w cells up to rows.
func fill(lines []string, w, rows int) []string {
	for len(lines) < rows {
		lines = append(lines, strings.Repeat(" ", w))
	}
	return lines
}

// firstLine is the first of n lines that page shows.
func firstLine(n, rows, back int) int {
	end := min(n, max(min(rows, n), n-back))
	return max(0, end-rows)
}

// page is how far one step of scrolling goes.
func (m *model) page() int { return max(1, (m.height-4)/2) }

// paneSize is the size of the pane that is typed into.
func (m *model) paneSize() (rows, cols int) { return max(m.height-3, 1), m.width }

// drawPane is the selected teammate: who it is, and what it shows. Of a pane that is
// larger than the room the lower left is shown.
func (m *model) drawPane(w, rows int) []string {
	out := []string{m.paneHead(w)}
	lines := strings.Split(strings.TrimRight(m.pane, "\n"), "\n")
	switch {
	case !m.seen:
		lines = []string{faint(" looking …")}
	case m.selected == "":
		lines = []string{faint(" no teammate runs")}
	case m.paneErr != "":
		lines = nil
		for _, l := range wrap(m.paneErr, w-2) {
			lines = append(lines, faint(" "+l))
		}
	default:
		for i, l := range lines {
			lines[i] = colored(l)
		}
	}
	for _, l := range lines[max(0, len(lines)-(rows-1)):] {
		out = append(out, crop(l, w))
	}
	return fill(out, w, rows)
}

func (m *model) paneHead(w int) string {
	x := m.member(m.selected)
	if x == nil {
		return strings.Repeat(" ", w)
	}
	text := " " + plain(x.Name) + " — " + x.State
	if c, ok := m.Changes[x.Name]; ok {
		text += fmt.Sprintf(" · %s +%d −%d", plain(c.Branch), c.Added, c.Removed)
	}
	if x.Reason != "" {
		text += ": " + plain(x.Reason)
	}
	if x.Task != "" {
		text += " · task " + plain(x.Task) + " " + plain(m.subject(x.Task))
	}
	if x.Profile != "" {
		text += " · " + plain(x.Profile)
	}
	if x.PermissionMode != "" {
		text += " · mode " + plain(x.PermissionMode)
	}
	if x.TmuxPaneID != "" {
		text += " · " + plain(style.Pane(x.TmuxPaneID))
	}
	return inColor(bold(fit(text, w)), x.Color)
}

func (m *model) title() string {
	live, done := 0, 0
	for _, x := range m.Members {
		if x.Live() {
			live++
		}
	}
	for _, t := range m.Tasks {
		if t.Status == "completed" {
			done++
		}
	}
	if m.trouble != "" {
		text := " " + plain(m.team) + " · " + m.trouble
		if len(m.Members)+len(m.Tasks) > 0 {
			text += " · what is shown is older"
		}
		return reverse(fitEnds(text, m.width))
	}
	text := fmt.Sprintf(" %s · %d of %d teammates run · %d of %d tasks done", plain(m.team), live, len(m.Members), done, len(m.Tasks))
	if n := len(m.Asks); n == 1 {
		text += " · 1 request"
	} else if n > 1 {
		text += fmt.Sprintf(" · %d requests", n)
	}
	if m.Delegate {
		text += " · delegate mode"
	}
	if len(m.Warnings) > 0 {
		text += " · " + plain(m.Warnings[0])
	}
	return reverse(fit(text, m.width))
}

// footer is the line at the bottom: a question, an input, a note, or the keys.
func (m *model) footer() string {
	switch m.mode {
	case filtering:
		return fit("/"+plain(m.input)+"▏", m.width)
	case writing:
		return fit(m.prompt+plain(m.input)+"▏", m.width)
	case confirming:
		return fit(" "+m.prompt, m.width)
	case ended:
		return fitEnds(" Esc goes back · "+cmp.Or(m.note, "what was typed to is not there any more"), m.width)
	}
	if m.note != "" {
		return fitEnds(" "+m.note, m.width)
	}
	if m.mode == typing {
		return faint(fit(" typing to "+plain(m.selected)+" · Ctrl+\\ or F10 leaves · Shift+↑↓ another one", m.width))
	}
	if a, ok := m.asking(); ok {
		keys := " — " + a.keys()
		return bold(" " + fit(strings.TrimRight(fit(a.line(), min(ansi.StringWidth(a.line()), m.width-2-ansi.StringWidth(keys))), " ")+keys, m.width-1))
	}
	text := " ↑↓ select · Enter type · Ctrl+T tasks · m message · s stop · ? help · q quit"
	if m.filter != "" {
		text = " /" + plain(m.filter) + " ·" + text
	}
	return faint(fit(text, m.width))
}

// keyWidth is the room of the keys in the help.
const keyWidth = 24

// help is the table of keys.
func (m *model) help() []string {
	lines := []string{bold(" Keys"), ""}
	for _, b := range bindings() {
		if b.help == "" {
			continue
		}
		keys := " " + strings.Join(b.keys, " ")
		for _, text := range wrap(b.help, m.width-keyWidth) {
			lines = append(lines, pad(keys, keyWidth)+text)
			keys = ""
		}
	}
	return lines
}
