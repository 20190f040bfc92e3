package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/internal/lineio"
)

// lines is a transport over a pair of streams, one message a line. A line that is no
// message is answered with the protocol's error, and the next one is read: the SDK's own
// transport ends there. Numbers that identify something come back exactly as they were.
type lines struct {
	in  io.ReadCloser
	out io.WriteCloser
	max int // bytes of a line

	read   chan lineRead
	closed chan struct{}
	once   sync.Once

	writing sync.Mutex
	waiting []json.RawMessage // the rest of a batch
	inBatch bool              // what was read last is a part of one

	open     atomic.Int64  // requests that have no answer yet
	answered chan struct{} // one of them has got one
}

// lastAnswers is how long the answers to the last requests may take once the client has
// closed its side: who writes all its requests at once, as a pipe does, wants them.
const lastAnswers = 3 * time.Second

// lineRead is one line, or why there are no more.
type lineRead struct {
	text []byte
	err  error
}

func newLines(in io.ReadCloser, out io.WriteCloser, most int) *lines {
	return &lines{in: in, out: out, max: most, read: make(chan lineRead), closed: make(chan struct{}), answered: make(chan struct{}, 1)}
}

// Connect implements sdk.Transport.
func (l *lines) Connect(context.Context) (sdk.Connection, error) {
	go l.readAll()
	return l, nil
}

// readAll reads until the other side hangs up. A read of standard input cannot always be
// ended, so it has a goroutine of its own.
func (l *lines) readAll() {
	for r := lineio.NewReader(l.in, l.max); ; {
		text, err := r.Next()
		select {
		case l.read <- lineRead{text, err}:
		case <-l.closed:
			return
		}
		if err != nil && !errors.Is(err, lineio.ErrLong) {
			return
		}
	}
}

// Read implements sdk.Connection.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		raw, err := l.next(ctx)
		var m jsonrpc.Message
		var bad *badLine
		if err == nil {
			m, bad = l.message(raw)
		} else if errors.Is(err, lineio.ErrLong) {
			bad, err = &badLine{jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line has more than %d bytes", l.max), nil}, nil
		}
		switch {
		case err != nil:
			l.finish(ctx)
			return nil, err
		case bad != nil:
			if err := l.refuse(bad); err != nil {
				return nil, err
			}
		case m != nil:
			if req, ok := m.(*jsonrpc.Request); ok && req.ID.IsValid() {
				l.open.Add(1)
			}
			return m, nil
		}
	}
}

// finish waits for the last answers.
func (l *lines) finish(ctx context.Context) {
	late := time.After(lastAnswers)
	for l.open.Load() > 0 {
		select {
		case <-l.answered:
		case <-late:
			return
		case <-l.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// next is the rest of a batch, or the next line.
func (l *lines) next(ctx context.Context) ([]byte, error) {
	if len(l.waiting) > 0 {
		raw := l.waiting[0]
		l.waiting, l.inBatch = l.waiting[1:], true
		return raw, nil
	}
	l.inBatch = false
	select {
	case x := <-l.read:
		return x.text, x.err
	case <-l.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// badLine is the protocol's error for a line.
type badLine struct {
	code int
	what string
	id   json.RawMessage
}

// message reads a message. A batch is taken apart: each of its messages is answered alone.
func (l *lines) message(raw []byte) (jsonrpc.Message, *badLine) {
	raw = bytes.TrimSpace(raw)
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return nil, &badLine{jsonrpc.CodeParseError, "the line is not JSON in UTF-8", nil}
	}
	if raw[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(raw, &batch) != nil || len(batch) == 0 || l.inBatch {
			return nil, &badLine{jsonrpc.CodeInvalidRequest, "the batch is empty, or within another one", nil}
		}
		l.waiting = batch
		return nil, nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, &badLine{jsonrpc.CodeInvalidRequest, "the line is JSON, but no object", nil}
	}
	id := fields["id"]
	m, err := jsonrpc.DecodeMessage(keepInMessage(raw))
	if err != nil {
		if len(id) == 0 || !strings.ContainsRune(`"-0123456789`, rune(id[0])) {
			id = nil
		}
		return nil, &badLine{jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0: " + err.Error(), id}
	}
	if _, ok := m.(*jsonrpc.Request); ok && string(id) == "null" {
		return nil, &badLine{jsonrpc.CodeInvalidRequest, "the id of a request cannot be null", nil}
	}
	return m, nil
}

// refuse answers a line that is no message.
func (l *lines) refuse(b *badLine) error {
	if b.id == nil {
		b.id = json.RawMessage("null")
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": b.id, "error": map[string]any{"code": b.code, "message": oneLine(b.what)}})
	if err != nil {
		return err
	}
	return l.write(data)
}

// Write implements sdk.Connection.
func (l *lines) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = l.write(restoreNumbers(data))
	if _, ok := m.(*jsonrpc.Response); ok {
		l.open.Add(-1)
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return err
}

func (l *lines) write(data []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.out.Write(append(data, '\n'))
	return err
}

// Close implements sdk.Connection.
func (l *lines) Close() (err error) {
	l.once.Do(func() {
		close(l.closed)
		err = errors.Join(l.in.Close(), l.out.Close())
	})
	return err
}

// SessionID implements sdk.Connection.
func (l *lines) SessionID() string { return "" }
