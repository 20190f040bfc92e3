package jetstream_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// flood is some MiB that are not the same anywhere.
func flood() []byte {
	out := make([]byte, 8<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(out)
	return out
}

// asks lets hub carry out a call with a stream.
func asks(t *testing.T, e *jetstream.Engine, id, verb string) (*jetstream.Stream, <-chan error) {
	t.Helper()
	s, err := e.Stream("hub", id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := call(id, verb)
	c.Follow, c.Stream = true, true
	done := make(chan error, 1)
	go func() {
		_, err := e.Ask(t.Context(), "hub", c, patient, func(json.RawMessage) {})
		done <- err
	}()
	return s, done
}

// counting notes how much was written.
type counting struct {
	io.Writer
	n atomic.Int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// TestStream: a flood arrives whole and in order, with its end. Nobody keeps more of it than
// the window while it is not read, and other calls are answered meanwhile. What goes the
// other way does, too.
func TestStream(t *testing.T) {
	need(t)
	t.Parallel()
	url, sent := os.Getenv(urlVar), flood()
	a, b := connection(t, url), connection(t, url)
	var out counting
	answering(t, b, "1", func(_ context.Context, asked jetstream.Asked) (any, error) {
		switch asked.Verb {
		case "flood":
			out.Writer = asked.Stream
			_, err := io.Copy(&out, bytes.NewReader(sent))
			return nil, err
		case "sum":
			got, err := io.ReadAll(asked.Stream)
			if sum := sha256.Sum256(got); err == nil {
				_, err = asked.Stream.Write(sum[:])
			}
			return nil, err
		}
		return asked.Verb, nil
	})
	s, done := asks(t, a, "one", "flood")
	first := make([]byte, 1)
	if _, err := io.ReadFull(s, first); err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // nobody reads
		if got, err := a.Ask(t.Context(), "hub", call("beside"+string(rune('a'+i)), "x"), patient, nil); err != nil || string(got) != `"x"` {
			t.Fatalf("beside a flood: %s, %v", got, err)
		}
	}
	if n := out.n.Load(); n > 1<<20 {
		t.Errorf("%d bytes were taken that nobody reads", n)
	}
	rest, err := io.ReadAll(s)
	if got := append(first, rest...); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came, or others: %v", len(got), len(sent), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}

	s, done = asks(t, a, "two", "sum")
	if _, err := s.Write(sent); err != nil {
		t.Fatal(err)
	}
	if err := s.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(s); err != nil || [32]byte(got) != sha256.Sum256(sent) || <-done != nil {
		t.Errorf("the other way: %x, %v", got, err)
	}
}

// TestStreamIsCut: the engine is gone for a moment, and what was lost with it is sent again. A
// daemon that ends does not wait for one who does not read.
func TestStreamIsCut(t *testing.T) {
	need(t)
	t.Parallel()
	server := natstest.For(t)
	a, b, sent := connection(t, server.URL), connection(t, server.URL), flood()
	stop := answering(t, b, "1", func(ctx context.Context, asked jetstream.Asked) (any, error) {
		_, err := asked.Stream.Write(sent)
		if asked.Verb == "hold" {
			_, err = asked.Stream.Write(sent) // nobody reads it
		}
		return nil, errors.Join(err, ctx.Err())
	})
	s, done := asks(t, a, "one", "flood")
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(s, got[:1<<20]); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if n, err := io.ReadFull(s, got[1<<20:]); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came after it, or others: %v", n, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	s, done = asks(t, a, "two", "hold")
	if _, err := io.ReadFull(s, got[:1]); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if _, err := s.Write(got[:1]); err == nil {
		t.Error("a closed stream is written to")
	}
	stop() // returns only when the call has ended
	if err := <-done; err == nil {
		t.Error("a call that was cut off has a result")
	}
}
