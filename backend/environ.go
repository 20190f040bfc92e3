package backend

import (
	"slices"
	"strings"
)

// TerminalVariables are the variables by which a terminal describes itself to the
// programs in it: what runs in another pane must not get them. A name that ends in *
// covers a family.
func TerminalVariables() []string {
	return []string{"TMUX*", "TERM", "TERM_PROGRAM*", "STY", "ITERM_*", "KITTY_*", "COLUMNS", "LINES"}
}

// Without returns environ (K=V each) without the variables of these names, where one
// that ends in * covers a family.
func Without(environ, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		have, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(names, func(name string) bool {
			family, ok := strings.CutSuffix(name, "*")
			return have == name || ok && strings.HasPrefix(have, family)
		})
	})
}
