package config

import (
	"encoding/json"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/internal/files"
)

// ClaudeMode returns the teammateMode of Claude Code's own settings (auto, tmux,
// in-process, iterm2) and the file it stands in, or "". Newer clients keep it in
// settings.json of their home, older ones in .claude.json. What cannot be read
// says nothing: these are somebody else's files.
func ClaudeMode(getenv func(string) string) (mode, file string) {
	home, dir := getenv("HOME"), getenv("CLAUDE_CONFIG_DIR")
	paths := []string{filepath.Join(home, ".claude", "settings.json"), filepath.Join(home, ".claude.json")}
	if dir != "" {
		paths = []string{filepath.Join(dir, "settings.json"), filepath.Join(dir, ".claude.json")}
	} else if home == "" {
		return "", ""
	}
	for _, file := range paths {
		data, err := files.ReadFile(file, 0)
		if err != nil {
			continue
		}
		var found struct {
			TeammateMode string `json:"teammateMode"`
		}
		if json.Unmarshal(data, &found) == nil && found.TeammateMode != "" {
			return found.TeammateMode, file
		}
	}
	return "", ""
}
