package backend

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Find returns the pane of a list that has the id.
func Find(list []Pane, id ID) (Pane, bool) {
	i := slices.IndexFunc(list, func(p Pane) bool { return p.ID == id })
	if i < 0 {
		return Pane{}, false
	}
	return list[i], true
}

// Around returns the pane of a list that has the id, if it is there, and all panes of its
// window. The list is used up.
func Around(list []Pane, id ID) Here {
	self, ok := Find(list, id)
	if !ok {
		return Here{}
	}
	return Here{&self, slices.DeleteFunc(list, func(p Pane) bool { return p.Window != self.Window || p.Session != self.Session })}
}

// Ours are the panes of a list that carry a mark. The list is used up.
func Ours(list []Pane) []Pane {
	return slices.DeleteFunc(list, func(p Pane) bool { return p.Mark == (Mark{}) })
}

// CloseOne closes one pane: see Backend.Close.
func CloseOne(ctx context.Context, b Backend, id ID, mark Mark) error {
	return b.Close(ctx, Marked{id, mark})[0]
}

// NoneOpened are the results of n specs, all of which failed.
func NoneOpened(n int, err error) []Result { return slices.Repeat([]Result{{Err: err}}, n) }

// Each closes the panes of a set one after the other, for a terminal that knows no sets.
func Each(set []Marked, closeOne func(ID, Mark) error) []error {
	errs := make([]error, len(set))
	for i, p := range set {
		errs[i] = closeOne(p.ID, p.Mark)
	}
	return errs
}

// EachLayout lays out windows one after the other, for a terminal that knows no sets.
func EachLayout(layouts []Layout, arrangeOne func(Layout) error) error {
	var errs []error
	for _, l := range layouts {
		errs = append(errs, arrangeOne(l))
	}
	return errors.Join(errs...)
}

// LastLines are the last n lines of a text, all of them for 0, without the empty ones at its end.
func LastLines(text string, n int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if n > 0 {
		all = all[max(0, len(all)-n):]
	}
	return strings.Join(all, "\n") + "\n"
}
