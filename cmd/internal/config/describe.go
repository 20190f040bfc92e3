package config

import "github.com/leadlight-dev/leadlight/panes/profiles"

// Section is one mapping of a configuration file, for help.
type Section struct {
	Title string
	Keys  []Key
}

// TeamFileSections describes the team file.
func TeamFileSections() []Section {
	return []Section{
		{"At the top", new(teamFile).keys()},
		{"layout", new(layoutPart).keys()},
		{"defaults", new(defaultsPart).keys()},
		{"members, each", new(memberPart).keys()},
		{"git of a member", new(gitPart).keys()},
		{"tasks, each", new(taskPart).keys()},
		{"profiles, each by its name", profileKeys(new(profiles.Profile))},
		{"hooks: TeammateIdle, TaskCompleted, TaskCreated; of each a list of", new(hookPart).keys()},
		{"lifecycle", new(lifecyclePart).keys()},
	}
}

// UserFileSection describes the user file.
func UserFileSection() Section { return Section{"config.yaml", new(userSettings).keys()} }
