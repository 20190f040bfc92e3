package rpc

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Schema is a JSON Schema (2020-12) of methods and of all types they speak.
type Schema map[string]any

// SchemaOf describes methods: under "methods" for each name what it takes and
// gives, and under "notifications" what the daemon says unasked; the types
// themselves stand under "$defs".
func SchemaOf(methods, notifications []Method) Schema {
	w := &writer{defs: map[string]any{}}
	table := func(list []Method) map[string]any {
		out := map[string]any{}
		for _, m := range list {
			entry := map[string]any{"description": m.About, "params": w.of(m.Params)}
			if m.Result != nil {
				entry["result"] = w.of(m.Result)
			}
			out[m.Name] = entry
		}
		return out
	}
	s := Schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "leadlight", "version": Version,
		"methods": table(methods), "notifications": table(notifications),
		"error": w.of(reflect.TypeFor[fault.Error]()),
	}
	s["$defs"] = w.defs
	return s
}

// writer collects the types that have a name.
type writer struct{ defs map[string]any }

// leaves are types whose JSON form is not that of their Go kind.
func leaves() map[reflect.Type]map[string]any {
	moment := map[string]any{"type": "string", "format": "date-time"}
	return map[reflect.Type]map[string]any{
		reflect.TypeFor[api.Time]():        moment,
		reflect.TypeFor[time.Time]():       moment,
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[any]():             {},
	}
}

func (w *writer) of(t reflect.Type) any {
	if leaf, ok := leaves()[t]; ok {
		return leaf
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.of(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": w.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": w.of(t.Elem())}
	case reflect.Struct:
		return w.object(t)
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer"}
}

// object writes a struct down once and refers to it.
func (w *writer) object(t reflect.Type) any {
	if t == reflect.TypeFor[Nothing]() {
		return map[string]any{"type": "object", "additionalProperties": false}
	}
	if _, known := w.defs[t.Name()]; !known {
		w.defs[t.Name()] = nil // it may hold itself
		properties, required := map[string]any{}, []string{}
		for _, f := range fieldsOf(t) {
			properties[f.name] = w.of(f.typ)
			if f.required {
				required = append(required, f.name)
			}
		}
		w.defs[t.Name()] = map[string]any{"type": "object", "properties": properties, "required": required}
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name()}
}

type field struct {
	name     string
	typ      reflect.Type
	required bool
}

// fieldsOf lists a struct's fields as JSON shows them, embedded ones in place.
func fieldsOf(t reflect.Type) []field {
	var out []field
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			out = append(out, fieldsOf(f.Type)...)
		case f.IsExported() && tag != "-":
			tag = cmp.Or(tag, f.Name)
			optional := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
			out = append(out, field{tag, f.Type, !optional})
		}
	}
	return out
}
