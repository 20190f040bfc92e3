// Package style says how states and colours are shown to a person, one way for tables,
// status lines and the dashboard.
package style

import (
	"strconv"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// Look is how a state is shown: a mark of one cell, and a colour of the palette, "dim",
// or "" for that of other text.
type Look struct{ Mark, Color string }

// Member is the look of a teammate's state.
func Member(state string) Look {
	look, ok := map[string]Look{
		api.StateActive: {"●", "green"}, api.StateIdle: {"○", ""}, api.StateWaiting: {"?", "yellow"},
		api.StateStarting: {"…", "yellow"}, api.StateStopping: {"…", "yellow"}, api.StateStopped: {"■", "dim"},
		api.StateFailed: {"✗", "red"}, api.StateLost: {"✗", "red"},
	}[state]
	if !ok {
		return Look{"~", "magenta"}
	}
	return look
}

// Task is the look of a task's status.
func Task(status string) Look {
	look, ok := map[string]Look{
		"completed": {"✓", "green"}, "in_progress": {"▸", "yellow"}, "failed": {"✗", "red"}, "blocked": {"◌", "magenta"},
	}[status]
	if !ok {
		return Look{"·", ""}
	}
	return look
}

// Pane is the id of a teammate's pane as a person reads it. Rosters call one without a
// terminal in-process, as Claude Code does.
func Pane(id string) string {
	if id == "in-process" {
		return "headless"
	}
	return id
}

// Index is a colour of the palette in a terminal's table: below 8 those that a person
// chooses for the terminal, the others of the fixed 256. ok is false for any other word.
func Index(color string) (index int, ok bool) {
	index, ok = map[string]int{
		"red": 1, "green": 2, "yellow": 3, "blue": 4, "magenta": 5, "pink": 5, "cyan": 6, "purple": 141, "orange": 208,
	}[color]
	return index, ok
}

// ANSI is the parameter of SGR for a colour, for "bold" or for "dim"; "" for any other
// word.
func ANSI(color string) string {
	index, ok := Index(color)
	switch {
	case color == "bold":
		return "1"
	case color == "dim":
		return "2"
	case !ok:
		return ""
	case index < 8:
		return strconv.Itoa(30 + index)
	}
	return "38;5;" + strconv.Itoa(index)
}

// Tmux is a colour in tmux's words, "" for one that is none of the palette.
func Tmux(color string) string {
	index, ok := Index(color)
	if !ok {
		return ""
	}
	return "colour" + strconv.Itoa(index)
}
