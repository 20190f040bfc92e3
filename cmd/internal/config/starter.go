package config

import (
	"embed"
	"fmt"
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

// mostAgents is how many different agents a template may name: AGENT1 and so on.
const mostAgents = 3

// Templates are the team files to begin with.
func Templates() []TemplateInfo {
	return []TemplateInfo{
		{"agents", "two agents that share a list of tasks"},
		{"review", "three agents, of three vendors if they are installed, review the last change"},
		{"feature", "agents in git worktrees build, test and review a feature"},
		{"research", "agents answer questions, and one writes the summary"},
		{"nightly", "commands that are run every night as a checklist"},
		{"checks", "commands only: no agent and no account is needed"},
	}
}

// Template returns a team file to begin with, for a team of that name. Its members take
// turns with the agents, of which there is at least one. ok is false if there is no such
// template.
func Template(name, team string, agents []string) (text string, ok bool) {
	data, err := templates.ReadFile("templates/" + name + ".yaml")
	if err != nil {
		return "", false
	}
	text = strings.Replace(string(data), "team: my-team\n", "team: "+team+"\n", 1)
	for i := range mostAgents {
		text = strings.ReplaceAll(text, fmt.Sprintf("agent: AGENT%d\n", i+1), "agent: "+agents[i%len(agents)]+"\n")
	}
	return text, true
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
