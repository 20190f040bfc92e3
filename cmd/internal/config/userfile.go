package config

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// userSettings is the shape of the user file: the parts of a team file that are
// no team's, and what concerns the machine.
type userSettings struct {
	teamFile
	backend, tmuxSocket scalar[string]
	models              map[string]map[string]string
}

func userKeys() []key[userSettings] {
	keys := []key[userSettings]{
		{"backend", "auto|tmux|iterm2|headless|…", "the terminal that holds the panes; auto", func(d *decoder, n ast.Node, u *userSettings) { u.backend = d.text(n, "backend") }},
		{"models", "keys", "by a profile's name: the models for runs that prefer one, as {cheaper: haiku, smarter: opus}", readModels},
		{"tmuxSocket", "path", "the tmux server to use", func(d *decoder, n ast.Node, u *userSettings) { u.tmuxSocket = d.text(n, "tmuxSocket") }},
	}
	for _, k := range teamKeys() {
		switch k.name {
		case "engine", "layout", "defaults", "profiles", "lifecycle":
			keys = append(keys, key[userSettings]{k.name, k.form, k.doc, func(d *decoder, n ast.Node, u *userSettings) { k.read(d, n, &u.teamFile) }})
		}
	}
	return keys
}

// parseUserFile parses the user file. An empty one says nothing.
func parseUserFile(shown string, data []byte) (*userSettings, error) {
	d := newDecoder(shown, fault.InvalidArgument)
	u := &userSettings{}
	if root := d.parse(data); root != nil {
		readMap(d, root, "the user's settings", userKeys(), u)
		if u.defaults.cwd.Set {
			d.fail(u.defaults.cwd.Pos, "cwd belongs into a team file")
		}
	}
	return u, d.err("")
}
