package backend

import "github.com/leadlight-dev/leadlight/internal/environ"

// TerminalVariables are the variables by which a terminal describes itself to the
// programs in it: what runs in another pane must not get them. A name that ends in *
// covers a family.
func TerminalVariables() []string { return environ.Terminal() }

// Without returns environ (K=V each) without the variables of these names, where one
// that ends in * covers a family.
func Without(list, names []string) []string { return environ.Without(list, names...) }
