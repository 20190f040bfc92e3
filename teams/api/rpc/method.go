// Package rpc is the daemon's API: JSON-RPC 2.0 over a unix socket, one JSON
// object a line. It has a typed Client for programs and the Methods of the other half,
// which package serve serves, and says what both speak as JSON Schema.
//
// Parameters are one object, by name. Unknown names are refused. Times are RFC
// 3339 in UTC with milliseconds, durations are milliseconds in fields that end in
// Ms. An error's data is a fault.Error: code, message and hint as the command line
// tells them; its number is -32000 minus the exit status that belongs to the code,
// or JSON-RPC's own.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Version is the version of this protocol. It changes only when something that
// was there goes away; what comes on top does not change it.
const Version = 1

// Method is one thing that can be asked for.
type Method struct {
	Name   string // such as live.spawn
	About  string // one sentence
	Params reflect.Type
	Result reflect.Type
	handle func(context.Context, json.RawMessage) (any, error)
	lead   bool // refused to a teammate
}

// OfLead is the method, for whoever is no teammate: NOT_LEAD.
func (m Method) OfLead() Method {
	m.lead = true
	return m
}

// Nothing is the parameters, or the result, of a method that has none.
type Nothing struct{}

// Func makes a method of a function. P is a struct whose JSON form is the
// parameters; those without "omitempty" are required. Errors carry codes of
// package fault.
func Func[P, R any](name, about string, f func(context.Context, P) (R, error)) Method {
	return Method{
		Name: name, About: about, Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R](),
		handle: func(ctx context.Context, raw json.RawMessage) (any, error) {
			var p P
			if err := decode(name, raw, &p); err != nil {
				return nil, err
			}
			return f(ctx, p)
		},
	}
}

// Carry carries the method out. raw are its parameters, as they came.
func (m Method) Carry(ctx context.Context, raw json.RawMessage) (any, error) {
	if m.lead { // only then: to find out who asks costs a look at its ancestors
		if who, is := TeammateOf(ctx); is {
			return nil, NotLead(who, "call "+m.Name)
		}
	}
	if !utf8.Valid(raw) { // else the bytes would be replaced without a word
		return nil, fault.New(fault.InvalidArgument, "the parameters of %s are not UTF-8", m.Name)
	}
	return m.handle(ctx, raw)
}

// decode reads parameters strictly: a misspelt name must not be passed over.
func decode(method string, raw json.RawMessage, into any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	err := rawjson.Strict(raw, into)
	if err == nil {
		err = missing(raw, reflect.TypeOf(into).Elem())
	}
	if err != nil {
		return fault.New(fault.InvalidArgument, "the parameters of %s: %w", method, err).
			WithHint("leadlight daemon schema shows what %s takes", method)
	}
	return nil
}

// missing says which required parameter is not there.
func missing(raw json.RawMessage, t reflect.Type) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	for _, f := range fieldsOf(t) {
		if _, ok := given[f.name]; f.required && !ok {
			return errors.New(f.name + " is missing")
		}
	}
	return nil
}
