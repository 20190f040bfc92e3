package config

import "github.com/leadlight-dev/leadlight/panes/profiles"

// Section is one mapping of a configuration file, for help.
type Section struct {
	Title string
	Keys  []Key
}

// Key is one key of a section.
type Key struct{ Name, Form, Doc string }

// TeamFileSections describes the team file.
func TeamFileSections() []Section {
	return []Section{
		{"At the top", describe(new(teamFile).keys())},
		{"layout", describe(new(layoutPart).keys())},
		{"defaults", describe(new(defaultsPart).keys())},
		{"members, each", describe(new(memberPart).keys())},
		{"git of a member", describe(new(gitPart).keys())},
		{"tasks, each", describe(new(taskPart).keys())},
		{"profiles, each by its name", describe(profileKeys(new(profiles.Profile)))},
		{"hooks: TeammateIdle, TaskCompleted, TaskCreated; of each a list of", describe(new(hookPart).keys())},
		{"lifecycle", describe(new(lifecyclePart).keys())},
	}
}

// UserFileSection describes the user file.
func UserFileSection() Section { return Section{"config.yaml", describe(new(userSettings).keys())} }

func describe(keys []key) []Key {
	out := make([]Key, len(keys))
	for i, k := range keys {
		out[i] = Key{k.name, k.form, k.doc}
	}
	return out
}
