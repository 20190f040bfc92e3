package api

import "fmt"

// removals says what gc does with each kind of thing: before and after.
var removals = map[string][2]string{
	"member":  {"would record the end of", "recorded the end of"},
	"process": {"would end", "ended"},
	"pane":    {"would close", "closed"},
}

// String is the line that gc and doctor print about it.
func (o Orphan) String() string {
	verbs, ok := removals[o.Kind]
	if !ok {
		verbs = [2]string{"would remove", "removed"}
	}
	verb := verbs[0]
	switch {
	case o.Removed:
		verb = verbs[1]
	case o.Kept != "":
		verb = "kept"
	}
	line := fmt.Sprintf("%s %s %s: %s", verb, o.Kind, o.What, o.Why)
	if o.Kept != "" {
		line += " (" + o.Kept + ")"
	}
	return line
}
