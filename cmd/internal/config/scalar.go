package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// A scalar is a value with the place it came from; one that was there but wrong
// has a place and is not set.
type scalar[T any] struct {
	V   T
	Pos Pos
	Set bool
}

func (s scalar[T]) absent() bool { return s.Pos == Pos{} }

// text reads text. Numbers and truth values want quotes, so that "1.10" stays
// what it is.
func (d *decoder) text(n ast.Node, what string) scalar[string] {
	v, done := d.value(n)
	defer done()
	switch s := v.(type) {
	case nil:
	case *ast.StringNode:
		return scalar[string]{s.Value, at(n), true}
	case *ast.LiteralNode:
		return scalar[string]{s.Value.Value, at(n), true}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		d.wrong(v, fmt.Sprintf("%s takes text (put quotes around it)", what))
	default:
		d.wrong(v, what+" takes text")
	}
	return scalar[string]{Pos: at(n)}
}

// word reads any single value as the text it was written as.
func (d *decoder) word(n ast.Node, what string) scalar[string] {
	v, done := d.value(n)
	defer done()
	switch v.(type) {
	case nil:
		return scalar[string]{}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return scalar[string]{v.GetToken().Value, at(n), true}
	}
	return d.text(v, what)
}

// oneOf reads one of the words.
func (d *decoder) oneOf(n ast.Node, what string, words ...string) scalar[string] {
	s := d.text(n, what)
	if s.Set && !slices.Contains(words, s.V) {
		d.fail(s.Pos, "%s takes %s, not %q%s", what, orList(words), store.Shown(s.V), didYouMean(s.V, words))
		return scalar[string]{}
	}
	return s
}

func (d *decoder) boolean(n ast.Node, what string) scalar[bool] {
	v, done := d.value(n)
	defer done()
	if v == nil {
		return scalar[bool]{}
	}
	b, ok := v.(*ast.BoolNode)
	if !ok {
		d.wrong(v, what+" takes true or false")
		return scalar[bool]{}
	}
	return scalar[bool]{b.Value, at(n), true}
}

func (d *decoder) integer(n ast.Node, what string, least, most int) scalar[int] {
	v, done := d.value(n)
	defer done()
	if v == nil {
		return scalar[int]{}
	}
	i, ok := v.(*ast.IntegerNode)
	if !ok {
		d.wrong(v, what+" takes a whole number")
		return scalar[int]{}
	}
	x, small := i.Value.(uint64)
	if !small || x < uint64(least) || x > uint64(most) {
		d.fail(at(n), "%s takes a number from %d to %d, not %s", what, least, most, i.Token.Value)
		return scalar[int]{}
	}
	return scalar[int]{int(x), at(n), true}
}

func (d *decoder) duration(n ast.Node, what string) scalar[time.Duration] {
	s := d.word(n, what)
	if !s.Set {
		return scalar[time.Duration]{}
	}
	t, err := ParseDuration(s.V)
	if err != nil {
		d.fail(s.Pos, "%s: %v", what, err)
		return scalar[time.Duration]{}
	}
	return scalar[time.Duration]{t, s.Pos, true}
}

// ParseDuration reads a time such as 30s, 2m or 1h30m. It is never negative.
func ParseDuration(s string) (time.Duration, error) {
	t, err := time.ParseDuration(s)
	if err != nil || t < 0 {
		return 0, fault.New(fault.InvalidArgument, "%q is not a time such as 500ms, 30s or 2m", store.Shown(s))
	}
	return t, nil
}
