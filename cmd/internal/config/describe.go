package config

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
		{"At the top", describe(teamKeys())},
		{"layout", describe(layoutKeys())},
		{"defaults", describe(defaultsKeys())},
		{"members, each", describe(memberKeys())},
		{"git of a member", describe(gitKeys())},
		{"tasks, each", describe(taskKeys())},
		{"profiles, each by its name", describe(profileKeys())},
		{"hooks: TeammateIdle, TaskCompleted, TaskCreated; of each a list of", describe(hookKeys())},
		{"lifecycle", describe(lifecycleKeys())},
	}
}

// UserFileSection describes the user file.
func UserFileSection() Section { return Section{"config.yaml", describe(userKeys())} }

func describe[T any](keys []key[T]) []Key {
	out := make([]Key, len(keys))
	for i, k := range keys {
		out[i] = Key{k.name, k.form, k.doc}
	}
	return out
}
