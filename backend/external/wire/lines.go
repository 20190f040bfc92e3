package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// ErrLong says that a line was longer than MaxLine. It was passed over.
var ErrLong = errors.New("a line is longer than 8 MiB")

// Reader reads lines. It is for one goroutine.
type Reader struct{ r *bufio.Reader }

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line that is not empty, without its end; it is the caller's. At
// the end it returns io.EOF, after ErrLong it may be called again.
func (r *Reader) Next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxLine+1; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			return nil, ErrLong
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && !long {
			return line, nil // a last line without an end counts; the error comes again
		}
		if err != nil {
			return nil, err
		}
	}
}

// Writer writes lines, each whole. It is safe for concurrent use.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send writes a message and returns the line.
func (w *Writer) Send(m Message) ([]byte, error) {
	m.JSONRPC = "2.0"
	line, err := Encode(m)
	if err != nil {
		return nil, err
	}
	if len(line) > MaxLine {
		return nil, ErrLong
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.w.Write(append(line, '\n'))
	return line, err
}

// Encode is v as JSON on one line, with <, > and & as they are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads a line. What is no message of the protocol is an Error to answer with.
func Decode(line []byte) (Message, *Error) {
	var m Message
	if !json.Valid(line) {
		return m, &Error{Code: ParseError, Message: "the line is not JSON"}
	}
	if line[0] != '{' {
		return m, &Error{Code: InvalidRequest, Message: "the line is not one JSON object"}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, &Error{Code: InvalidRequest, Message: "the line is not a JSON-RPC message: " + err.Error()}
	}
	if bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	switch {
	case m.JSONRPC != "2.0":
		return m, &Error{Code: InvalidRequest, Message: `the line lacks "jsonrpc":"2.0"`}
	case len(m.ID) > 0 && m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9'):
		return m, &Error{Code: InvalidRequest, Message: "the id is neither a number nor a string"}
	case m.Method == "" && len(m.ID) == 0 && m.Error == nil:
		return m, &Error{Code: InvalidRequest, Message: "the line asks nothing and answers nothing"}
	}
	return m, nil
}
