package backend

import (
	"context"
	"errors"
)

// CloseOne closes one pane: see Backend.Close.
func CloseOne(ctx context.Context, b Backend, id ID, mark Mark) error {
	return b.Close(ctx, Marked{id, mark})[0]
}

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
