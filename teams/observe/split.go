package observe

import "bytes"

// MaxLine is the length of the longest line that is decoded, in bytes without
// its line end.
const MaxLine = 64 << 20

// keepTail is how much of a buffer is kept once a long line is done with.
const keepTail = 1 << 20

// piece is what a splitter hands on.
type piece uint8

const (
	whole piece = iota // one line with its end
	part               // some bytes of a line that is too long
	last               // the rest of such a line, with its end
)

// splitter cuts a stream into lines. It keeps the start of an unfinished line,
// at most limit bytes of it; what is longer goes through in parts.
type splitter struct {
	limit   int
	tail    []byte
	skipped int64 // bytes so far of the line that is too long; 0: none is
}

// feed calls f for every piece of chunk that is complete. The bytes given to f
// are valid during the call only.
func (s *splitter) feed(chunk []byte, f func([]byte, piece) error) error {
	for len(chunk) > 0 {
		n := bytes.IndexByte(chunk, '\n') + 1
		line := chunk[:n]
		if n == 0 {
			line = chunk
		}
		chunk = chunk[len(line):]
		if err := s.add(line, n > 0, f); err != nil {
			return err
		}
	}
	return nil
}

func (s *splitter) add(b []byte, ends bool, f func([]byte, piece) error) error {
	size := len(s.tail) + len(b)
	if ends {
		size-- // the line end does not count
	}
	switch {
	case s.skipped > 0 || size > s.limit:
		if err := s.pass(s.tail, part, f); err != nil {
			return err
		}
		s.tail = nil
		if !ends {
			return s.pass(b, part, f)
		}
		err := s.pass(b, last, f)
		s.skipped = 0
		return err
	case !ends:
		s.tail = append(s.tail, b...)
		return nil
	case len(s.tail) == 0:
		return f(b, whole)
	}
	s.tail = append(s.tail, b...)
	err := f(s.tail, whole)
	s.drop()
	return err
}

func (s *splitter) pass(b []byte, p piece, f func([]byte, piece) error) error {
	s.skipped += int64(len(b))
	if len(b) == 0 {
		return nil
	}
	return f(b, p)
}

// rest returns the unfinished line, if any, and forgets it.
func (s *splitter) rest() []byte {
	b := s.tail
	s.tail, s.skipped = nil, 0
	return b
}

func (s *splitter) drop() {
	if cap(s.tail) > keepTail {
		s.tail = nil
		return
	}
	s.tail = s.tail[:0]
}
