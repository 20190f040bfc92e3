package claudefs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// field maps one key of a JSON object to a part of a T.
type field[T any] struct {
	key string
	// load reads the value. What is of another kind than expected is passed over.
	load func(v *T, raw json.RawMessage)
	// save returns the value to write, nil for none. found is what the file has,
	// nil for nothing: a value with parts we do not know is built on it.
	save func(v *T, found json.RawMessage) json.RawMessage
	// fresh is written to a new object where save returns nil.
	fresh string
}

// decode reads an object and returns what no field reads.
func decode[T any](o *rawjson.Object, v *T, fields []field[T]) map[string]json.RawMessage {
	unknown := map[string]json.RawMessage{}
	for _, key := range o.Keys() {
		unknown[key], _ = o.Get(key)
	}
	for _, f := range fields {
		if raw, ok := o.Get(f.key); ok {
			delete(unknown, f.key)
			if !rawjson.IsNull(raw) {
				f.load(v, raw)
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return unknown
}

// amend writes those fields of now that differ from was, which was decoded from
// o; everything else in o stays as it is.
func amend[T any](o *rawjson.Object, was, now *T, fields []field[T]) {
	for _, f := range fields {
		if bytes.Equal(f.save(was, nil), f.save(now, nil)) {
			continue
		}
		found, _ := o.Get(f.key)
		if raw := f.save(now, found); raw != nil {
			o.Set(f.key, raw)
		} else {
			o.Delete(f.key)
		}
	}
}

// compose writes a new object.
func compose[T any](v *T, fields []field[T]) *rawjson.Object {
	o := new(rawjson.Object)
	for _, f := range fields {
		if raw := f.save(v, nil); raw != nil {
			o.Set(f.key, raw)
		} else if f.fresh != "" {
			o.Set(f.key, json.RawMessage(f.fresh))
		}
	}
	return o
}

// text is a string that is left out when it is empty.
func text[T any](key string, at func(*T) *string) field[T] {
	return field[T]{key: key,
		load: func(v *T, raw json.RawMessage) {
			if s, ok := rawjson.String(raw); ok {
				*at(v) = s
			}
		},
		save: func(v *T, _ json.RawMessage) json.RawMessage {
			if *at(v) == "" {
				return nil
			}
			return rawjson.Quote(*at(v))
		}}
}

// always makes a field keep its key in new objects and when it becomes empty.
func always[T any](f field[T], empty string) field[T] {
	save := f.save
	f.save = func(v *T, found json.RawMessage) json.RawMessage {
		if raw := save(v, found); raw != nil {
			return raw
		}
		return json.RawMessage(empty)
	}
	return f
}

// millis is a time in milliseconds since 1970, as JavaScript's Date.now gives it.
func millis[T any](key string, at func(*T) *time.Time) field[T] {
	return field[T]{key: key,
		load: func(v *T, raw json.RawMessage) { *at(v) = store.ParseTime(raw) },
		save: func(v *T, _ json.RawMessage) json.RawMessage {
			if at(v).IsZero() {
				return nil
			}
			return rawjson.Encode(at(v).UnixMilli())
		}}
}

// scalar is a value that is left out when it is zero. A value of another kind is
// passed over.
func scalar[T any, V comparable](key string, at func(*T) *V) field[T] {
	return field[T]{key: key,
		load: func(v *T, raw json.RawMessage) {
			var x V
			if json.Unmarshal(raw, &x) == nil {
				*at(v) = x
			}
		},
		save: func(v *T, _ json.RawMessage) json.RawMessage {
			var zero V
			if *at(v) == zero {
				return nil
			}
			return rawjson.Encode(*at(v))
		}}
}

// optional is a value behind a pointer; nil is absence.
func optional[T, V any](key string, at func(*T) **V) field[T] {
	return field[T]{key: key,
		load: func(v *T, raw json.RawMessage) {
			x := new(V)
			if json.Unmarshal(raw, x) == nil {
				*at(v) = x
			}
		},
		save: func(v *T, _ json.RawMessage) json.RawMessage {
			if *at(v) == nil {
				return nil
			}
			return rawjson.Encode(*at(v))
		}}
}

// nested is an object with fields of its own; unknown ones in it survive.
func nested[T, U any](key string, at func(*T) **U, fields []field[U]) field[T] {
	return field[T]{key: key,
		load: func(v *T, raw json.RawMessage) {
			if o, err := rawjson.ParseObject(raw); err == nil {
				u := new(U)
				decode(o, u, fields)
				*at(v) = u
			}
		},
		save: func(v *T, found json.RawMessage) json.RawMessage {
			u := *at(v)
			if u == nil {
				return nil
			}
			o, err := rawjson.ParseObject(found)
			if err != nil {
				return compose(u, fields).Raw()
			}
			was := new(U)
			decode(o, was, fields)
			amend(o, was, u, fields)
			return o.Raw()
		}}
}

// metadata is the open object "metadata". Some of its keys are fields of T of
// their own; the others are in the map, which is kept as it was found.
func metadata[T any](at func(*T) *map[string]json.RawMessage, own ...field[T]) field[T] {
	owned := func(key string) bool {
		return slices.ContainsFunc(own, func(f field[T]) bool { return f.key == key })
	}
	return field[T]{key: "metadata",
		load: func(v *T, raw json.RawMessage) {
			o, err := rawjson.ParseObject(raw)
			if err != nil {
				return
			}
			decode(o, v, own)
			*at(v) = map[string]json.RawMessage{}
			for _, key := range o.Keys() {
				(*at(v))[key], _ = o.Get(key)
			}
		},
		save: func(v *T, found json.RawMessage) json.RawMessage {
			o, err := rawjson.ParseObject(found)
			if err != nil {
				o = new(rawjson.Object)
			}
			was := new(T)
			decode(o, was, own)
			for _, key := range o.Keys() {
				if _, kept := (*at(v))[key]; !kept && !owned(key) {
					o.Delete(key)
				}
			}
			for _, key := range sortedKeys(*at(v)) {
				if raw, _ := o.Get(key); !owned(key) && !bytes.Equal(raw, (*at(v))[key]) {
					o.Set(key, (*at(v))[key])
				}
			}
			amend(o, was, v, own)
			if o.Len() == 0 && len(found) == 0 {
				return nil
			}
			return o.Raw()
		}}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// stringList is a list of strings. Numbers in it are read as their digits; anything
// else is passed over.
func stringList[T any](key string, at func(*T) *[]string) field[T] {
	return field[T]{key: key,
		load: func(v *T, raw json.RawMessage) {
			list, err := rawjson.ParseArray(raw)
			if err != nil {
				return
			}
			for _, item := range list {
				if s, ok := idText(item); ok {
					*at(v) = append(*at(v), s)
				}
			}
		},
		save: func(v *T, _ json.RawMessage) json.RawMessage {
			if len(*at(v)) == 0 {
				return nil
			}
			return rawjson.Encode(*at(v))
		}}
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
