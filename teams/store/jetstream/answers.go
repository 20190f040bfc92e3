package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// answers are those of the engine that somebody waits for. All come on one subscription: a
// request makes neither a context of its own nor more garbage than it must, since a claim is
// little else than a request.
type answers struct {
	mu      sync.Mutex
	inbox   string // what their subjects begin with; "": nobody listens yet
	last    uint64
	waiting map[string]chan *nats.Msg
}

// listen says where answers go. Called with a.mu held.
func (e *Engine) listen(a *answers) error {
	if a.inbox != "" {
		return nil
	}
	inbox := e.nc.NewInbox() + "."
	_, err := e.nc.Subscribe(inbox+"*", func(m *nats.Msg) {
		a.mu.Lock()
		c := a.waiting[m.Subject]
		delete(a.waiting, m.Subject)
		a.mu.Unlock()
		if c != nil {
			c <- m
		}
	})
	if err == nil {
		a.inbox, a.waiting = inbox, map[string]chan *nats.Msg{}
	}
	return err
}

// request sends a message and returns the answer to it, once. It waits for it as long as the
// connection lasts, and not longer than answerLimit.
func (e *Engine) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	if ctx.Err() != nil { // nobody wants it any more
		return nil, ctx.Err()
	}
	a, c := &e.answers, make(chan *nats.Msg, 1)
	a.mu.Lock()
	if err := e.listen(a); err != nil {
		a.mu.Unlock()
		return nil, err
	}
	a.last++
	m.Reply = a.inbox + strconv.FormatUint(a.last, 36)
	a.waiting[m.Reply] = c
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		delete(a.waiting, m.Reply)
		a.mu.Unlock()
	}()
	e.mu.Lock()
	cut := e.cut
	e.mu.Unlock()
	if err := e.nc.PublishMsg(m); err != nil {
		return nil, err
	}
	late := time.NewTimer(answerLimit)
	defer late.Stop()
	select {
	case answer := <-c:
		if len(answer.Data) == 0 && answer.Header.Get("Status") == "503" {
			return nil, nats.ErrNoResponders
		}
		return answer, nil
	case <-late.C:
		return nil, context.DeadlineExceeded
	case <-cut.Done():
		return nil, context.Canceled
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// publish sends a message to a stream and returns its number there.
func (e *Engine) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	answer, err := e.request(ctx, m)
	if err != nil {
		return 0, err
	}
	if rev := ackOf(answer.Data); rev > 0 {
		return rev, nil
	}
	var said struct {
		Error *jetstream.APIError `json:"error"`
		Seq   uint64              `json:"seq"`
	}
	switch err := json.Unmarshal(answer.Data, &said); {
	case err != nil:
		return 0, err
	case said.Error != nil:
		return 0, said.Error
	case said.Seq == 0:
		return 0, errors.New("an answer without a number")
	}
	return said.Seq, nil
}

// ackOf is the number in the answer to a message that was taken in, as the engine writes it,
// {"stream":"NAME","seq":N}; 0 for any other.
func ackOf(answer []byte) uint64 {
	stream, number, ok := bytes.Cut(answer, []byte(`,"seq":`))
	if !ok || bytes.Count(stream, []byte{'"'}) != 4 || !bytes.HasPrefix(stream, []byte(`{"stream":"`)) {
		return 0
	}
	number, _ = bytes.CutSuffix(number, []byte{'}'})
	rev, _ := strconv.ParseUint(string(number), 10, 64)
	return rev
}
