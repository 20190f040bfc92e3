package clients

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// jsonEdit edits files of JSON, with comments and commas at the end as some clients
// take them: our server is a member of the object under key. One that is there keeps
// what we do not set. In files that have a group below key, that is where servers are.
func jsonEdit(key, group string, fieldsOf func(Server) []field) func([]byte, Server) ([]byte, error) {
	return func(file []byte, s Server) ([]byte, error) {
		if len(bytes.TrimSpace(bytes.TrimPrefix(file, bom()))) == 0 {
			file = append(bytes.Clone(file), "{}\n"...)
		}
		root, err := scanFile(file)
		if err != nil {
			return nil, err
		}
		nl, step, depth := newline(file), indentOf(file, root), 2
		own := object(fieldsOf(s), nl, step, depth)
		servers, found := root.member(key)
		if !found {
			return insert(file, root, nl, step, 1, member(key, "{"+nl+strings.Repeat(step, 2)+member(s.Name, own)+nl+step+"}")), nil
		}
		if servers.members == nil {
			line, col := spot(file, servers.from)
			return nil, fault.New(fault.Unsupported, "line %d, column %d: %q is no object", line, col, key).WithHint("mend the file; it is left as it is")
		}
		if below, found := servers.member(group); found && group != "" && below.isGroup() {
			servers, depth = below, 3
			own = object(fieldsOf(s), nl, step, depth)
		}
		if before, found := servers.member(s.Name); found {
			return update(file, before, fieldsOf(s), own, nl, step, depth), nil
		}
		return insert(file, servers, nl, step, depth, member(s.Name, own)), nil
	}
}

func bom() []byte { return []byte("\xef\xbb\xbf") }

func member(name, value string) string { return encode(name) + ": " + value }

// object writes an object whose members stand one a line.
func object(fields []field, nl, step string, depth int) string {
	var lines []string
	for _, f := range fields {
		lines = append(lines, strings.Repeat(step, depth+1)+member(f.name, encode(f.value)))
	}
	return "{" + nl + strings.Join(lines, ","+nl) + nl + strings.Repeat(step, depth) + "}"
}

// insert puts a member first into an object, where no comma and no comment of the
// others is in its way.
func insert(file []byte, into value, nl, step string, depth int, text string) []byte {
	text = nl + strings.Repeat(step, depth) + text
	switch {
	case len(into.members) > 0:
		text += ","
	case len(bytes.TrimSpace(file[into.from+1:into.to-1])) == 0:
		return splice(file, into.from+1, into.to-1, text+nl+strings.Repeat(step, depth-1))
	}
	return splice(file, into.from+1, into.from+1, text)
}

func splice(file []byte, from, to int, text string) []byte {
	return append(append(bytes.Clone(file[:from]), text...), file[to:]...)
}

// indentOf is by how much the members of the outermost object are moved in.
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

// value is where a value stands; members is not nil for an object.
type value struct {
	from, to int
	members  []entry
}

type entry struct {
	name string
	at   int
	value
}

// isGroup tells an object of servers from a server of that name.
func (v value) isGroup() bool {
	_, server := v.member("type")
	return v.members != nil && !server
}

// member finds a member; of several the last, as programs do that read them.
func (v value) member(name string) (value, bool) {
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].value, true
		}
	}
	return value{}, false
}

// scanner finds out where values stand.
type scanner struct {
	file []byte
	at   int
}

// maxDepth is how deep values may lie in each other.
const maxDepth = 200

// scanFile scans a file, which has to be one object.
func scanFile(file []byte) (value, error) {
	s := scanner{file: file}
	if bytes.HasPrefix(file, bom()) {
		s.at = len(bom())
	}
	s.space()
	root, err := s.value(0)
	if err != nil {
		return root, err
	}
	if root.members == nil {
		return root, broken(file, root.from, "this is no object")
	}
	if s.space(); s.at < len(file) {
		return root, broken(file, s.at, "something stands after the end")
	}
	return root, nil
}

// space passes over white space and comments.
func (s *scanner) space() {
	for s.at < len(s.file) {
		rest := s.file[s.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			s.at++
		case bytes.HasPrefix(rest, []byte("//")):
			s.at += lineEnd(rest)
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return // the value that is missing here is told
			}
			s.at += end + 4
		default:
			return
		}
	}
}

func lineEnd(rest []byte) int {
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return i
	}
	return len(rest)
}

func (s *scanner) next() byte {
	if s.at < len(s.file) {
		return s.file[s.at]
	}
	return 0
}

func (s *scanner) value(depth int) (value, error) {
	v := value{from: s.at}
	var err error
	switch c := s.next(); {
	case depth > maxDepth:
		err = broken(s.file, s.at, "too deep")
	case c == '{':
		v.members, err = s.object(depth)
	case c == '[':
		err = s.list(depth)
	case c == '"':
		_, err = s.text()
	default:
		err = s.word()
	}
	v.to = s.at
	return v, err
}

func (s *scanner) object(depth int) ([]entry, error) {
	members := []entry{}
	err := s.items('}', func() error {
		e := entry{at: s.at}
		var err error
		if s.next() != '"' {
			return broken(s.file, s.at, "a name in quotes is expected")
		}
		if e.name, err = s.text(); err != nil {
			return err
		}
		if s.space(); s.next() != ':' {
			return broken(s.file, s.at, "a colon is expected")
		}
		s.at++
		s.space()
		e.value, err = s.value(depth + 1)
		members = append(members, e)
		return err
	})
	return members, err
}

func (s *scanner) list(depth int) error {
	return s.items(']', func() error {
		_, err := s.value(depth + 1)
		return err
	})
}

// items scans what stands between brackets, with commas between and perhaps one at
// the end.
func (s *scanner) items(end byte, item func() error) error {
	s.at++
	for s.space(); s.next() != end; s.space() {
		if err := item(); err != nil {
			return err
		}
		s.space()
		if s.next() == ',' {
			s.at++
		} else if s.next() != end {
			return broken(s.file, s.at, "a comma or "+string(end)+" is expected")
		}
	}
	s.at++
	return nil
}

func (s *scanner) text() (string, error) {
	from := s.at
	for s.at++; s.at < len(s.file); s.at++ {
		switch s.file[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			var text string
			if err := json.Unmarshal(s.file[from:s.at], &text); err != nil {
				return "", broken(s.file, from, "this text is broken")
			}
			return text, nil
		case '\n':
			return "", broken(s.file, from, "this text has no end")
		}
	}
	s.at = len(s.file)
	return "", broken(s.file, from, "this text has no end")
}

func (s *scanner) word() error {
	from := s.at
	for s.at < len(s.file) && !strings.ContainsRune(" \t\r\n,:[]{}\"/", rune(s.file[s.at])) {
		s.at++
	}
	if !json.Valid(s.file[from:s.at]) {
		return broken(s.file, from, "a value is expected")
	}
	return nil
}
