package host

import "bytes"

// tokenKind sorts what a terminal stream is made of.
type tokenKind int

const (
	textToken    tokenKind = iota // printable bytes, perhaps a part of a character
	controlToken                  // one C0 control or DEL
	escapeToken                   // ESC and what belongs to it, but for the next two
	csiToken                      // ESC [ … final byte, in input also a legacy mouse event
	stringToken                   // OSC, DCS, SOS, PM and APC up to their end
)

// token is one piece of the stream. Its bytes are valid until the next one.
type token struct {
	kind tokenKind
	raw  []byte
}

// The states of a scanner.
type scanState int

const (
	ground scanState = iota
	escape
	escapeIntermediate
	csi
	legacyMouse // three bytes after CSI M
	ss3         // one byte after ESC O
	controlString
	controlStringEscape
)

// maxSequence bounds what is kept of one sequence; the rest of a longer one
// belongs to it but is not kept.
const maxSequence = 4096

// scanner cuts a terminal stream into tokens as ECMA-48 and xterm's ctlseqs lay
// it out. A sequence may come in any number of pieces. The zero value reads
// output; with input set, what a terminal sends, which has forms of its own.
type scanner struct {
	input   bool
	state   scanState
	pending []byte
	more    int // bytes still to come of a legacy mouse event
}

// scan calls emit for every token that p completes.
func (s *scanner) scan(p []byte, emit func(token)) {
	for len(p) > 0 {
		if s.state != ground {
			s.step(p[0], emit)
			p = p[1:]
			continue
		}
		if n := textLength(p); n > 0 {
			emit(token{textToken, p[:n]})
			p = p[n:]
			continue
		}
		if p[0] == esc {
			s.begin()
		} else {
			emit(token{controlToken, p[:1]})
		}
		p = p[1:]
	}
}

const (
	esc = 0x1b
	bel = 0x07
	can = 0x18
	sub = 0x1a
	del = 0x7f
)

func textLength(p []byte) int {
	for i, b := range p {
		if b < 0x20 || b == del {
			return i
		}
	}
	return len(p)
}

func (s *scanner) begin() { s.state, s.pending = escape, append(s.pending[:0], esc) }

// finish gives out the pending sequence, whole or broken off.
func (s *scanner) finish(kind tokenKind, emit func(token)) {
	s.state = ground
	emit(token{kind, s.pending})
	s.pending = s.pending[:0]
}

// pendingEscape tells whether all that is pending is an ESC: perhaps the key.
func (s *scanner) pendingEscape() bool { return s.state == escape }

// step takes one byte inside a sequence.
func (s *scanner) step(b byte, emit func(token)) {
	if s.state != legacyMouse && (b == can || b == sub) { // breaks any sequence off
		s.finish(escapeToken, emit)
		emit(token{controlToken, []byte{b}})
		return
	}
	if b == esc && s.state != controlString && s.state != controlStringEscape && s.state != legacyMouse {
		s.finish(escapeToken, emit)
		s.begin()
		return
	}
	if len(s.pending) < maxSequence {
		s.pending = append(s.pending, b)
	}
	switch s.state {
	case escape:
		s.afterEscape(b, emit)
	case escapeIntermediate:
		if b >= 0x30 {
			s.finish(escapeToken, emit)
		}
	case csi:
		s.inCSI(b, emit)
	case legacyMouse:
		if s.more--; s.more == 0 {
			s.finish(csiToken, emit)
		}
	case ss3:
		s.finish(escapeToken, emit)
	case controlString, controlStringEscape:
		s.inString(b, emit)
	}
}

func (s *scanner) afterEscape(b byte, emit func(token)) {
	switch {
	case b == '[':
		s.state = csi
	case bytes.IndexByte([]byte("]P_^X"), b) >= 0:
		s.state = controlString
	case s.input && b == 'O':
		s.state = ss3
	case b >= 0x20 && b < 0x30:
		s.state = escapeIntermediate
	default:
		s.finish(escapeToken, emit)
	}
}

func (s *scanner) inCSI(b byte, emit func(token)) {
	if b < 0x40 || b == del {
		return
	}
	if s.input && b == 'M' && len(s.pending) == len("\x1b[M") {
		s.state, s.more = legacyMouse, 3
		return
	}
	s.finish(csiToken, emit)
}

func (s *scanner) inString(b byte, emit func(token)) {
	switch {
	case s.state == controlStringEscape && b == '\\':
		s.finish(stringToken, emit)
	case b == esc:
		s.state = controlStringEscape
	case s.state == controlStringEscape: // broken off by another sequence
		s.pending = s.pending[:max(0, len(s.pending)-2)]
		s.finish(stringToken, emit)
		s.begin()
		s.step(b, emit)
	case b == bel && len(s.pending) > 1 && s.pending[1] == ']':
		s.finish(stringToken, emit)
	}
}
