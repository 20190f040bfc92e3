package tmuxshim

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/signals"
)

// server is what a tmux server would remember.
type server struct {
	Name    string   `json:"name"` // as it was given with -L or -S
	Session string   `json:"session"`
	Next    int      `json:"next"`    // number of the next pane
	Windows []string `json:"windows"` // their names; a window's number is its place here
	Panes   []pane   `json:"panes"`

	keeper Keeper
	// What is to be done once the lock is given back.
	ended   []pane
	started []pane // by this call, to be ended if it fails
	viewed  *pane
}

// pane is one pane of it.
type pane struct {
	ID     string `json:"id"` // %0
	Window int    `json:"window"`
	Title  string `json:"title,omitempty"`
	Color  string `json:"color,omitempty"`
	Typed  string `json:"typed,omitempty"` // typed before there was a program

	Host     string           `json:"host,omitempty"` // "": it has no program yet
	Kind     string           `json:"kind,omitempty"` // of its backend
	Terminal string           `json:"terminal,omitempty"`
	Pane     backend.ID       `json:"pane,omitempty"` // in the backend
	Mark     backend.Mark     `json:"mark,omitzero"`
	Process  signals.Identity `json:"process,omitzero"` // of the host
}

// window adds a window and returns its number.
func (s *server) window(name string) int {
	s.Windows = append(s.Windows, name)
	return len(s.Windows) - 1
}

func (s *server) add(window int) *pane {
	s.Panes = append(s.Panes, pane{ID: "%" + strconv.Itoa(s.Next), Window: window})
	s.Next++
	return &s.Panes[len(s.Panes)-1]
}

// target finds the pane that -t names: by its id, by its window (@1, session:window), or
// by the session; the first one there.
func (s *server) target(name string) (*pane, error) {
	sessionName, windowName, inWindow := strings.Cut(strings.TrimPrefix(name, "="), ":")
	for i := range s.Panes {
		p := &s.Panes[i]
		switch {
		case strings.HasPrefix(name, "%"):
			if p.ID == name {
				return p, nil
			}
		case strings.HasPrefix(name, "@"):
			if "@"+strconv.Itoa(p.Window) == name {
				return p, nil
			}
		case name == "":
			return p, nil
		case sessionName == s.Session:
			if !inWindow || windowName == "" || s.Windows[p.Window] == windowName || strconv.Itoa(p.Window) == windowName {
				return p, nil
			}
		}
	}
	switch {
	case strings.HasPrefix(name, "%"):
		return nil, refusal("can't find pane: " + name)
	case strings.HasPrefix(name, "@") || sessionName == s.Session:
		return nil, refusal("can't find window: " + strings.TrimPrefix(name, s.Session+":"))
	}
	return nil, refusal("can't find session: " + sessionName)
}

// paint takes the colour out of a style such as bg=default,fg=blue.
func (p *pane) paint(style string) {
	ours := map[string]string{"magenta": "purple", "colour208": "orange", "colour205": "pink"}
	for part := range strings.SplitSeq(style, ",") {
		if color, ok := strings.CutPrefix(part, "fg="); ok {
			p.Color = cmp.Or(ours[color], color)
		}
	}
}

// expand puts the facts about a pane into a format. As in tmux, a name that stands for
// nothing is replaced by nothing.
func (s *server) expand(format string, p *pane) string {
	format = cmp.Or(format, "#{window_index}.#{pane_id}")
	facts := map[string]string{
		"session_name": s.Session, "session_id": "$0", "window_id": "@" + strconv.Itoa(p.Window), "window_index": strconv.Itoa(p.Window),
		"window_name": s.Windows[p.Window], "pane_id": p.ID, "pane_title": p.Title, "pane_dead": "0", "pane_top": "0", "pane_left": "0",
		"pane_index": fmt.Sprint(strings.TrimPrefix(p.ID, "%")), "allow-passthrough": "0", "focus-events": "0", "status": "on", "status-position": "bottom",
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(format, "#{")
		out.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			return out.String()
		}
		out.WriteString(facts[name])
		format = after
	}
}
