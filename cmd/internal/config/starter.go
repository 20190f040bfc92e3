package config

import (
	"embed"
	"strings"
)

//go:embed templates
var templates embed.FS

// Starter is the team file that needs no agent.
//
//go:embed templates/checks.yaml
var Starter string

// ProfileExample is a profile of one's own, for a team file or the user's settings.
//
//go:embed profile.yaml
var ProfileExample string

// A TemplateInfo describes a team file to begin with.
type TemplateInfo struct {
	Name  string `json:"name"`
	Short string `json:"short"`
}

// Templates are the team files to begin with.
func Templates() []TemplateInfo {
	return []TemplateInfo{
		{"agents", "two agents that share a list of tasks"},
		{"review", "two agents that review the last change"},
		{"feature", "agents in git worktrees build, test and review a feature"},
		{"checks", "commands only: no agent and no account is needed"},
	}
}

// Template returns a team file to begin with, for a team of that name and an agent. ok is
// false if there is no such template.
func Template(name, team, agent string) (text string, ok bool) {
	data, err := templates.ReadFile("templates/" + name + ".yaml")
	if err != nil {
		return "", false
	}
	text = strings.Replace(string(data), "team: my-team\n", "team: "+team+"\n", 1)
	return strings.ReplaceAll(text, "agent: AGENT\n", "agent: "+agent+"\n"), true
}

// TeamNameOf makes the name of a team of a folder's name.
func TeamNameOf(folder string) string {
	words := strings.FieldsFunc(strings.ToLower(folder), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	name = strings.Trim(name[:min(len(name), 64)], "-")
	if len(name) < 3 {
		name = strings.Trim("team-"+name, "-")
	}
	return name
}
