package config

import (
	"fmt"
	"slices"
	"strings"
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

// place is where a value stands; false: there is none, or a wrong one.
func (s scalar[T]) place() (Pos, bool) { return s.Pos, s.Set }

// A reading reads a value. What is wrong is a mistake of the decoder.
type reading[T any] func(d *decoder, n ast.Node, what string) scalar[T]

// into puts what is read, and its place, to where it belongs; valueInto the value alone.
func into[T any](to *scalar[T], read reading[T]) reader {
	return func(d *decoder, n ast.Node, what string) { *to = read(d, n, what) }
}

func valueInto[T any](to *T, read reading[T]) reader {
	return func(d *decoder, n ast.Node, what string) { *to = read(d, n, what).V }
}

// text reads text. Numbers and truth values want quotes, so that "1.10" stays
// what it is.
func text(d *decoder, n ast.Node, what string) scalar[string] {
	v, done := d.value(n)
	defer done()
	switch s := v.(type) {
	case nil:
	case *ast.StringNode:
		if strings.ContainsRune(s.Value, 0) {
			d.fail(at(n), "%s cannot hold a NUL", what) // no command and no variable can, and one would be cut there
			break
		}
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
func word(d *decoder, n ast.Node, what string) scalar[string] {
	v, done := d.value(n)
	defer done()
	switch v.(type) {
	case nil:
		return scalar[string]{}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return scalar[string]{v.GetToken().Value, at(n), true}
	}
	return text(d, v, what)
}

// oneOf reads one of the words.
func oneOf(words ...string) reading[string] {
	return func(d *decoder, n ast.Node, what string) scalar[string] {
		s := text(d, n, what)
		if s.Set && !slices.Contains(words, s.V) {
			d.fail(s.Pos, "%s takes %s, not %q%s", what, orList(words), store.Shown(s.V), didYouMean(s.V, words))
			return scalar[string]{}
		}
		return s
	}
}

func boolean(d *decoder, n ast.Node, what string) scalar[bool] {
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

// integer reads a whole number from 1 to a bound.
func integer(most int) reading[int] {
	return func(d *decoder, n ast.Node, what string) scalar[int] {
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
		if !small || x < 1 || x > uint64(most) {
			d.fail(at(n), "%s takes a number from 1 to %d, not %s", what, most, i.Token.Value)
			return scalar[int]{}
		}
		return scalar[int]{int(x), at(n), true}
	}
}

func duration(d *decoder, n ast.Node, what string) scalar[time.Duration] {
	s := word(d, n, what)
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
