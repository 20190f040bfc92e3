// Package document reads and writes the documents of a team, its roster and its tasks, in
// the form of Claude Code's files, and lets survive what is not ours in them. It
// does not know where they are kept.
package document

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Field maps one key of a JSON object to a part of a T.
type Field[T any] struct {
	Key string
	// Kind is what the value should be. One of another kind is passed over.
	Kind kind
	// Load reads the value.
	Load func(v *T, raw json.RawMessage)
	// Save returns the value to write, nil for none. found is what the file has,
	// nil for nothing: a value with parts we do not know is built on it.
	Save func(v *T, found json.RawMessage) json.RawMessage
	// Same, if not nil, tells what comparing what Save returns would, but costs less.
	Same func(was, now *T) bool
	// Fresh is written to a new object where Save returns nil.
	Fresh string
}

// Decode reads an object and returns what no field reads, and what is odd in the rest.
func Decode[T any](o *rawjson.Object, v *T, fields []Field[T]) (unknown map[string]json.RawMessage, odd []string) {
	found := 0
	for _, f := range fields {
		if raw, ok := o.Get(f.Key); ok {
			if found++; rawjson.IsNull(raw) {
				continue
			}
			if !f.Kind.fits(raw) {
				odd = append(odd, f.Kind.odd(f.Key))
			}
			f.Load(v, raw)
		}
	}
	if found == o.Len() { // every key is known, none is there twice
		return nil, odd
	}
	for _, key := range o.Keys() {
		if slices.ContainsFunc(fields, func(f Field[T]) bool { return f.Key == key }) {
			continue
		}
		if unknown == nil {
			unknown = map[string]json.RawMessage{}
		}
		unknown[key], _ = o.Get(key)
	}
	return unknown, odd
}

// Amend writes those fields of now that differ from was, which was decoded from
// o; everything else in o stays as it is.
func Amend[T any](o *rawjson.Object, was, now *T, fields []Field[T]) {
	for _, f := range fields {
		if f.same(was, now) {
			continue
		}
		found, _ := o.Get(f.Key)
		if raw := f.Save(now, found); raw != nil {
			o.Set(f.Key, raw)
		} else {
			o.Delete(f.Key)
		}
	}
}

func (f Field[T]) same(was, now *T) bool {
	if f.Same != nil {
		return f.Same(was, now)
	}
	return bytes.Equal(f.Save(was, nil), f.Save(now, nil))
}

// Compose writes a new object.
func Compose[T any](v *T, fields []Field[T]) *rawjson.Object {
	o := new(rawjson.Object)
	for _, f := range fields {
		if raw := f.Save(v, nil); raw != nil {
			o.Set(f.Key, raw)
		} else if f.Fresh != "" {
			o.Set(f.Key, json.RawMessage(f.Fresh))
		}
	}
	return o
}

// Text is a string that is left out when it is empty.
func Text[T any](key string, at func(*T) *string) Field[T] {
	return Field[T]{Key: key, Kind: aText,
		Load: func(v *T, raw json.RawMessage) {
			if s, ok := rawjson.String(raw); ok {
				*at(v) = s
			}
		},
		Save: func(v *T, _ json.RawMessage) json.RawMessage {
			if *at(v) == "" {
				return nil
			}
			return rawjson.Quote(*at(v))
		},
		Same: func(was, now *T) bool { return *at(was) == *at(now) }}
}

// Always makes a field keep its key in new objects and when it becomes empty.
func Always[T any](f Field[T], empty string) Field[T] {
	save := f.Save
	f.Save = func(v *T, found json.RawMessage) json.RawMessage {
		if raw := save(v, found); raw != nil {
			return raw
		}
		return json.RawMessage(empty)
	}
	return f
}

// Constant is a field that we only ever write.
func Constant[T any](key, value string) Field[T] {
	return Field[T]{Key: key, Fresh: value,
		Load: func(*T, json.RawMessage) {},
		Save: func(*T, json.RawMessage) json.RawMessage { return nil }}
}

// millis is a time in milliseconds since 1970, as JavaScript's Date.now gives it.
func millis[T any](key string, at func(*T) *time.Time) Field[T] {
	return Field[T]{Key: key, Kind: aTime,
		Load: func(v *T, raw json.RawMessage) { *at(v) = store.ParseTime(raw) },
		Save: func(v *T, _ json.RawMessage) json.RawMessage {
			if at(v).IsZero() {
				return nil
			}
			return rawjson.Encode(at(v).UnixMilli())
		}}
}

// Scalar is a value that is left out when it is zero. A value of another kind is
// passed over.
func Scalar[T any, V comparable](key string, at func(*T) *V) Field[T] {
	return Field[T]{Key: key, Kind: kindOf[V](),
		Load: func(v *T, raw json.RawMessage) {
			if flag, ok := any(at(v)).(*bool); ok {
				*flag = string(raw) == "true"
				return
			}
			var x V
			if json.Unmarshal(raw, &x) == nil {
				*at(v) = x
			}
		},
		Save: func(v *T, _ json.RawMessage) json.RawMessage {
			var zero V
			if *at(v) == zero {
				return nil
			}
			return rawjson.Encode(*at(v))
		}}
}

// optional is a value behind a pointer; nil is absence.
func optional[T, V any](key string, at func(*T) **V) Field[T] {
	return Field[T]{Key: key, Kind: kindOf[V](),
		Load: func(v *T, raw json.RawMessage) {
			x := new(V)
			if json.Unmarshal(raw, x) == nil {
				*at(v) = x
			}
		},
		Save: func(v *T, _ json.RawMessage) json.RawMessage {
			if *at(v) == nil {
				return nil
			}
			return rawjson.Encode(*at(v))
		}}
}

// nested is an object with fields of its own; unknown ones in it survive.
func nested[T, U any](key string, at func(*T) **U, fields []Field[U]) Field[T] {
	return Field[T]{Key: key, Kind: anObject,
		Load: func(v *T, raw json.RawMessage) {
			if o, err := rawjson.ParseObject(raw); err == nil {
				u := new(U)
				Decode(o, u, fields)
				*at(v) = u
			}
		},
		Save: func(v *T, found json.RawMessage) json.RawMessage {
			u := *at(v)
			if u == nil {
				return nil
			}
			o, err := rawjson.ParseObject(found)
			if err != nil {
				return Compose(u, fields).Raw()
			}
			was := new(U)
			Decode(o, was, fields)
			Amend(o, was, u, fields)
			return o.Raw()
		}}
}

// metadata is the open object "metadata". Some of its keys are fields of T of
// their own; the others are in the map, which is kept as it was found.
func metadata[T any](at func(*T) *map[string]json.RawMessage, own ...Field[T]) Field[T] {
	owned := func(key string) bool {
		return slices.ContainsFunc(own, func(f Field[T]) bool { return f.Key == key })
	}
	var same func(was, now *T) bool
	if len(own) == 0 { // all of it is in the map
		same = func(was, now *T) bool {
			return maps.EqualFunc(*at(was), *at(now), func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
		}
	}
	return Field[T]{Key: "metadata", Kind: anObject, Same: same,
		Load: func(v *T, raw json.RawMessage) {
			o, err := rawjson.ParseObject(raw)
			if err != nil { // kept, because it cannot stay in its place when something is added
				*at(v) = map[string]json.RawMessage{"value": raw}
				return
			}
			Decode(o, v, own)
			*at(v) = map[string]json.RawMessage{}
			for _, key := range o.Keys() {
				(*at(v))[key], _ = o.Get(key)
			}
		},
		Save: func(v *T, found json.RawMessage) json.RawMessage {
			o, err := rawjson.ParseObject(found)
			if err != nil {
				o = new(rawjson.Object)
			}
			was := v
			if len(own) > 0 {
				was = new(T)
				Decode(o, was, own)
			}
			for _, key := range o.Keys() {
				if _, kept := (*at(v))[key]; !kept && !owned(key) {
					o.Delete(key)
				}
			}
			for _, key := range slices.Sorted(maps.Keys(*at(v))) {
				if raw, _ := o.Get(key); !owned(key) && !bytes.Equal(raw, (*at(v))[key]) {
					o.Set(key, (*at(v))[key])
				}
			}
			Amend(o, was, v, own)
			if o.Len() == 0 && len(found) == 0 {
				return nil
			}
			return o.Raw()
		}}
}

// stringList is a list of ids. One that stands alone is a list of one. What is no id counts as
// the id of a task that is not there: who waits for it is not free.
func stringList[T any](key string, at func(*T) *[]string) Field[T] {
	return Field[T]{Key: key, Kind: idList,
		Load: func(v *T, raw json.RawMessage) {
			list, err := rawjson.ParseArray(raw)
			if err != nil {
				list = []json.RawMessage{raw}
			}
			for _, item := range list {
				id, ok := idText(item)
				if o, err := rawjson.ParseObject(item); err == nil { // a task instead of its id
					own, _ := o.Get("id")
					id, ok = idText(own)
				}
				if !ok && !rawjson.IsNull(item) && string(item) != "false" && string(item) != "{}" {
					id = string(item)
				}
				if id != "" {
					*at(v) = append(*at(v), id)
				}
			}
		},
		Save: func(v *T, _ json.RawMessage) json.RawMessage {
			if len(*at(v)) == 0 {
				return nil
			}
			return rawjson.Encode(*at(v))
		},
		Same: func(was, now *T) bool { return slices.Equal(*at(was), *at(now)) }}
}

// idText reads an id that is a string or a number.
func idText(raw json.RawMessage) (string, bool) {
	if s, ok := rawjson.String(raw); ok {
		return s, true
	}
	var n int64
	if !rawjson.IsNull(raw) && json.Unmarshal(raw, &n) == nil {
		return strconv.FormatInt(n, 10), true
	}
	return "", false
}
