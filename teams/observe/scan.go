package observe

import (
	"bytes"
	"encoding/json"
	"slices"
)

// The scan decides, without decoding, whether a line can matter. It may say yes
// too often (a text that quotes a tool's name), never no where it matters.

// verdict is what the scan says of a line.
type verdict uint8

const (
	blank   verdict = iota // nothing but white space
	noise                  // not a JSON object
	foreign                // an object of a type we do not know
	plain                  // a message, but nothing of a team in it
	other                  // any other known type
	wanted                 // decode it
)

// joint returns where a line has a second object, without a line end between the two; 0:
// nowhere. Within one object a brace may close before another one and a quote only in a
// string, which then ends there.
func joint(line []byte) int {
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(`}{"`))
		if at += i + 3; i < 0 || at >= len(line) {
			return 0
		}
		if c := line[at] | 0x20; c >= 'a' && c <= 'z' {
			return at - 2
		}
	}
}

// messageOpenings are how the messages begin that matter, and nothing within them.
var messageOpenings = [][]byte{[]byte(`{"type":"assistant"`), []byte(`{"type":"user"`), []byte(`{"type":"system"`), []byte(`{"type":"result"`)}

func opensMessage(b []byte) bool {
	return slices.ContainsFunc(messageOpenings, func(opening []byte) bool { return bytes.HasPrefix(b, opening) })
}

// firstObject cuts a line that is not one object behind the one that it begins with, or where
// another message begins, because what wrote the first one ended within it. rest is nil if
// there is nothing of use behind it.
func firstObject(line []byte) (object, rest []byte) {
	start := skipSpace(line, 0)
	if start == len(line) || line[start] != '{' {
		return line, nil
	}
	if end := skipValue(line, start); end < len(line) && json.Valid(line[start:end]) {
		if rest = line[end:]; bytes.IndexByte(rest, '{') < 0 {
			rest = nil
		}
		return line[:end], rest
	}
	at := len(line)
	for _, opening := range messageOpenings {
		if i := bytes.Index(line[start+1:], opening); i >= 0 {
			at = min(at, start+1+i)
		}
	}
	if at == len(line) {
		return line, nil
	}
	return line[:at], line[at:]
}

// shown returns a line without what a terminal does not show before an object: control
// characters and sequences, and what a carriage return lets be written over.
func shown(line []byte) []byte {
	b := line
	if i := bytes.IndexByte(b, '{'); i > 0 {
		b = b[bytes.LastIndexByte(b[:i], '\r')+1:]
	}
	for len(b) > 0 && (b[0] <= ' ' || b[0] == 0x7f) {
		n := 1
		if len(b) > 1 && b[0] == 0x1b {
			n = sequence(b)
		}
		b = b[min(n, len(b)):]
	}
	if len(b) > 0 && b[0] == '{' {
		return b
	}
	return line
}

// sequence returns the length of the control sequence that b begins with.
func sequence(b []byte) int {
	ends := func(c byte) bool { return c >= '@' && c <= '~' } // of a CSI
	switch b[1] {
	case '[':
	case ']': // OSC
		ends = func(c byte) bool { return c == 0x07 || c == '\\' }
	default:
		return 2
	}
	return 3 + bytes.IndexFunc(b[2:], func(r rune) bool { return r < 0x80 && ends(byte(r)) })
}

// kind is the type of a line as far as the scan needs it.
type kind uint8

const (
	kindUnknown kind = iota
	kindAssistant
	kindUser
	kindSystem
	kindResult // ends a turn
	kindOther
)

// kindOf knows the types of stream-json and of transcripts.
func kindOf(lineType []byte) kind {
	switch string(lineType) {
	case "assistant":
		return kindAssistant
	case "user":
		return kindUser
	case "system":
		return kindSystem
	case "result":
		return kindResult
	case "stream_event", "control_request", "control_response", "control_cancel_request", "keep_alive", "tool_progress", "auth_status",
		"summary", "progress", "attachment", "queue-operation", "file-history-snapshot", "custom-title", "agent-name", "last-prompt":
		return kindOther
	}
	return kindUnknown
}

var initMark = []byte(`"init"`)

// scan looks at a line; a user's line matters if it may answer an open use.
func scan(line []byte, open *Buffer) (verdict, kind) {
	b := trimStart(line)
	if len(b) == 0 {
		return blank, kindUnknown
	}
	if b[0] != '{' {
		return noise, kindUnknown
	}
	k := kindOf(lineType(b))
	switch k {
	case kindUnknown:
		return foreign, k
	case kindAssistant:
		if hasTool(b) {
			return wanted, k
		}
		return plain, k
	case kindUser:
		if open.mayAnswer(b) || hasMail(b) || mayTell(b) {
			return wanted, k
		}
		return plain, k
	case kindSystem:
		if bytes.Contains(b, initMark) {
			return wanted, k
		}
	case kindResult:
		return plain, k
	}
	return other, k
}

// hasTool looks for the opening quote and the first letters of a team tool's
// name: Team…, Task…, SendMessage, Agent. It goes from capital to capital, since
// those are rare where quotes are not.
func hasTool(b []byte) bool {
	for i, c := range b {
		if !capital[c] || i == 0 || b[i-1] != '"' {
			continue
		}
		switch rest := b[i:]; c {
		case 'T':
			if bytes.HasPrefix(rest, []byte("Tea")) || bytes.HasPrefix(rest, []byte("Tas")) {
				return true
			}
		case 'S':
			if bytes.HasPrefix(rest, []byte(`SendMessage"`)) {
				return true
			}
		case 'A':
			if bytes.HasPrefix(rest, []byte(`Agent"`)) {
				return true
			}
		}
	}
	return false
}

var capital = [256]bool{'T': true, 'S': true, 'A': true}

// hasMail looks for the tag that mail is shown in, from dash to dash, since the
// letters in it are frequent.
func hasMail(b []byte) bool {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], '-')
		if n < 0 {
			return false
		}
		if i += n; bytes.HasSuffix(b[:i], []byte("teammate")) && bytes.HasPrefix(b[i:], []byte("-message")) {
			return true
		}
	}
}

// lineType returns the value of the object's own "type", or nil. In a stream it
// is nearly always the first member; else the members before it are passed over.
func lineType(b []byte) []byte {
	for i := 1; i < len(b); {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != '"' {
			return nil
		}
		end := skipString(b, i)
		key := b[i:min(end, len(b))]
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return nil
		}
		i = skipSpace(b, i+1)
		end = skipValue(b, i)
		if string(key) == `"type"` {
			if end > len(b) || end-i < 2 || b[i] != '"' {
				return nil
			}
			return b[i+1 : end-1]
		}
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ',' {
			return nil
		}
		i++
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the index behind the string that opens at i; behind the
// end of b if it does not close.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		i += n + 1
		slashes := 0
		for j := i - 2; j >= 0 && b[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
	return len(b) + 1
}

// skipValue returns the index behind the value at i.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			if i = skipString(b, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// trimStart takes off the byte order mark and white space before a line.
func trimStart(b []byte) []byte {
	b = bytes.TrimPrefix(b, bom)
	return b[skipSpace(b, 0):]
}
