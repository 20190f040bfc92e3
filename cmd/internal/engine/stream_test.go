package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// running is a folder for sockets, whose path is short.
func running(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "llmeet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "run")
}

// The socket of a stream lets nobody in but the process that has asked.
func TestOnlyWhoAsksGetsTheStream(t *testing.T) {
	t.Parallel()
	e := &Engine{run: running(t), log: slog.New(slog.DiscardHandler)}
	for pid, mine := range map[int]bool{os.Getpid(): true, os.Getppid(): false} {
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan string, 1)
		conn, hangUp, err := e.meet(ctx, pid, func(raw json.RawMessage) {
			var where api.MachineSocket
			if err := json.Unmarshal(raw, &where); err != nil {
				t.Error(err)
			}
			go func() {
				defer cancel()
				c, err := net.Dial("unix", where.Socket)
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				got, _ := io.ReadAll(c)
				answer <- string(got)
			}()
		})
		if (err == nil) != mine {
			t.Errorf("asked by %d, connected by %d: %v", pid, os.Getpid(), err)
		}
		if err == nil {
			if _, err := io.WriteString(conn, "welcome"); err != nil {
				t.Error(err)
			}
			hangUp()
		}
		if got := <-answer; (got == "welcome") != mine {
			t.Errorf("asked by %d, connected by %d: got %q", pid, os.Getpid(), got)
		}
	}
}

// A viewer that reads nothing until the call has ended there gets all of it all the same.
func TestASlowViewerSeesTheEnd(t *testing.T) {
	t.Parallel()
	server := natstest.For(t)
	connected := func() *jetstream.Engine {
		e, err := jetstream.Open(jetstream.Options{URL: server.URL, Machine: "test"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	shown, over := bytes.Repeat([]byte("0123456789abcde\n"), 32<<10), make(chan error, 1) // more than all buffers on the way but the window hold
	ctx, cancel := context.WithCancel(t.Context())
	there, stopped := connected(), make(chan error, 1)
	go func() {
		stopped <- there.Answer(ctx, "hub", "1", func(_ context.Context, asked jetstream.Asked) (any, error) {
			_, err := asked.Stream.Write(shown)
			over <- err
			return nil, err
		})
	}()
	here := &Engine{Engine: connected(), run: running(t), log: slog.New(slog.DiscardHandler)}
	where, done := make(chan api.MachineSocket, 1), make(chan error, 1)
	go func() {
		_, err := here.stream(ctx, os.Getpid(), api.MachineCall{Machine: "hub", ID: "one", Verb: "show", Params: json.RawMessage("{}"), Follow: true, Stream: true}, func(raw json.RawMessage) {
			var s api.MachineSocket
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Error(err)
			}
			where <- s
		})
		done <- err
	}()
	viewer, err := net.Dial("unix", (<-where).Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	first := make([]byte, len(shown)-300<<10) // the rest fits into what is on its way
	if _, err := io.ReadFull(viewer, first); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(viewer); err != nil || !bytes.Equal(append(first, rest...), shown) {
		t.Errorf("%d of %d bytes came, or others: %v", len(first)+len(rest), len(shown), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
