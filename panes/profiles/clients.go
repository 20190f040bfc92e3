package profiles

import (
	"fmt"
	"slices"
)

// Client is what a version of Claude Code does, as far as versions differ in what
// matters here.
type Client struct {
	TeammateCommand bool // as a lead it starts its teammates by the program that TeammateCommand names, in panes
	// TaskCreated: hooks may stand on this event; older ones refuse settings that name it.
	TaskCreated bool
	TakesModes  bool // a teammate obeys requests to change its permission mode that come from outside
}

// What a Client is spoken to with.
const (
	TeammateCommand = "CLAUDE_CODE_TEAMMATE_COMMAND" // names the program that a lead starts in place of itself
	TeamsOn         = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"
	PanesFlag       = "--teammate-mode" // followed by PanesMode
	Settings        = "--settings"      // followed by a file with more settings
	PanesMode       = "tmux"            // teammates get panes, whatever the settings say
)

// clients is the one table of what changed in which version. A row says what holds
// from it on.
func clients() []struct {
	from [3]int
	Client
} {
	return []struct {
		from [3]int
		Client
	}{
		{[3]int{}, Client{}},
		{[3]int{2, 1, 32}, Client{TakesModes: true}},
		{[3]int{2, 1, 41}, Client{TakesModes: true, TeammateCommand: true}}, // older ones were not tried
		{[3]int{2, 1, 84}, Client{TakesModes: true, TeammateCommand: true, TaskCreated: true}},
		// Requests for a mode are dropped from a version between this one and 2.1.169.
		{[3]int{2, 1, 158}, Client{TeammateCommand: true, TaskCreated: true}},
	}
}

// ClientOf returns what the client does that answers --version with said, and which
// version it is; ok is false if that is no version.
func ClientOf(said string) (c Client, version string, ok bool) {
	var v [3]int
	if n, err := fmt.Sscanf(said, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil || n != len(v) {
		return Client{}, "", false
	}
	for _, row := range clients() {
		if slices.Compare(v[:], row.from[:]) >= 0 {
			c = row.Client
		}
	}
	return c, fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]), true
}
