package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Limits of a configuration file. The parser's time grows with the square of
// tokens and depth, so both are bounded before it begins (the lexer's does not).
// maxNodes bounds what aliases can blow up.
const (
	maxFile   = store.MaxPrompt + 1<<20
	maxTokens = 50_000
	maxNodes  = 100_000
	maxDepth  = 64
	maxShown  = 10
)

// Pos is a place in a configuration file, counted from 1; the zero value is
// nowhere.
type Pos struct{ Line, Col int }

func (p Pos) in(file string) string { return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Col) }

// A mistake is one thing that is wrong in a file.
type mistake struct {
	pos  Pos
	text string
}

// decoder turns the syntax tree of one YAML file into values. It goes on after
// a mistake, so that a person sees all of them at once. The library's own decoding
// into structs ends at the first mistake (of several unknown keys at any one), names Go's
// types in it, and makes "1.1" of the version 1.10 where text is wanted, without a word.
type decoder struct {
	file     string
	code     fault.Code // of mistakes
	mistakes []mistake
	anchors  map[string]ast.Node
	open     map[string]bool // aliases being followed
	nodes    int
	depth    int
	overrun  bool // maxNodes or maxDepth was reached, and said
}

// A Key is one key of a mapping: its name, what it takes and means (the help
// topic is printed from these), and what reads its value to where it belongs.
type Key struct {
	Name, Form, Doc string
	read            reader
}

// A reader reads the value of what, which is the name of its key.
type reader func(d *decoder, n ast.Node, what string)

// parse returns the root of the one document in data, nil for an empty file.
func (d *decoder) parse(data []byte) (root ast.Node) {
	if len(data) > maxFile {
		d.fail(Pos{1, 1}, "the file is larger than %d bytes", maxFile)
		return nil
	}
	if at := strings.IndexByte(string(data), 0); at >= 0 {
		d.fail(Pos{1 + strings.Count(string(data[:at]), "\n"), 1}, "not a text file")
		return nil
	}
	// The parser is somebody else's: a panic in it is this file's mistake.
	defer func() {
		if r := recover(); r != nil {
			root = nil
			d.fail(Pos{1, 1}, "not YAML that can be read (%v)", r)
		}
	}()
	tokens := lexer.Tokenize(strings.TrimPrefix(string(data), "\ufeff"))
	if at := tooMuch(tokens); at != nil {
		d.fail(tokenPos(at), "too much in one file, or nested too deep")
		return nil
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return nil
	}
	for _, doc := range f.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			d.fail(at(doc.Body), "a second document; one file holds one")
			return nil
		default:
			root = doc.Body
		}
	}
	return root
}

// tooMuch returns the token at which a file is more than a person writes.
func tooMuch(tokens token.Tokens) *token.Token {
	depth := 0
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if i == maxTokens || depth > maxDepth {
			return t
		}
	}
	return nil
}

func (d *decoder) syntax(err error) {
	pos, text := Pos{1, 1}, err.Error()
	if y, ok := errors.AsType[yaml.Error](err); ok {
		pos, text = tokenPos(y.GetToken()), y.GetMessage()
	}
	d.fail(pos, "not YAML: %s", text)
}

func (d *decoder) fail(pos Pos, format string, args ...any) {
	d.mistakes = append(d.mistakes, mistake{pos, fmt.Sprintf(format, args...)})
}

// err returns all mistakes as one error, in the order of the file, or nil.
func (d *decoder) err(hint string) error {
	if len(d.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(d.mistakes, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.pos.Line, b.pos.Line), cmp.Compare(a.pos.Col, b.pos.Col))
	})
	var lines []string
	for i, m := range d.mistakes {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(d.mistakes)-i))
			break
		}
		lines = append(lines, m.pos.in(d.file)+": "+m.text)
	}
	return fault.New(d.code, "%s", strings.Join(lines, "\n  ")).WithHint("%s", hint)
}

// value follows anchors, aliases and tags to the node that holds the value.
// done must be called when the node has been read.
func (d *decoder) value(n ast.Node) (v ast.Node, done func()) {
	d.nodes++
	d.depth++
	var opened []string
	done = func() {
		d.depth--
		for _, name := range opened {
			delete(d.open, name)
		}
	}
	if d.nodes > maxNodes || d.depth > maxDepth {
		if !d.overrun {
			d.fail(at(n), "too much in one file, or nested too deep")
		}
		d.overrun = true
	}
	if d.overrun {
		return nil, done
	}
	for {
		switch t := n.(type) {
		case *ast.AnchorNode:
			if t.Name != nil {
				d.anchors[t.Name.GetToken().Value] = t.Value
			}
			n = t.Value
		case *ast.AliasNode:
			name := t.Value.GetToken().Value
			target, known := d.anchors[name]
			if !known || d.open[name] {
				d.fail(at(t), "the alias *%s leads nowhere", store.Shown(name))
				return nil, done
			}
			d.open[name] = true
			opened = append(opened, name)
			n = target
		case *ast.TagNode:
			n = t.Value
		default:
			return n, done
		}
	}
}

// readMap reads a mapping by its table of keys. An absent value reads as absent.
func (d *decoder) readMap(n ast.Node, what string, keys []Key) {
	d.eachKey(n, what, func(name string, pos Pos, v ast.Node) {
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
		if i < 0 {
			names := make([]string, len(keys))
			for i, k := range keys {
				names[i] = k.Name
			}
			d.fail(pos, "unknown key %q in %s%s", store.Shown(name), what, didYouMean(name, names))
			return
		}
		if !isNull(v) {
			keys[i].read(d, v, name)
		}
	})
}

// eachKey calls each for every key of a mapping, its doubles refused.
func (d *decoder) eachKey(n ast.Node, what string, each func(name string, pos Pos, v ast.Node)) {
	v, done := d.value(n)
	defer done()
	if v == nil {
		return
	}
	var pairs []*ast.MappingValueNode
	switch m := v.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		d.wrong(v, what+" takes keys and values")
		return
	}
	first := map[string]Pos{}
	for _, p := range pairs {
		pos := at(p.Key)
		if p.Key.IsMergeKey() {
			d.fail(pos, "merge keys (<<) are not supported")
			continue
		}
		name := p.Key.GetToken().Value
		if s, ok := p.Key.(*ast.StringNode); ok {
			name = s.Value
		}
		if before, double := first[name]; double {
			d.fail(pos, "the key %q stands here again (first in line %d)", store.Shown(name), before.Line)
			continue
		}
		first[name] = pos
		each(name, pos, p.Value)
	}
}

// eachItem calls each for every element of a list.
func (d *decoder) eachItem(n ast.Node, what string, each func(v ast.Node)) {
	v, done := d.value(n)
	defer done()
	if v == nil {
		return
	}
	list, ok := v.(*ast.SequenceNode)
	if !ok {
		d.wrong(v, what+" takes a list")
		return
	}
	for _, item := range list.Values {
		each(item)
	}
}

// wrong reports a value of the wrong type.
func (d *decoder) wrong(n ast.Node, want string) {
	d.fail(at(n), "%s, not %s", want, kindOf(n))
}

func at(n ast.Node) Pos {
	if n == nil {
		return Pos{1, 1}
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key
	}
	return tokenPos(n.GetToken())
}

func tokenPos(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{1, 1}
	}
	return Pos{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}

func isNull(n ast.Node) bool {
	_, null := n.(*ast.NullNode)
	return null || n == nil
}

func kindOf(n ast.Node) string {
	switch n.Type() {
	case ast.StringType, ast.LiteralType:
		return "text"
	case ast.IntegerType:
		return "a number"
	case ast.FloatType, ast.InfinityType, ast.NanType:
		return "a fraction"
	case ast.BoolType:
		return "true or false"
	case ast.MappingType, ast.MappingValueType:
		return "keys and values"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "nothing"
	}
	return "this"
}
