package iterm2test

import (
	"encoding/json"
	"strings"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// handle carries out a request. stay is false when the connection is to break instead of
// answering.
func (s *Server) handle(r *wire.Request) (answer *wire.Response, stay bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
	answer = &wire.Response{}
	switch {
	case s.dead:
		return nil, false
	case r.ListSessions != nil:
		answer.ListSessions = s.list()
	case r.SplitPane != nil:
		answer.SplitPane = s.splitPane(r.SplitPane)
	case r.CreateTab != nil:
		answer.CreateTab = s.createTab(r.CreateTab)
	case r.SetProfile != nil:
		answer.SetProfile = &wire.Status{Status: wire.NotFound}
		if x := s.session(r.SetProfile.Session); x != nil && assign(x.profile, r.SetProfile.Assignments) {
			answer.SetProfile.Status = wire.OK
		}
	case r.Variable != nil:
		answer.Variable = s.variable(r.Variable)
	case r.Focus != nil:
		answer.Focus = s.focus()
	case r.Activate != nil:
		answer.Activate = &wire.Status{Status: s.activate(r.Activate)}
	case r.SetTabLayout != nil:
		answer.SetTabLayout = &wire.Status{Status: s.setLayout(r.SetTabLayout)}
	case r.Close != nil:
		answer.Close = s.close(r.Close)
	default:
		answer.Error = new("not understood")
	}
	if s.distort != nil {
		s.distort(answer)
	}
	if s.hangup != nil && s.hangup(r) {
		s.hangup = nil
		return nil, false
	}
	return answer, true
}

func (s *Server) list() *wire.Sessions {
	out := &wire.Sessions{}
	for _, w := range s.windows {
		described := wire.Window{ID: w.id}
		for _, t := range w.tabs {
			described.Tabs = append(described.Tabs, wire.Tab{ID: t.id, Root: t.root.described()})
		}
		out.Windows = append(out.Windows, described)
	}
	return out
}

// assign sets values of a profile.
func assign(profile map[string]any, properties []wire.Property) bool {
	for _, p := range properties {
		var v any
		if json.Unmarshal([]byte(p.JSON), &v) != nil {
			return false
		}
		profile[p.Key] = v
	}
	return true
}

func (s *Server) splitPane(r *wire.SplitPaneRequest) *wire.SplitPaneResponse {
	_, t, leaf := s.find(r.Session)
	profile := map[string]any{}
	vertical := r.Direction == wire.SideBySide
	switch {
	case leaf == nil:
		return &wire.SplitPaneResponse{Status: wire.NotFound}
	case !assign(profile, r.Properties):
		return &wire.SplitPaneResponse{Status: 4}
	}
	_, size, ok := leaf.halves(vertical)
	if !ok {
		return &wire.SplitPaneResponse{Status: wire.CannotSplit}
	}
	x, err := s.start(profile, size.Cols, size.Rows)
	if err != nil {
		return &wire.SplitPaneResponse{Status: 4}
	}
	s.split(t, leaf, vertical, x)
	return &wire.SplitPaneResponse{Sessions: []string{x.id}}
}

func (s *Server) createTab(r *wire.CreateTabRequest) *wire.CreateTabResponse {
	var w *window
	for _, o := range s.windows {
		if o.id == r.Window {
			w = o
		}
	}
	if w == nil && r.Window != "" {
		return &wire.CreateTabResponse{Status: wire.BadWindow}
	}
	profile := map[string]any{}
	assign(profile, r.Properties)
	x, err := s.start(profile, firstCols, firstRows)
	if err != nil {
		return &wire.CreateTabResponse{Status: 1}
	}
	if w == nil {
		s.openWindow(x)
	} else {
		s.openTab(w, x)
	}
	return &wire.CreateTabResponse{Session: x.id}
}

func (s *Server) variable(r *wire.VariableRequest) *wire.VariableResponse {
	x := s.session(r.Session)
	if x == nil {
		return &wire.VariableResponse{Status: wire.NotFound}
	}
	for _, v := range r.Set {
		if !strings.HasPrefix(v.Name, "user.") || !json.Valid([]byte(v.JSON)) {
			return &wire.VariableResponse{Status: 2}
		}
		x.vars[v.Name] = v.JSON
	}
	out := &wire.VariableResponse{}
	for _, name := range r.Get {
		value, ok := x.vars[name]
		if !ok {
			value = "null"
		}
		out.JSON = append(out.JSON, value)
	}
	return out
}

func (s *Server) focus() *wire.FocusResponse {
	out := &wire.FocusResponse{}
	for _, w := range s.windows {
		status := wire.Resigned
		if w == s.key {
			status = 0
		}
		out.Facts = append(out.Facts, wire.FocusFact{Window: &wire.FocusWindow{ID: w.id, Status: status}}, wire.FocusFact{Tab: w.selected.id})
		for _, t := range w.tabs {
			out.Facts = append(out.Facts, wire.FocusFact{Session: t.active.id})
		}
	}
	return out
}

func (s *Server) activate(r *wire.ActivateRequest) int {
	var w *window
	var t *tab
	var x *session
	if wt, tt, leaf := s.find(r.Session); leaf != nil {
		w, t, x = wt, tt, leaf.session
	}
	for _, o := range s.windows {
		if o.id == r.Window {
			w = o
		}
		for _, ot := range o.tabs {
			if ot.id == r.Tab {
				w, t = o, ot
			}
		}
	}
	if w == nil || r.SelectTab && t == nil || r.SelectSession && x == nil {
		return 1
	}
	if r.SelectSession {
		t.active = x
	}
	if r.SelectTab {
		w.selected = t
	}
	if r.FrontWindow {
		s.key = w
	}
	return wire.OK
}

func (s *Server) setLayout(r *wire.SetTabLayoutRequest) int {
	for _, w := range s.windows {
		for _, t := range w.tabs {
			if t.id == r.Tab {
				return t.root.layout(r.Root)
			}
		}
	}
	return 1
}

// close closes sessions; without Force a person would be asked, who says no here.
func (s *Server) close(r *wire.CloseRequest) *wire.CloseResponse {
	out := &wire.CloseResponse{}
	for _, id := range r.Sessions.IDs {
		x := s.session(id)
		switch {
		case x == nil:
			out.Statuses = append(out.Statuses, wire.NotFound)
		case !r.Force:
			out.Statuses = append(out.Statuses, wire.Declined)
		default:
			out.Statuses = append(out.Statuses, wire.OK)
			x.hangUp()
			s.remove(x)
		}
	}
	return out
}
