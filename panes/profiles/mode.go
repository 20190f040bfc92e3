package profiles

import (
	"path/filepath"
	"slices"
	"strings"
)

// ModeOf returns the permission mode that the command line of a running Claude Code
// says, "" if it says none; ok tells whether it is one of Claude Code at all. The
// client runs as a program of its own, or as a script of node in its package's folder.
func ModeOf(argv []string) (mode string, ok bool) {
	ok = slices.ContainsFunc(argv[:min(2, len(argv))], func(word string) bool {
		return filepath.Base(word) == "claude" || strings.Contains(filepath.ToSlash(word), "/claude-code/")
	})
	if !ok {
		return "", false
	}
	for i, word := range argv {
		if word == "--" {
			break
		}
		if value, found := strings.CutPrefix(word, "--permission-mode="); found {
			return value, true
		}
		switch {
		case word == "--permission-mode" && i+1 < len(argv):
			return argv[i+1], true
		case word == "--dangerously-skip-permissions":
			return ModeBypass, true
		}
	}
	return "", true
}

// CheckMode tells whether the profile can be started in a mode: by arguments of its
// own, or in the default mode by none.
func (p Profile) CheckMode(mode string) bool {
	switch mode {
	case ModePlan:
		return len(p.PlanArgs) > 0 && p.Kind != Worker
	case ModeDefault:
		return len(p.ModeArgs) > 0
	}
	return len(p.ModeArgs[mode]) > 0
}
