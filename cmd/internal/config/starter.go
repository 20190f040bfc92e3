package config

import _ "embed"

// Starter is the commented team file that init writes.
//
//go:embed starter.yaml
var Starter string
