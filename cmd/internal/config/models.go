package config

import (
	"maps"

	"github.com/goccy/go-yaml/ast"
)

// Preferences returns what a team's runs may prefer besides "same": another model
// than the agent's own.
func Preferences() []string { return []string{"cheaper", "smarter"} }

// defaultModels are the models of the profiles for a preference.
func defaultModels() map[string]map[string]string {
	claude := map[string]string{"cheaper": "haiku", "smarter": "opus"}
	gemini := map[string]string{"cheaper": "flash", "smarter": "pro"}
	return map[string]map[string]string{
		"claude": claude, "claude-interactive": claude, "claude-worker": claude, "gemini": gemini, "gemini-worker": gemini,
	}
}

// readModels reads the table: for a profile's name what it runs when a run prefers
// something.
func (u *userSettings) readModels(d *decoder, n ast.Node, what string) {
	u.models = map[string]map[string]string{}
	d.eachKey(n, what, func(name string, _ Pos, v ast.Node) {
		models := map[string]string{}
		var keys []Key
		for _, p := range Preferences() {
			keys = append(keys, Key{p, "model", "", func(d *decoder, n ast.Node, what string) { models[p] = text(d, n, what).V }})
		}
		d.readMap(v, "the models of a profile", keys)
		u.models[name] = models
	})
}

// addModels puts own models over those there are, which profiles may share.
func (s *Settings) addModels(own map[string]map[string]string) {
	for profile, models := range own {
		both := map[string]string{}
		maps.Copy(both, s.Models[profile])
		maps.Copy(both, models)
		s.Models[profile] = both
	}
}
