package iterm2

import (
	"encoding/json"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// rgb of the palette's names, in parts of one.
func rgb(name string) ([3]float64, bool) {
	c, ok := map[string][3]float64{
		"red": {0.80, 0.20, 0.20}, "blue": {0.20, 0.40, 0.85}, "green": {0.20, 0.60, 0.30}, "yellow": {0.85, 0.70, 0.15},
		"purple": {0.55, 0.30, 0.75}, "orange": {0.90, 0.50, 0.15}, "pink": {0.90, 0.45, 0.65}, "cyan": {0.20, 0.65, 0.70},
	}[name]
	return c, ok
}

// look is a label as values of the session's profile.
func look(l backend.Label) []wire.Property {
	out := []wire.Property{
		property("Name", titled(l)),
		property("Badge Text", literal(l.Name)),
		// A program may not put its own title in the place of the name.
		property("Allow Title Setting", false),
		property("Title Components", sessionName),
	}
	if c, ok := rgb(l.Color); ok {
		out = append(out, property("Use Tab Color", true), property("Tab Color", map[string]any{
			"Red Component": c[0], "Green Component": c[1], "Blue Component": c[2], "Alpha Component": 1, "Color Space": "sRGB",
		}))
	}
	return out
}

// titled is a label in one line.
func titled(l backend.Label) string {
	if l.State == "" {
		return literal(l.Name)
	}
	return literal(l.Name) + " · " + literal(l.State)
}

// sessionName is the bit of the title that is the session's name, and nothing of the job.
const sessionName = 1

func property(key string, value any) wire.Property {
	data, _ := json.Marshal(value) // strings, numbers and maps of these: never an error
	return wire.Property{Key: key, JSON: string(data)}
}

// literal writes a text so that iTerm2 shows it as it is: names and badges are taken for
// text with expressions, which begin with a backslash.
func literal(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.ReplaceAll(s, `\`, `\\`)
}
