package hooks

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"
)

// maxSettings is the largest settings file that is read, in bytes.
const maxSettings = 1 << 20

// SettingsFiles are the files of Claude Code's own settings in which hooks may
// stand: the user's, found by the variables, and those of the project folder.
func SettingsFiles(getenv func(string) string, project string) []string {
	var out []string
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		out = append(out, filepath.Join(dir, "settings.json"))
	} else if home := getenv("HOME"); home != "" {
		out = append(out, filepath.Join(home, ".claude", "settings.json"))
	}
	if project != "" {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			if file := filepath.Join(project, ".claude", name); len(out) == 0 || file != out[0] {
				out = append(out, file)
			}
		}
	}
	return out
}

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

// ReadSettings returns the hooks of settings files, in order. They are another
// program's: a file that is not there, cannot be read or means something else says
// nothing here, and what is unknown in it is passed over.
func ReadSettings(paths ...string) []Hook {
	var out []Hook
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
		f.Close()
		if err != nil || len(data) > maxSettings {
			continue
		}
		found, off := ParseSettings(data, path)
		if off {
			return nil
		}
		out = append(out, found...)
	}
	return out
}

// ParseSettings returns the hooks of one settings file that are ours to run: those
// of our events that are commands. off: the file turns all hooks off. source is
// its name in messages.
func ParseSettings(data []byte, source string) (found []Hook, off bool) {
	var file struct {
		Disable any                        `json:"disableAllHooks"`
		Hooks   map[string]json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal(data, &file) != nil {
		return nil, false
	}
	if file.Disable == true {
		return nil, true
	}
	for _, event := range Events() {
		var groups []json.RawMessage
		if json.Unmarshal(file.Hooks[event], &groups) != nil {
			continue
		}
		for _, g := range groups {
			found = append(found, settingsGroup(g, event, source)...)
		}
	}
	return found, false
}

// settingsGroup reads {"matcher": …, "hooks": [{"type": "command", "command": …,
// "timeout": seconds}]}. The events that we know have nothing to match.
func settingsGroup(raw json.RawMessage, event, source string) []Hook {
	var group struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	if json.Unmarshal(raw, &group) != nil {
		return nil
	}
	var out []Hook
	for _, h := range group.Hooks {
		var hook struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Timeout any    `json:"timeout"`
		}
		if json.Unmarshal(h, &hook) != nil || hook.Type != "command" || hook.Command == "" {
			continue
		}
		limit := DefaultTimeout
		if s, ok := hook.Timeout.(float64); ok && s > 0 {
			limit = max(time.Duration(min(s, MaxTimeout.Seconds())*float64(time.Second)), time.Millisecond)
		}
		out = append(out, Hook{Event: event, Command: hook.Command, Timeout: limit, Source: source})
	}
	return out
}
