// Package lineio reads lines of bounded length, as protocols have them that say one JSON
// value a line.
package lineio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrLong says that a line was too long. It was passed over.
var ErrLong = errors.New("a line is too long")

// Reader reads lines. It is for one goroutine.
type Reader struct {
	r    *bufio.Reader
	most int
}

// NewReader returns a Reader of lines that have at most so many bytes, their end aside.
func NewReader(r io.Reader, most int) *Reader { return &Reader{bufio.NewReaderSize(r, 64<<10), most} }

// Next returns the next line that is not empty, without its end; it is the caller's. At
// the end it returns io.EOF, after ErrLong it may be called again.
func (r *Reader) Next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.r.ReadSlice('\n')
		if long = long || len(line)+len(bytes.TrimRight(part, "\r\n")) > r.most; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			return nil, fmt.Errorf("%w: it has more than %d bytes", ErrLong, r.most)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && !long {
			return line, nil // a last line without an end counts; the error comes again
		}
		if err != nil {
			return nil, err
		}
	}
}
