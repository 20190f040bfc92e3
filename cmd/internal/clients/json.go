package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// jsonEdit edits an object of servers, the member key of the file. If that has a member
// group, an object of servers too, they are in there. The file must be plain JSON.
func jsonEdit(key, group string, fieldsOf func(Server) []field) func([]byte, Server) ([]byte, error) {
	return func(file []byte, s Server) ([]byte, error) {
		body, hasBOM := bytes.CutPrefix(file, []byte("\xef\xbb\xbf"))
		if len(bytes.TrimSpace(body)) == 0 {
			body = append(bytes.Clone(body), "{}\n"...)
		}
		root, err := plainJSON(body)
		if err != nil {
			return nil, err
		}
		e := editor{file: body, newline: newline(body), step: indentOf(body, root)}
		if err := e.set(root, key, group, s.Name, fieldsOf(s)); err != nil {
			return nil, err
		}
		if hasBOM {
			return append([]byte("\xef\xbb\xbf"), e.file...), nil
		}
		return e.file, nil
	}
}

// plainJSON finds the object of a file.
func plainJSON(file []byte) (value, error) {
	var root json.RawMessage
	err := json.Unmarshal(file, &root)
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := int(bad.Offset) - 1
		if at < len(file) && strings.ContainsRune("/}]", rune(file[at])) {
			return value{}, byHand(fault.Unsupported, file, at, "leadlight edits no file with comments or trailing commas")
		}
		return value{}, byHand(fault.CorruptFile, file, at, "not JSON: "+bad.Error())
	}
	if err != nil || root[0] != '{' {
		return value{}, byHand(fault.Unsupported, file, 0, "this is no JSON object")
	}
	from := bytes.IndexByte(file, '{')
	return valueAt(file, from, from+len(root)), nil
}

// editor changes one file of JSON.
type editor struct {
	file          []byte
	newline, step string
}

// set sets the fields of one server. Other fields that it has stay.
func (e *editor) set(root value, key, group, name string, fields []field) error {
	depth := 2
	servers, found := root.member(key)
	if !found {
		e.insert(root, 1, member(key, "{"+e.line(2)+member(name, e.object(fields, depth))+e.line(1)+"}"))
		return nil
	}
	servers = valueAt(e.file, servers.from, servers.to)
	if servers.members == nil {
		return byHand(fault.Unsupported, e.file, servers.from, `"`+key+`" is no object`)
	}
	if below, found := servers.member(group); found && group != "" {
		below = valueAt(e.file, below.from, below.to)
		if _, server := below.member("type"); below.members != nil && !server {
			servers, depth = below, 3
		}
	}
	if before, found := servers.member(name); found {
		e.update(valueAt(e.file, before.from, before.to), fields, depth)
	} else {
		e.insert(servers, depth, member(name, e.object(fields, depth)))
	}
	return nil
}

// update changes the fields of a server that stands in the file. One over the network is
// replaced as a whole.
func (e *editor) update(old value, fields []field, depth int) {
	remote := func(m entry) bool { return slices.Contains(overNetwork(), m.name) }
	if old.members == nil || slices.ContainsFunc(old.members, remote) {
		e.splice(old.from, old.to, e.object(fields, depth))
		return
	}
	var added []string
	changed := map[string]field{}
	for _, f := range fields {
		if v, found := old.member(f.name); !found {
			added = append(added, member(f.name, encode(f.value)))
		} else if !says(e.file[v.from:v.to], f.value) {
			changed[f.name] = f
		}
	}
	for _, m := range slices.Backward(old.members) { // what comes before stays where it was
		if f, ok := changed[m.name]; ok {
			e.splice(m.from, m.to, encode(f.value))
			delete(changed, m.name)
		}
	}
	switch at := old.members; {
	case len(added) == 0:
	case len(at) > 0 && !bytes.Contains(e.file[old.from:at[0].at], []byte("\n")): // all in one line
		e.splice(at[0].at, at[0].at, strings.Join(added, ", ")+", ")
	default:
		e.insert(old, depth+1, strings.Join(added, ","+e.line(depth+1)))
	}
}

// insert puts members first into an object.
func (e *editor) insert(into value, depth int, text string) {
	text = e.line(depth) + text
	to := into.from + 1
	if len(into.members) > 0 {
		text += ","
	} else {
		text, to = text+e.line(depth-1), to+bytes.IndexByte(e.file[to:], '}')
	}
	e.splice(into.from+1, to, text)
}

func (e *editor) splice(from, to int, text string) {
	e.file = slices.Concat(e.file[:from], []byte(text), e.file[to:])
}

func (e *editor) line(depth int) string { return e.newline + strings.Repeat(e.step, depth) }

func (e *editor) object(fields []field, depth int) string {
	var lines []string
	for _, f := range fields {
		lines = append(lines, e.line(depth+1)+member(f.name, encode(f.value)))
	}
	return "{" + strings.Join(lines, ",") + e.line(depth) + "}"
}

func member(name, value string) string { return encode(name) + ": " + value }

// says tells whether raw JSON has this value.
func says(raw []byte, value any) bool {
	var is, want bytes.Buffer
	return json.Compact(&is, raw) == nil && json.Compact(&want, []byte(encode(value))) == nil && bytes.Equal(is.Bytes(), want.Bytes())
}

// overNetwork are fields of a server that is reached over the network.
func overNetwork() []string {
	return []string{"url", "httpUrl", "serverUrl", "headers"}
}

// indentOf is the file's own indentation: that of its first member, else two spaces.
func indentOf(file []byte, root value) string {
	if len(root.members) > 0 {
		at := root.members[0].at
		start := bytes.LastIndexByte(file[:at], '\n') + 1
		if in := string(file[start:at]); in != "" && strings.Trim(in, " \t") == "" {
			return in
		}
	}
	return "  "
}

// value is one value in the file; an object has its members, and another value nil.
type value struct {
	from, to int
	members  []entry
}

// entry is a member of an object: where its name begins, and its value.
type entry struct {
	name string
	at   int
	value
}

// member finds a member; of doubles the last one counts, as in all readers of JSON.
func (v value) member(name string) (value, bool) {
	for _, m := range slices.Backward(v.members) {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}

// valueAt is the value file[from:to] with its members; theirs are not looked for.
func valueAt(file []byte, from, to int) value {
	v := value{from: from, to: to}
	if file[from] != '{' {
		return v
	}
	v.members = []entry{}
	dec := json.NewDecoder(bytes.NewReader(file[from:to]))
	_, _ = dec.Token() // the file has been read as a whole: nothing here fails
	for end := from + 1; dec.More(); {
		name, _ := dec.Token()
		var raw json.RawMessage
		_ = dec.Decode(&raw)
		m := entry{at: end + bytes.IndexByte(file[end:], '"')}
		m.name, _ = name.(string)
		end = from + int(dec.InputOffset())
		m.from, m.to = end-len(raw), end
		v.members = append(v.members, m)
	}
	return v
}

// byHand leaves a file to its owner.
func byHand(code fault.Code, file []byte, at int, what string) error {
	at = max(min(at, len(file)), 0)
	line, col := 1+bytes.Count(file[:at], []byte("\n")), at-bytes.LastIndexByte(file[:at], '\n')
	return fault.New(code, "line %d, column %d: %s", line, col, what).
		WithHint("the file is left as it is; without --write, leadlight mcp install prints what to put into it")
}
