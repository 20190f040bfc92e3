package observe

import "slices"

// Adapter is a way in which an agent's session reaches us.
type Adapter struct {
	Name string
	// Teams: its stream carries team tools, so that team state can be observed in
	// it. Elsewhere there is nothing to see, and no team is not the same as none
	// observed.
	Teams bool
}

// Adapters returns the ways we know.
func Adapters() []Adapter {
	return []Adapter{
		{"sdk-url", true},     // Claude Code over a socket, NDJSON of the same lines
		{"agent-sdk", true},   // the Agent SDK's messages
		{"stream-json", true}, // claude -p --output-format stream-json
		{"transcript", true},  // the session files under projects/
		{"acp", false},        // the Agent Client Protocol knows no teams
		{"codex", false},      // nor does Codex's
	}
}

// Capable tells whether the named adapter's stream carries teams; false for one we
// do not know.
func Capable(adapter string) bool {
	return slices.Contains(Adapters(), Adapter{adapter, true})
}
