package config

import "github.com/leadlight-dev/leadlight/internal/fault"

// userSettings is the shape of the user file: the parts of a team file that are
// no team's, and what concerns the machine.
type userSettings struct {
	teamFile
	backend, tmuxSocket scalar[string]
	models              map[string]map[string]string
}

func (u *userSettings) keys() []Key {
	keys := []Key{
		{"backend", "auto|tmux|iterm2|headless|…", "the terminal that holds the panes; auto", into(&u.backend, text)},
		{"models", "keys", "by a profile's name: the models for runs that prefer one, as {cheaper: haiku, smarter: opus}", u.readModels},
		{"tmuxSocket", "path", "the tmux server to use", into(&u.tmuxSocket, text)},
	}
	for _, k := range u.teamFile.keys() {
		switch k.Name {
		case "engine", "layout", "defaults", "profiles", "lifecycle":
			keys = append(keys, k)
		}
	}
	return keys
}

// parseUserFile parses the user file. An empty one says nothing.
func parseUserFile(shown string, data []byte) (*userSettings, error) {
	d := newDecoder(shown, fault.InvalidArgument)
	u := &userSettings{}
	if root := d.parse(data); root != nil {
		d.readMap(root, "the user's settings", u.keys())
		if u.defaults.cwd.Set {
			d.fail(u.defaults.cwd.Pos, "cwd belongs into a team file")
		}
	}
	return u, d.err("mend it, or move the file away; leadlight help team-file shows the keys")
}
