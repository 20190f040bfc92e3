package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/lineio"
)

// Reader reads messages. It is for one goroutine.
type Reader struct{ *lineio.Reader }

// NewReader returns a Reader of r.
func NewReader(r io.Reader) Reader { return Reader{lineio.NewReader(r, MaxLine)} }

// Message returns the next message and the line it came in. What is no message, or too long,
// is an Error to answer with; the next one can be read then. At the end it returns io.EOF.
func (r Reader) Message() (m Message, line []byte, bad *Error, err error) {
	line, err = r.Next()
	switch {
	case errors.Is(err, lineio.ErrLong):
		return m, nil, &Error{Code: InvalidRequest, Message: err.Error()}, nil
	case err != nil:
		return m, nil, nil, err
	}
	m, bad = Decode(line)
	return m, line, bad, nil
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
		return nil, fmt.Errorf("%w: it has more than %d bytes", lineio.ErrLong, MaxLine)
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
