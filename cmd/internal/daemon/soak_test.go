package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/api/rpc/serve"
	"github.com/leadlight-dev/leadlight/teams/db"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/history"
)

// served is a daemon's hub and its methods on a real socket, with nothing to watch.
func served(t *testing.T, length int) (*hub, string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lld")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	store, err := db.Open(t.Context(), filepath.Join(dir, "x.db"), history.Component())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	log := slog.New(slog.DiscardHandler)
	d := &daemon{Options: Options{Log: log, Paths: dial.Paths{Socket: filepath.Join(dir, "run", "x", "daemon.sock")}}, ready: make(chan struct{}), changed: make(chan struct{}, 1)}
	close(d.ready)
	if d.hub, err = newHub(t.Context(), history.New(store), log, d.notify); err != nil {
		t.Fatal(err)
	}
	d.hub.queue = length
	d.refresh = func(context.Context, time.Time) {}
	refuse := rpc.Func("test.get", "Refuse.", func(_ context.Context, p api.IDParams) (rpc.Nothing, error) {
		return rpc.Nothing{}, fault.New(fault.RunNotFound, "no %s", p.ID)
	})
	server, err := serve.New(append(d.methods(Deps{}), refuse), log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if d.listener, err = listen(d.Paths.Socket, log); err != nil {
		t.Fatal(err)
	}
	d.listener.Start(func(c *net.UnixConn) { server.Serve(ctx, c) })
	t.Cleanup(func() { cancel(); d.listener.Close(); d.listener.Wait(); d.wg.Wait() })
	return d.hub, d.Paths.Socket
}

func message(n int) events.Event {
	return events.Event{Type: events.MessageSent, Team: "alpha", Member: "bob",
		Data: &events.Message{Head: events.Head{Type: events.KindMessage}, From: "bob", To: "ann", Content: fmt.Sprint(n, strings.Repeat(" x", 300))}}
}

// TestSoakSubscribers: under 500 events a second every subscriber that keeps up
// sees every event once and in order; one that does not is cut with a last word,
// and the others do not feel it. LEADLIGHT_SOAK makes it last that long.
func TestSoakSubscribers(t *testing.T) {
	long := time.Second
	if v, err := time.ParseDuration(os.Getenv("LEADLIGHT_SOAK")); err == nil {
		long = min(v, 100*time.Second)
	}
	total := int(long.Seconds() * soakRate)
	for round := 1; !t.Failed(); round++ { // on a busy machine one may be out of luck
		took := soak(t, total)
		if took <= 2*long {
			return
		}
		plain := 4 * bare(t, total/4)
		if t.Logf("%d events took %s, and %s without a hub", total, took, plain); took <= 3*max(plain, long) {
			return
		}
		if round == 3 {
			t.Errorf("%d events took %s, and %s without a hub", total, took, plain)
		}
	}
}

const soakRate, soakReaders = 500, 10 // events a second, and who hears them

// soak tells events to readers that keep up and to one that does not.
func soak(t *testing.T, total int) time.Duration {
	t.Helper()
	const queue = 256
	hub, socket := served(t, queue)
	lag := laggard(t, socket)
	var wg sync.WaitGroup
	begun := make(chan struct{}, soakReaders)
	var come [soakReaders]atomic.Int64
	for i := range come {
		wg.Go(func() {
			defer come[i].Store(int64(total)) // nobody waits for one that has ended
			if err := readAll(t.Context(), socket, total, begun, &come[i]); err != nil {
				t.Error(err)
			}
		})
	}
	for range come {
		<-begun
	}
	var slowest time.Duration
	began := time.Now()
	tick := time.NewTicker(time.Second / soakRate)
	defer tick.Stop()
	for n := range total {
		start := time.Now()
		hub.Publish(t.Context(), []events.Event{message(n)})
		slowest = max(slowest, time.Since(start))
		<-tick.C
		for i := range come { // who has no turn at the CPU keeps up, too
			for come[i].Load() < int64(n-queue/2) {
				<-tick.C
			}
		}
	}
	wg.Wait()
	took := time.Since(began)
	t.Logf("%d events, the slowest took %s to publish", total, slowest)
	if slowest > 20*time.Second { // who waits for one that reads nothing waits for ever; a busy machine does not take that long
		t.Errorf("a writer waited %s", slowest)
	}
	lag.isCut(t, total)
	return took
}

// bare is how long this machine takes just now to tell as many events to as many readers that
// all keep up, by nothing but JSON on a pipe.
func bare(t *testing.T, total int) time.Duration {
	t.Helper()
	var wg sync.WaitGroup
	var queues [soakReaders]chan events.Event
	for i := range queues {
		from, to := net.Pipe()
		queues[i] = make(chan events.Event, total)
		wg.Go(func() {
			defer to.Close()
			for out := json.NewEncoder(to); ; {
				e, more := <-queues[i]
				if !more || out.Encode(e) != nil {
					return
				}
			}
		})
		wg.Go(func() {
			defer from.Close()
			var e events.Event
			for in := json.NewDecoder(from); in.Decode(&e) == nil; {
			}
		})
	}
	began := time.Now()
	tick := time.NewTicker(time.Second / soakRate)
	defer tick.Stop()
	for n := range total {
		for _, q := range queues {
			q <- message(n)
		}
		<-tick.C
	}
	for _, q := range queues {
		close(q)
	}
	wg.Wait()
	return time.Since(began)
}

// readAll subscribes and checks that 1, 2, 3 … total come, and says how many have.
func readAll(ctx context.Context, socket string, total int, begun chan<- struct{}, come *atomic.Int64) error {
	c, err := rpc.Dial(ctx, socket)
	if err != nil {
		return err
	}
	defer c.Close()
	var want uint64
	err = c.Subscribe(ctx, api.SubscribeParams{}, func(s api.Subscribed) { want = s.Seq; begun <- struct{}{} }, func(line json.RawMessage) error {
		var e events.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if want++; e.Seq != want {
			return fmt.Errorf("event %d came in the place of %d", e.Seq, want)
		}
		if come.Store(int64(want)); want == uint64(total) {
			return io.EOF
		}
		return nil
	})
	if err != io.EOF {
		return fmt.Errorf("after event %d of %d: %w", want, total, err)
	}
	return nil
}

type slow struct {
	conn  net.Conn
	r     *bufio.Reader
	since time.Time // it reads nothing since then
}

// patience is how long a mute subscriber is sure to get a last word: less than the
// daemon waits for one.
const patience = 8 * time.Second

// laggard subscribes and then reads nothing.
func laggard(t *testing.T, socket string) slow {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}`)
	s := slow{conn, bufio.NewReaderSize(conn, 512), time.Now()}
	if line, err := s.r.ReadString('\n'); err != nil || !strings.Contains(line, `"seq":0`) {
		t.Fatalf("%q %v", line, err)
	}
	return s
}

// isCut reads at last: some events in order, then the last word or, if it was
// mute for longer than a daemon waits, the end.
func (s slow) isCut(t *testing.T, total int) {
	t.Helper()
	s.conn.SetReadDeadline(time.Now().Add(time.Minute))
	seen, mute := 0, time.Since(s.since)
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			if seen >= total || mute < patience {
				t.Errorf("after %d events of %d: %v and no last word", seen, total, err)
			}
			return
		}
		var m struct {
			Method string
			Params struct {
				Seq   int
				Error fault.Error
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == rpc.EventsClosed {
			if m.Params.Error.Code != fault.LimitReached || seen >= total {
				t.Errorf("after %d events: %+v", seen, m.Params.Error)
			}
			return
		}
		if seen++; m.Params.Seq != seen {
			t.Fatalf("event %d in the place of %d", m.Params.Seq, seen)
		}
	}
}

// TestReplay: what came after a seq is told first, without a gap to what comes.
func TestReplay(t *testing.T) {
	hub, socket := served(t, 4096)
	for n := range 1500 {
		hub.Publish(t.Context(), []events.Event{message(n)})
	}
	c, err := rpc.Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	after, want := uint64(7), uint64(7)
	err = c.Subscribe(t.Context(), api.SubscribeParams{After: &after}, func(s api.Subscribed) {
		if s.Seq != 1500 {
			t.Errorf("seq %d", s.Seq)
		}
		hub.Publish(t.Context(), []events.Event{message(1500)})
	}, func(line json.RawMessage) error {
		var e events.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if want++; e.Seq != want {
			t.Fatalf("event %d in the place of %d", e.Seq, want)
		}
		if want == 1501 {
			return io.EOF
		}
		return nil
	})
	if err != io.EOF {
		t.Fatal(err)
	}
	other, err := rpc.Dial(t.Context(), socket) // a connection subscribes once
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ahead := uint64(9999)
	if err := other.Call(t.Context(), "events.subscribe", api.SubscribeParams{After: &ahead}, nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("%v", err)
	}
}
