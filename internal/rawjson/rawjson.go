// Package rawjson edits JSON documents of other programs without touching what
// it was not asked to touch: the order of keys, unknown keys, repeated keys,
// numbers, nulls and the spelling of strings stay as they were found.
//
// A byte order mark before the document is passed over, and so is any white
// space JSON allows, CRLF included. Everything else is held to the grammar of RFC
// 8259; an error says at which byte the document goes wrong. Values are checked
// when a document is parsed, so what an Object or a list holds is valid JSON.
package rawjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// SyntaxError says where a document is not JSON, or not the JSON asked for.
type SyntaxError struct {
	Offset int // bytes before the fault, in the text that was parsed
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Msg) }

// Object is a JSON object. The zero value is an empty one. It is not safe for
// concurrent use.
type Object struct{ members []member }

type member struct {
	key   string          // "" if it is spelt as it is
	spelt json.RawMessage // the key as found, quotes included
	value json.RawMessage
}

func (m *member) is(key string) bool {
	if m.key != "" {
		return m.key == key
	}
	return string(m.spelt[1:len(m.spelt)-1]) == key
}

func (m *member) name() string { return cmp.Or(m.key, string(m.spelt[1:len(m.spelt)-1])) }

// ParseObject reads a document that is one object.
func ParseObject(data []byte) (*Object, error) {
	const short = 24 // bytes of a usual member: more members cost another allocation
	o := &Object{make([]member, 0, min(len(data)/short+2, 16))}
	if err := o.Parse(data); err != nil {
		return nil, err
	}
	return o, nil
}

// Parse is ParseObject into o, in the place of all that it holds.
func (o *Object) Parse(data []byte) error {
	s := scanner{data: data}
	s.space()
	if !s.at('{') {
		return s.unexpected("an object")
	}
	o.members = o.members[:0]
	err := s.members(func(key, value []byte) error {
		name := ""
		if !plain(key[1 : len(key)-1]) {
			var err error
			if name, err = unquote(key); err != nil {
				return s.fail("a key that cannot be read")
			}
		}
		o.members = append(o.members, member{name, key, value})
		return nil
	})
	if err != nil {
		return err
	}
	return s.end()
}

// ParseArray reads a document that is one array and returns its elements.
func ParseArray(data []byte) ([]json.RawMessage, error) {
	s := scanner{data: data}
	s.space()
	if !s.at('[') {
		return nil, s.unexpected("an array")
	}
	var list []json.RawMessage
	if err := s.elements(func(value []byte) { list = append(list, value) }); err != nil {
		return nil, err
	}
	return list, s.end()
}

// Valid says whether data is one JSON document, and if not, where not.
func Valid(data []byte) error {
	s := scanner{data: data}
	s.space()
	if err := s.value(); err != nil {
		return err
	}
	return s.end()
}

// Keys returns the keys in the order of the document; a repeated one repeatedly. An empty
// object has none: nil.
func (o *Object) Keys() []string {
	keys := slices.Grow([]string(nil), len(o.members))
	for i := range o.members {
		keys = append(keys, o.members[i].name())
	}
	return keys
}

// Len returns how many members there are.
func (o *Object) Len() int { return len(o.members) }

// Get returns the value of key; of a repeated key the last, as JavaScript does.
func (o *Object) Get(key string) (json.RawMessage, bool) {
	i := o.find(key)
	if i < 0 {
		return nil, false
	}
	return o.members[i].value, true
}

// All returns the values of the keys, each time that one occurs; nulls are passed over.
func (o *Object) All(keys ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, m := range o.members {
		if slices.ContainsFunc(keys, m.is) && !IsNull(m.value) {
			all = append(all, m.value)
		}
	}
	return all
}

// Texts returns the different texts that the keys have, which are spellings of one; empty
// ones, and what is no text, are passed over.
func (o *Object) Texts(keys ...string) []string {
	var all []string
	for _, raw := range o.All(keys...) {
		if s, _ := String(raw); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// Set gives key a value, which must be valid JSON: in its place if there is one,
// else at the end.
func (o *Object) Set(key string, value json.RawMessage) {
	if i := o.find(key); i >= 0 {
		o.members[i].value = value
		return
	}
	o.members = append(o.members, member{key, Quote(key), value})
}

// Delete removes key, each time it occurs.
func (o *Object) Delete(key string) {
	o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.is(key) })
}

func (o *Object) find(key string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].is(key) {
			return i
		}
	}
	return -1
}

// Raw returns the object as one value.
func (o *Object) Raw() json.RawMessage {
	size := 2 + 2*len(o.members)
	for i := range o.members {
		size += len(o.members[i].spelt) + len(o.members[i].value)
	}
	b := append(make([]byte, 0, size), '{')
	for i := range o.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, o.members[i].spelt...), ':'), o.members[i].value...)
	}
	return append(b, '}')
}

// Array returns the values as one value.
func Array(values []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(v)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// Pretty lays a value out as JavaScript's JSON.stringify(value, null, 2) does:
// two spaces, no newline at the end. Prefix is put before each line but the
// first.
func Pretty(value json.RawMessage, prefix string) []byte {
	var b bytes.Buffer
	b.Grow(len(value) + len(value)/4)
	if err := json.Indent(&b, value, prefix, "  "); err != nil {
		return value // not JSON after all: leave it as it is
	}
	return b.Bytes()
}

// Quote returns s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func Quote(s string) json.RawMessage {
	for _, c := range []byte(s) {
		if c < ' ' || c == '"' || c == '\\' || c > '~' {
			return Encode(s)
		}
	}
	b := make([]byte, 0, len(s)+2) // it stands for itself
	return append(append(append(b, '"'), s...), '"')
}

// Encode returns v as JSON without the escapes that only web pages need. V must
// be of a kind that encoding/json can encode; else the result is null.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// String returns the string that raw is, if it is one.
func String(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	s, err := unquote(raw)
	return s, err == nil
}

// RequestKeys are the spellings under which messages of agents name the request that they are
// about.
func RequestKeys() []string { return []string{"requestId", "request_id", "requestID"} }

// Yes tells whether raw is true, as such or as a text in letters of any case.
func Yes(raw json.RawMessage) bool {
	return string(raw) == "true" || bytes.EqualFold(raw, []byte(`"true"`))
}

func unquote(raw []byte) (string, error) {
	if body := raw[1 : len(raw)-1]; plain(body) {
		return string(body), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// plain tells whether the body of a string stands for itself.
func plain(body []byte) bool {
	return !slices.ContainsFunc(body, func(c byte) bool { return c == '\\' || c >= 0x80 })
}

// IsNull tells whether raw is null or nothing.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
