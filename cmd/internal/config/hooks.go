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

func hookKeys() []key[hookPart] {
	return []key[hookPart]{
		{"type", "command", "what it is; command", func(d *decoder, n ast.Node, h *hookPart) { h.kind = d.oneOf(n, "type", "command") }},
		{"command", "command", "what is run (sh -c) in the file's own folder (needed)", func(d *decoder, n ast.Node, h *hookPart) { h.command = d.text(n, "command") }},
		{"timeout", "time", "how long it may take; " + shortTime(hooks.DefaultTimeout) + ", at most " + shortTime(hooks.MaxTimeout), func(d *decoder, n ast.Node, h *hookPart) {
			h.timeout = d.duration(n, "timeout")
		}},
	}
}

func shortTime(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// readHooks reads hooks by event.
func readHooks(d *decoder, n ast.Node, f *teamFile) {
	d.eachKey(n, "hooks", func(name string, pos Pos, v ast.Node) {
		if !slices.Contains(hooks.Events(), name) {
			d.fail(pos, "unknown event %q in hooks%s", name, didYouMean(name, hooks.Events()))
		}
		d.eachItem(v, name, func(v ast.Node) {
			var h hookPart
			readMap(d, v, "a hook", hookKeys(), &h)
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
