package rawjson

import (
	"bytes"
	"fmt"
)

// maxDepth bounds the nesting of values, as encoding/json does: deeper text is an
// attack on the stack, not data.
const maxDepth = 1000

// scanner walks over one document. Its methods advance pos and leave it at the
// fault when they return an error.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

func (s *scanner) fail(format string, args ...any) error {
	return &SyntaxError{s.pos, fmt.Sprintf(format, args...)}
}

func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.data) {
		if len(s.data) == 0 {
			return s.fail("the file is empty, want %s", want)
		}
		return s.fail("the text ends, want %s", want)
	}
	return s.fail("unexpected %q, want %s", s.data[s.pos], want)
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

// space passes over white space and, at the start, over a byte order mark.
func (s *scanner) space() {
	if s.pos == 0 && bytes.HasPrefix(s.data, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// end checks that nothing follows.
func (s *scanner) end() error {
	s.space()
	if s.pos < len(s.data) {
		return s.unexpected("the end of the text")
	}
	return nil
}

func (s *scanner) value() error {
	if s.pos >= len(s.data) {
		return s.unexpected("a value")
	}
	switch c := s.data[s.pos]; {
	case c == '"':
		return s.str()
	case c == '{':
		return s.nested(func() error { return s.members(func(_, _ []byte) error { return nil }) })
	case c == '[':
		return s.nested(func() error { return s.elements(func([]byte) {}) })
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
			s.pos += len(word)
			return nil
		}
	}
	return s.unexpected("a value")
}

func (s *scanner) nested(walk func() error) error {
	if s.depth++; s.depth > maxDepth {
		return s.fail("more than %d levels deep", maxDepth)
	}
	err := walk()
	s.depth--
	return err
}

// members walks over an object; pos is at its brace.
func (s *scanner) members(each func(key, value []byte) error) error {
	s.pos++
	s.space()
	if s.at('}') {
		s.pos++
		return nil
	}
	for {
		if !s.at('"') {
			return s.unexpected("a key")
		}
		start := s.pos
		if err := s.str(); err != nil {
			return err
		}
		key := s.data[start:s.pos:s.pos]
		s.space()
		if !s.at(':') {
			return s.unexpected("':'")
		}
		s.pos++
		s.space()
		start = s.pos
		if err := s.value(); err != nil {
			return err
		}
		if err := each(key, s.data[start:s.pos:s.pos]); err != nil {
			return err
		}
		if more, err := s.more('}'); !more {
			return err
		}
	}
}

// elements walks over an array; pos is at its bracket.
func (s *scanner) elements(each func(value []byte)) error {
	s.pos++
	s.space()
	if s.at(']') {
		s.pos++
		return nil
	}
	for {
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		each(s.data[start:s.pos:s.pos])
		if more, err := s.more(']'); !more {
			return err
		}
	}
}

// more passes over a comma, or over the closing character.
func (s *scanner) more(closing byte) (bool, error) {
	s.space()
	switch {
	case s.at(','):
		s.pos++
		s.space()
		return true, nil
	case s.at(closing):
		s.pos++
		return false, nil
	}
	return false, s.unexpected(fmt.Sprintf("',' or '%c'", closing))
}

func (s *scanner) str() error {
	for s.pos++; s.pos < len(s.data); {
		rest := s.data[s.pos:]
		plain := 0
		for plain < len(rest) && rest[plain] != '"' && rest[plain] != '\\' && rest[plain] >= 0x20 {
			plain++
		}
		if s.pos += plain; plain == len(rest) {
			break
		}
		switch c := rest[plain]; c {
		case '"':
			s.pos++
			return nil
		case '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default:
			return s.fail("a raw control character %q in a string", c)
		}
	}
	return s.fail("the text ends inside a string")
}

func (s *scanner) escape() error {
	rest := s.data[s.pos:]
	if len(rest) > 1 && bytes.IndexByte([]byte(`"\/bfnrt`), rest[1]) >= 0 {
		s.pos += 2
		return nil
	}
	if len(rest) > 5 && rest[1] == 'u' {
		for _, c := range rest[2:6] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return s.fail("a bad \\u escape in a string")
			}
		}
		s.pos += 6
		return nil
	}
	return s.fail("a bad escape in a string")
}

func (s *scanner) number() error {
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.at('.') {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

func (s *scanner) digits() error {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == start {
		return s.unexpected("a digit")
	}
	return nil
}
