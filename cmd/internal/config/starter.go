package config

import _ "embed"

// Starter is the commented team file that init writes.
//
//go:embed starter.yaml
var Starter string

// ProfileExample is a profile of one's own, for a team file or the user's settings.
//
//go:embed profile.yaml
var ProfileExample string
