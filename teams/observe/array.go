package observe

import "bytes"

// A stream may also be one JSON array of messages, on one line or spread over many, or
// objects that are spread over many lines each. unwrapper makes lines of them, so that all
// that follows sees lines only.

// inArray says where in the stream an unwrapper is.
type inArray uint8

const (
	undecided inArray = iota // at the start: nothing but white space so far
	opened                   // behind [, before the first element
	braced                   // behind {, with nothing but white space since
	lines                    // no array: everything passes as it is
	elements                 // between the elements of the array
	element                  // inside one
)

// unwrapper turns the bytes of an array into lines; other streams pass unchanged.
// Its zero value is at the start of a stream.
type unwrapper struct {
	at     inArray
	held   []byte // what was read before it was decided
	depth  int    // of an element
	quoted bool   // inside a string
	escape bool   // behind a backslash in it
	fresh  bool   // at the beginning of a line
}

// feed returns what the next chunk stands for. The result is good until the next call
// and may be the chunk itself.
func (u *unwrapper) feed(chunk []byte) []byte {
	for i, c := range chunk {
		switch u.at {
		case lines:
			if len(u.held) == 0 {
				return chunk[i:]
			}
			out := append(u.held, chunk[i:]...)
			u.held = nil
			return out
		case undecided, opened, braced:
			u.decide(c)
		default:
			return u.unwrap(chunk[i:])
		}
	}
	if u.at == lines {
		out := u.held
		u.held = nil
		return out
	}
	return nil
}

// decide looks at one byte of the beginning. An array counts only with an object as
// its first element: "[12:03] started" is a line of somebody's log. An object is spread over
// lines if its first key is on another one.
func (u *unwrapper) decide(c byte) {
	u.held = append(u.held, c)
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n' || u.at == undecided && c >= 0xbb: // a byte order mark
	case u.at == undecided && c == '[':
		u.at = opened
	case u.at == undecided && c == '{':
		u.at = braced
	case u.at == braced && c == '"' && bytes.IndexByte(u.held[bytes.IndexByte(u.held, '{'):], '\n') > 0:
		u.at, u.held, u.depth, u.quoted = element, []byte(`{"`), 1, true
	case u.at == opened && c == '{':
		u.at, u.held, u.depth = element, []byte{'{'}, 1
	default:
		u.at = lines
	}
}

func (u *unwrapper) unwrap(b []byte) []byte {
	out := u.held
	u.held = nil
	for i, c := range b {
		if u.fresh && u.at == element && opensMessage(b[i:]) { // what wrote the one before ended within it
			u.at, u.quoted, u.escape = elements, false, false
			out = append(out, '\n')
		}
		u.fresh = c == '\n'
		if u.at == elements {
			switch c {
			case '{':
				u.at, u.depth = element, 1
				out = append(out, c)
			case ']': // what follows is a stream of its own
				*u = unwrapper{}
				return append(out, u.feed(b[i+1:])...)
			}
			continue
		}
		if c == '\n' || c == '\r' {
			c = ' '
		}
		out = append(out, c)
		if u.ends(c) {
			u.at = elements
			out = append(out, '\n')
		}
	}
	return out
}

// ends takes one byte of an element and tells whether it is the last.
func (u *unwrapper) ends(c byte) bool {
	switch {
	case u.escape:
		u.escape = false
	case u.quoted:
		u.escape, u.quoted = c == '\\', c != '"'
	case c == '"':
		u.quoted = true
	case c == '{' || c == '[':
		u.depth++
	case c == '}' || c == ']':
		u.depth--
	}
	return u.depth == 0
}

// rest returns what was held back at the end of the stream.
func (u *unwrapper) rest() []byte {
	out := u.held
	*u = unwrapper{}
	return out
}
