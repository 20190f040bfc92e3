package hooks

import "time"

// Settings are the part of a settings file in which hooks stand.
type Settings struct {
	Hooks map[string][]SettingsGroup `json:"hooks"`
}

// SettingsGroup is a group of hooks on one event.
type SettingsGroup struct {
	Hooks []SettingsHook `json:"hooks"`
}

// SettingsHook is one of them.
type SettingsHook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // in seconds
}

// SettingsOf returns the settings by which Claude Code runs command on those of the
// events that have hooks among all, and waits for it by more than the longest of these
// may take.
func SettingsOf(all []Hook, events []string, command string, more time.Duration) Settings {
	s := Settings{Hooks: map[string][]SettingsGroup{}}
	for _, event := range events {
		longest := time.Duration(0)
		for _, h := range Of(all, event) {
			longest = max(longest, h.Limit())
		}
		if longest > 0 {
			s.Hooks[event] = []SettingsGroup{{[]SettingsHook{{"command", command, int((longest + more).Seconds())}}}}
		}
	}
	return s
}
