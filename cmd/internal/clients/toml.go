package clients

import (
	"bytes"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// tomlEdit edits files of TOML: our server is the table key.NAME. A table that is
// there keeps what we do not set.
func tomlEdit(key string, fieldsOf func(Server) []field) func([]byte, Server) ([]byte, error) {
	return func(file []byte, s Server) ([]byte, error) {
		parts, err := scanTOML(file)
		if err != nil {
			return nil, err
		}
		nl := newline(file)
		table := []string{key, s.Name}
		fields := fieldsOf(s)
		var lines string
		for _, f := range fields {
			lines += f.name + " = " + encode(f.value) + nl
		}
		at := slices.IndexFunc(parts, func(p statement) bool { return p.header && slices.Equal(p.key, table) })
		if other, found := elsewhere(parts, table, at); found {
			line, _ := spot(file, other.from)
			return nil, fault.New(fault.Unsupported, "line %d: the server is written in a form that leadlight does not edit", line).
				WithHint("write it as a table [%s], or edit it by hand; the file is left as it is", strings.Join(table, "."))
		}
		if at < 0 {
			return appended(file, nl, "["+strings.Join(table, ".")+"]"+nl+lines), nil
		}
		return replaced(file, parts, at, fields, nl, lines), nil
	}
}

// elsewhere finds a statement that says something of the table without being part of
// it: a dotted key, or a table written in a line.
func elsewhere(parts []statement, table []string, at int) (statement, bool) {
	var in []string
	for i, p := range parts {
		if p.header {
			in = p.key
			if p.list && slices.Equal(p.key, table) || i != at && slices.Equal(p.key, table) {
				return p, true
			}
			continue
		}
		full := slices.Concat(in, p.key)
		if len(in) < len(table) && len(full) > 0 && (prefix(table, full) || prefix(full, table)) {
			return p, true
		}
	}
	return statement{}, false
}

func prefix(long, short []string) bool {
	return len(long) >= len(short) && slices.Equal(long[:len(short)], short)
}

func appended(file []byte, nl, text string) []byte {
	out := bytes.Clone(file)
	if len(out) > 0 {
		if !bytes.HasSuffix(out, []byte("\n")) {
			out = append(out, nl...)
		}
		out = append(out, nl...)
	}
	return append(out, text...)
}

// replaced puts our lines below the header, and takes those out that say the same, or
// speak of a server over the network.
func replaced(file []byte, parts []statement, at int, fields []field, nl, lines string) []byte {
	end := parts[at].to
	out := bytes.Clone(file[:end])
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, nl...)
	}
	out = append(out, lines...)
	for _, p := range parts[at+1:] {
		if p.header {
			break
		}
		ours := len(p.key) == 1 && slices.ContainsFunc(fields, func(f field) bool { return f.name == p.key[0] }) || slices.Contains(overNetwork(), p.key[0])
		out = append(out, file[end:p.from]...)
		if !ours {
			out = append(out, file[p.from:p.to]...)
		}
		end = p.to
	}
	return append(out, file[end:]...)
}

// statement is a header or a key with its value, with all of its lines.
type statement struct {
	from, to int
	header   bool
	list     bool // [[...]]
	key      []string
}

// scanTOML finds out where statements stand.
func scanTOML(file []byte) ([]statement, error) {
	var parts []statement
	if bytes.HasPrefix(file, bom()) {
		return nil, fault.New(fault.Unsupported, "the file begins with a byte order mark").WithHint("take it away; the file is left as it is")
	}
	for at := 0; at < len(file); {
		end := at + lineEnd(file[at:])
		line := strings.TrimSpace(string(file[at:end]))
		if line == "" || line[0] == '#' {
			at = min(end+1, len(file))
			continue
		}
		p := statement{from: at}
		var err error
		if line[0] == '[' {
			err = p.readHeader(file, line)
		} else {
			err = p.readPair(file, &end)
		}
		if err != nil {
			return nil, err
		}
		at = min(end+1, len(file))
		p.to = at
		parts = append(parts, p)
	}
	return parts, nil
}

func (p *statement) readHeader(file []byte, line string) error {
	p.header = true
	open, shut := "[", "]"
	if p.list = strings.HasPrefix(line, "[["); p.list {
		open, shut = "[[", "]]"
	}
	key, rest, ok := dotted(strings.TrimPrefix(line, open))
	after, closed := strings.CutPrefix(rest, shut)
	if after = strings.TrimSpace(after); !ok || !closed || after != "" && after[0] != '#' {
		return broken(file, p.from, "this is no header of a table")
	}
	p.key = key
	return nil
}

// readPair reads a key and passes over its value, which may take several lines.
func (p *statement) readPair(file []byte, end *int) error {
	key, rest, ok := dotted(string(file[p.from:*end]))
	if !ok || !strings.HasPrefix(rest, "=") {
		return broken(file, p.from, "a key and = are expected")
	}
	p.key = key
	at, err := passValue(file, *end-len(rest)+1)
	*end = at + lineEnd(file[at:])
	return err
}

// dotted reads a key such as a."b c".d and returns what follows it.
func dotted(s string) (key []string, rest string, ok bool) {
	for {
		s = strings.TrimLeft(s, " \t")
		var part string
		if s != "" && (s[0] == '"' || s[0] == '\'') {
			i := strings.IndexByte(s[1:], s[0])
			if i < 0 || strings.Contains(s[1:i+1], `\`) && s[0] == '"' {
				return nil, s, false
			}
			part, s = s[1:i+1], s[i+2:]
		} else {
			i := strings.IndexFunc(s, func(r rune) bool {
				return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
			})
			if i <= 0 {
				return nil, s, false
			}
			part, s = s[:i], s[i:]
		}
		key = append(key, part)
		s = strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(s, ".") {
			return key, s, true
		}
		s = s[1:]
	}
}

// passValue returns where a value that begins at or after at ends: at the end of its
// line outside of brackets and texts.
func passValue(file []byte, at int) (int, error) {
	from, depth := at, 0
	for at < len(file) {
		switch c := file[at]; c {
		case '\n':
			if depth == 0 {
				return at, nil
			}
			at++
		case '#':
			at += lineEnd(file[at:])
		case '[', '{':
			depth++
			at++
		case ']', '}':
			if depth--; depth < 0 {
				return at, broken(file, at, "this closes nothing")
			}
			at++
		case '"', '\'':
			end, ok := passText(file, at)
			if !ok {
				return at, broken(file, at, "this text has no end")
			}
			at = end
		default:
			at++
		}
	}
	if depth > 0 {
		return at, broken(file, from, "this value has no end")
	}
	return at, nil
}

// passText returns the end of a text, of one line or several.
func passText(file []byte, at int) (int, bool) {
	q := file[at]
	mark := []byte{q}
	if triple := bytes.Repeat(mark, 3); bytes.HasPrefix(file[at:], triple) {
		mark = triple
	}
	for at += len(mark); at < len(file); at++ {
		switch {
		case file[at] == '\\' && q == '"':
			at++
		case bytes.HasPrefix(file[at:], mark):
			at += len(mark)
			for len(mark) == 3 && at < len(file) && file[at] == q {
				at++ // up to two more quotes belong to the text
			}
			return at, true
		case file[at] == '\n' && len(mark) == 1:
			return at, false
		}
	}
	return len(file), false
}
