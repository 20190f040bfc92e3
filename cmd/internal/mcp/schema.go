package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Types of JSON values, as schemas name them.
const (
	typeObject  = "object"
	typeText    = "string"
	typeNumber  = "number"
	typeInteger = "integer"
	typeBoolean = "boolean"
	typeList    = "array"
	typeNull    = "null"
)

// inputSchema is the schema of a tool's parameters: the fields of In with their
// descriptions; those without omitempty are required, no others are taken.
func inputSchema[In any](words map[string][]string) *jsonschema.Schema {
	s := schemaOf[In]()
	for name, list := range words {
		for _, w := range list {
			s.Properties[name].Enum = append(s.Properties[name].Enum, w)
		}
	}
	for _, p := range s.Properties {
		single(p)
	}
	return s
}

// outputSchema is the schema of a result: the fields of Out, or error. None is
// required, and others may be there: what another program wrote is shown as it is.
func outputSchema[Out any]() *jsonschema.Schema {
	s := schemaOf[Out]()
	s.Properties["error"] = schemaOf[complaint]()
	loosen(s)
	return s
}

// schemaOf returns the schema of a struct of this package. It fails only for types
// that no JSON can hold, which the tests would see.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[api.Time]():        {Type: typeText, Format: "date-time"},
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[events.Event]():    {Type: typeObject},
	}})
	if err != nil || s.Properties == nil {
		return &jsonschema.Schema{Type: typeObject, Properties: map[string]*jsonschema.Schema{}}
	}
	return s
}

// single leaves of a choice of types the one that is not null: what may be left out
// may be null, too, but nobody needs to be told.
func single(s *jsonschema.Schema) {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == typeNull })
	if len(types) == 1 {
		s.Type, s.Types = types[0], nil
	}
}

func loosen(s *jsonschema.Schema) {
	s.Required, s.AdditionalProperties = nil, nil
	for _, p := range s.Properties {
		loosen(p)
	}
	if s.Items != nil {
		loosen(s.Items)
	}
}

// decode checks the parameters of a call by their schema and reads them into v:
// fault.InvalidArgument, with what is wrong and what the tool takes.
func decode(s *jsonschema.Schema, raw json.RawMessage, v any) error {
	fields := map[string]json.RawMessage{}
	if len(raw) > 0 && string(raw) != typeNull {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return fault.New(fault.InvalidArgument, "the parameters are no JSON object").WithHint("it takes %s", parameters(s))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		p, known := s.Properties[name]
		if !known {
			return fault.New(fault.InvalidArgument, "there is no parameter %q", store.Shown(name)).WithHint("it takes %s", parameters(s))
		}
		got := typeOf(fields[name])
		if got == typeNull && !slices.Contains(s.Required, name) {
			delete(fields, name)
			continue
		}
		if got != p.Type && !(got == typeInteger && p.Type == typeNumber) {
			return fault.New(fault.InvalidArgument, "the parameter %s is of type %s", name, got).WithHint("%s is of type %s: %s", name, p.Type, p.Description)
		}
		if got := oddItem(p, fields[name]); got != "" {
			return fault.New(fault.InvalidArgument, "the parameter %s holds a value of type %s", name, got).
				WithHint("%s is a list of values of type %s: %s", name, p.Items.Type, p.Description)
		}
	}
	for _, name := range s.Required {
		if _, given := fields[name]; !given {
			return fault.New(fault.InvalidArgument, "the parameter %s is missing", name).WithHint("it takes %s", parameters(s))
		}
	}
	clean, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(clean, v)
	}
	if err != nil {
		return fault.New(fault.InvalidArgument, "the parameters cannot be read: %w", err).WithHint("it takes %s", parameters(s))
	}
	return nil
}

// oddItem returns the type of an element of a list that is not of the list's type, or "".
func oddItem(p *jsonschema.Schema, raw json.RawMessage) string {
	var list []json.RawMessage
	if p.Items == nil || json.Unmarshal(raw, &list) != nil {
		return ""
	}
	for _, item := range list {
		if got := typeOf(item); got != p.Items.Type {
			return got
		}
	}
	return ""
}

// parameters lists what a tool takes, the required ones first.
func parameters(s *jsonschema.Schema) string {
	list := slices.Clone(s.Required)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			list = append(list, name+" (optional)")
		}
	}
	if len(list) == 0 {
		return "no parameters"
	}
	return strings.Join(list, ", ")
}

// typeOf is the type of a JSON value. A number is an integer if it has no fraction,
// however it is written.
func typeOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return typeNull
	case raw[0] == '{':
		return typeObject
	case raw[0] == '[':
		return typeList
	case raw[0] == '"':
		return typeText
	case raw[0] == 'n':
		return typeNull
	case raw[0] == 't' || raw[0] == 'f':
		return typeBoolean
	}
	if v, err := strconv.ParseFloat(string(raw), 64); err == nil && v == math.Trunc(v) {
		return typeInteger
	}
	return typeNumber
}
