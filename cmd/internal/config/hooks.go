package config

import (
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/leadlight-dev/leadlight/hooks"
)

// hookPart is one hook of a team file.
type hookPart struct {
	kind, command scalar[string]
	timeout       scalar[time.Duration]
}

func (h *hookPart) keys() []Key {
	return []Key{
		{"type", "command", "what it is; command", into(&h.kind, oneOf("command"))},
		{"command", "command", "what is run (sh -c) in the file's own folder (needed)", into(&h.command, text)},
		{"timeout", "time", "how long it may take; " + shortTime(hooks.DefaultTimeout) + ", at most " + shortTime(hooks.MaxTimeout), into(&h.timeout, duration)},
	}
}

func shortTime(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// readHooks reads hooks by event.
func (f *teamFile) readHooks(d *decoder, n ast.Node, what string) {
	d.eachKey(n, what, func(name string, pos Pos, v ast.Node) {
		if !slices.Contains(hooks.Events(), name) {
			d.fail(pos, "unknown event %q in hooks%s", name, didYouMean(name, hooks.Events()))
		}
		d.eachItem(v, name, func(v ast.Node) {
			var h hookPart
			d.readMap(v, "a hook", h.keys())
			switch {
			case !h.command.Set || strings.TrimSpace(h.command.V) == "":
				d.fail(at(v), "the hook has no command")
			case h.timeout.V > hooks.MaxTimeout:
				d.fail(h.timeout.Pos, "a hook may take %s at most", shortTime(hooks.MaxTimeout))
			}
			f.hooks = append(f.hooks, hooks.Hook{Event: name, Command: h.command.V, Timeout: h.timeout.V})
		})
	})
}

// placed gives hooks the folder and the name of their file.
func placed(all []hooks.Hook, dir, source string) []hooks.Hook {
	for i := range all {
		all[i].Dir, all[i].Source = dir, source
	}
	return all
}
