package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// panel is what the large part of the screen shows.
type panel int

const (
	paneView panel = iota
	requestsView
	tasksView
	messagesView
	eventsView
	helpView
)

// mode is where keys go.
type mode int

const (
	browsing   mode = iota
	typing          // to the teammate
	filtering       // into the filter
	writing         // into a message
	confirming      // only y means yes
	ended           // typing has come to an end by itself: what is still typed was meant for the teammate
)

// model is the dashboard without its terminal.
type model struct {
	team          string
	width, height int

	picture // the last one that could be seen
	events  []happening
	trouble string // why the team cannot be seen just now; what is shown is older
	seen    bool   // the first picture has come

	selected string
	pane     string // what the pane of a teammate shows
	paneErr  string

	panel   panel
	first   bool // the requests are shown because they were there first, by nobody's key
	mode    mode
	filter  string
	input   string
	note    string
	covered bool   // a note stood in the place of the question when the key came
	read    ask    // the question that such a note has told itself
	asked   action // what confirming is about
	at      int    // the item that the cursor is on, in requests, tasks and messages
	opened  bool   // all of it is shown
	prompt  string // before the input
	// written makes an action of the line that was written.
	written func(string) action
	fresh   time.Time // when another question took the place of the one that stood there
	scroll  int       // lines back from the newest, in tasks, messages and events
	now     time.Time
}

// letter is one message as the dashboard lists it.
type letter struct {
	ID, To, From, Text, Type string
	Body                     string // all of it
	At                       time.Time
	Read                     bool
}

// ask is what a teammate wants to know of a person: whether its plan is good, whether it
// may use a tool, or what a dialog on its screen asks.
type ask struct {
	ID, From, Text string
	Plan, Dialog   bool
	YesKeys        string // that answer a dialog
	NoKeys         string
}

// happening is one line of the list of what has happened.
type happening struct {
	At   time.Time
	Text string
}

// What the model is told, besides keys and sizes.
type (
	picture struct { // of the team
		teams.Snapshot
		Letters  []letter
		Asks     []ask
		Changes  map[string]teams.Changed // in the worktrees
		Delegate bool
		Err      error
		At       time.Time
	}
	paneText struct {
		Name, Text string
		Err        error
		At         time.Time
	}
	noted struct{ Text string } // an action's outcome
	left  struct {              // typing came to an end
		Name string
		Err  error
	}
)

// What the model wants done.
type (
	action  any
	stop    struct{ Name string }
	restart struct{ Name string }
	focus   struct{ Name string }
	send    struct{ To, Text string }
	setMode struct{ Delegate bool }
	reply   struct {
		Ask ask
		Yes bool
	}
	taskDone    struct{ ID string }
	taskFail    struct{ ID, Reason string }
	taskRelease struct{ ID string }
	attach      struct {
		Name       string
		Rows, Cols int
	}
	keystrokes struct{ Bytes []byte }
	pasted     struct{ Text string }
	detach     struct{}
	look       struct{} // at the selected pane, now
	call       struct{ Text string }
	suspend    struct{}
	quit       struct{}
)

func newModel(team string) *model { return &model{team: team, width: 80, height: 24} }

// update takes a message in and returns what is to be done.
func (m *model) update(msg tea.Msg) []action {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.showCursor()
		if m.mode == typing {
			return []action{detach{}, m.attachment()}
		}
	case picture:
		return m.take(msg)
	case paneText:
		m.now = msg.At
		if msg.Name == m.selected {
			m.pane, m.paneErr = msg.Text, ""
			if msg.Err != nil {
				m.pane, m.paneErr = "", plain(msg.Err.Error())
			}
		}
	case noted:
		m.note = plain(msg.Text)
	case left:
		if m.mode == typing && msg.Name == m.selected {
			m.mode, m.note = ended, ""
			if msg.Err != nil {
				m.note = plain(msg.Err.Error())
			}
		}
	case tea.MouseClickMsg:
		return m.click(tea.Mouse(msg))
	case tea.MouseWheelMsg:
		return m.wheel(tea.Mouse(msg))
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

// take replaces the picture of the team, and keeps what differs as events.
func (m *model) take(p picture) []action {
	m.now = p.At
	m.trouble = ""
	if p.Err != nil {
		m.trouble = plain(fault.Of(p.Err).Message)
		if fault.CodeOf(p.Err) != fault.TeamNotFound {
			return nil
		}
		p.Snapshot = teams.Snapshot{} // nothing of it is there
	}
	var acts []action
	if m.seen {
		news, calls := compare(m, p)
		m.events = append(m.events, news...)
		if over := len(m.events) - 500; over > 0 {
			m.events = m.events[over:]
		}
		for _, c := range calls {
			acts = append(acts, call{c})
		}
	}
	before, stood := m.asking()
	if !m.seen && len(p.Asks) > 0 {
		m.turn(requestsView)
		m.first = true
	}
	m.keepCursor(p)
	m.picture, m.seen = p, true
	m.showCursor()
	if m.first && len(m.Asks) == 0 { // all are answered
		m.turn(paneView)
	}
	if now, stands := m.asking(); stood && stands && (now.ID != before.ID || now.Text != before.Text) {
		m.fresh = p.At
	}
	if m.member(m.selected) == nil {
		if m.mode == typing {
			m.mode, m.note = ended, ""
			acts = append(acts, detach{})
		}
		m.selected, m.pane, m.paneErr = "", "", ""
		if shown := m.shown(); len(shown) > 0 {
			m.selected = shown[0].Name
			acts = append(acts, look{})
		}
	}
	return acts
}

// keepCursor leaves the cursor on the item that it is on, wherever that stands in the next
// picture. An opened one that is gone is shut.
func (m *model) keepCursor(p picture) {
	now := -1
	switch {
	case m.items() == 0:
		now = 0
	case m.panel == requestsView:
		now = slices.IndexFunc(p.Asks, func(x ask) bool { return x.ID == m.Asks[m.at].ID })
	case m.panel == tasksView:
		now = slices.IndexFunc(p.Tasks, func(x api.Task) bool { return x.ID == m.Tasks[m.at].ID })
	case m.panel == messagesView:
		now = slices.IndexFunc(p.Letters, func(x letter) bool { return x.ID == m.Letters[m.at].ID && x.To == m.Letters[m.at].To })
	}
	if now < 0 {
		m.opened, now = false, 0
	}
	m.at = now
}

// member finds a member by name.
func (m *model) member(name string) *api.Member {
	if i := slices.IndexFunc(m.Members, func(x api.Member) bool { return x.Name == name }); i >= 0 {
		return &m.Members[i]
	}
	return nil
}

// asking is the request at the cursor, what the selected member wants to know, or else
// what anybody does.
func (m *model) asking() (ask, bool) {
	switch {
	case len(m.Asks) == 0:
		return ask{}, false
	case m.panel == requestsView:
		return m.Asks[m.at], true
	}
	i := slices.IndexFunc(m.Asks, func(a ask) bool { return a.From == m.selected })
	return m.Asks[max(i, 0)], true
}

// shown are the members that the filter lets through.
func (m *model) shown() []api.Member {
	if m.filter == "" {
		return m.Members
	}
	want := strings.ToLower(m.filter)
	return slices.DeleteFunc(slices.Clone(m.Members), func(x api.Member) bool {
		return !strings.Contains(strings.ToLower(x.Name+" "+x.State+" "+x.Profile), want)
	})
}

// move selects the member by steps from the selected one.
func (m *model) move(by int) []action {
	shown := m.shown()
	if len(shown) == 0 {
		return nil
	}
	at := slices.IndexFunc(shown, func(x api.Member) bool { return x.Name == m.selected })
	at = min(max(at+by, 0), len(shown)-1)
	return m.choose(shown[at].Name)
}

// choose selects a member.
func (m *model) choose(name string) []action {
	if name == m.selected {
		return nil
	}
	m.selected, m.pane, m.paneErr = name, "", ""
	if m.mode == typing {
		return []action{detach{}, m.attachment(), look{}}
	}
	return []action{look{}}
}

// attachment asks to type into the selected one, whose pane has the whole screen.
func (m *model) attachment() action {
	rows, cols := m.paneSize()
	return attach{m.selected, rows, cols}
}
