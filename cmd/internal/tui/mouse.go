package tui

import tea "charm.land/bubbletea/v2"

// wheelLines is how far one step of the wheel goes.
const wheelLines = 3

// click selects what is clicked on; a click on what is selected opens it, and one on the
// pane types into it.
func (m *model) click(c tea.Mouse) []action {
	if m.mode != browsing || m.panel == helpView || c.Button != tea.MouseLeft || c.Y < 1 || c.Y > m.height-2 {
		return nil
	}
	m.note = ""
	w, rows := m.mainSize()
	list, row := m.width-w-1, c.Y-2 // below the title and a head
	switch {
	case row < 0:
		return nil
	case c.X < list:
		return m.clickTeammate(row)
	case row >= rows: // the strip
		to := tasksView
		if c.X > list+w/2 {
			to = messagesView
		}
		m.turn(to)
	case m.panel == paneView:
		return m.enter()
	case !m.opened && m.items() > 0:
		return m.clickItem(firstLine(m.items(), rows, m.scroll) + row)
	}
	return nil
}

func (m *model) clickTeammate(row int) []action {
	shown := m.shown()
	at := m.firstShown(m.height-2) + row
	switch {
	case at >= len(shown):
		return nil
	case shown[at].Name == m.selected:
		m.turn(paneView)
		return m.enter()
	}
	return m.choose(shown[at].Name)
}

func (m *model) clickItem(at int) []action {
	switch {
	case at >= m.items():
	case at == m.at:
		m.open()
	default:
		m.point(at)
	}
	return nil
}

// wheel moves through what it is over.
func (m *model) wheel(c tea.Mouse) []action {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: 1, tea.MouseWheelDown: -1}[c.Button]
	w, _ := m.mainSize()
	switch {
	case m.mode != browsing || by == 0:
	case m.panel != helpView && c.X < m.width-w-1:
		return m.move(-by)
	default:
		m.scrollBy(by * wheelLines)
	}
	return nil
}
