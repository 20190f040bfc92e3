package jetstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// connection is one machine's connection to the engine of the tests.
func connection(t *testing.T, url string) *jetstream.Engine {
	t.Helper()
	e, err := jetstream.Open(jetstream.Options{URL: url, Machine: "test", Prefix: natstest.Prefix(t.Name())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// answering is a machine that answers until it is stopped.
func answering(t *testing.T, e *jetstream.Engine, process string, answer jetstream.Answer) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Answer(ctx, "hub", process, answer) }()
	var once atomic.Bool
	stop = func() {
		if cancel(); !once.Swap(true) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

func call(id, verb string) jetstream.Call {
	return jetstream.Call{ID: id, Verb: verb, Params: json.RawMessage(`{}`)}
}

const patient = 2 * time.Minute

// TestCalls: a call is answered, with what was told before in order; an error keeps its
// code; one that comes again is done once; one whose asker has enough ends.
func TestCalls(t *testing.T) {
	need(t)
	url := os.Getenv(urlVar)
	a, b := connection(t, url), connection(t, url)
	var done atomic.Int32
	ended := make(chan error, 1)
	answering(t, b, "1", func(ctx context.Context, asked jetstream.Asked) (any, error) {
		verb, tell := asked.Verb, asked.Tell
		switch done.Add(1); verb {
		case "fail":
			return nil, fault.New(fault.NotLead, "no").WithHint("ask the lead")
		case "wait":
			_ = tell("begun")
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}
		for i := range 100 {
			_ = tell(i)
		}
		return verb, nil
	})
	told := ""
	for range 2 { // the second time it is the same call
		got, err := a.Ask(t.Context(), "hub", call("one", "spell"), patient, func(raw json.RawMessage) { told += string(raw) + " " })
		if err != nil || string(got) != `"spell"` {
			t.Fatalf("%s, %v", got, err)
		}
	}
	want := ""
	for i := range 100 {
		want += strconv.Itoa(i) + " "
	}
	if told != want || done.Load() != 1 {
		t.Errorf("done %d times, told %s", done.Load(), told)
	}
	look := call("look", "look")
	look.Look = true
	for n := range int32(2) { // what only looks is not kept
		if _, err := a.Ask(t.Context(), "hub", look, patient, func(json.RawMessage) {}); err != nil || done.Load() != n+2 {
			t.Errorf("looked: %v, done %d times", err, done.Load())
		}
	}
	_, err := a.Ask(t.Context(), "hub", call("two", "fail"), patient, nil)
	if fault.CodeOf(err) != fault.NotLead || fault.Of(err).Hint != "ask the lead" {
		t.Errorf("%v", err)
	}
	ctx, enough := context.WithCancel(t.Context())
	if _, err := a.Ask(ctx, "hub", call("three", "wait"), patient, func(json.RawMessage) { enough() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("what nobody wants any more ended with %v", err)
	}
}

// TestSilence: a machine that is not there, or ends while it carries something out, is told
// from one that answers, and the next daemon does nothing a second time.
func TestSilence(t *testing.T) {
	need(t)
	url := os.Getenv(urlVar)
	a, b := connection(t, url), connection(t, url)
	if _, err := a.Ask(t.Context(), "hub", call("one", "x"), 0, nil); err != (jetstream.Silence{}) {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := a.Ask(t.Context(), "hub", call("one", "x"), 300*time.Millisecond, nil); err != (jetstream.Silence{}) {
		t.Errorf("nobody there for long: %v", err)
	}
	begun, twice := make(chan func(), 1), atomic.Bool{}
	stop := answering(t, b, "1", func(ctx context.Context, _ jetstream.Asked) (any, error) {
		begun <- func() { _ = b.Close() } // as a daemon that is killed: it says nothing more
		<-ctx.Done()
		return nil, ctx.Err()
	})
	go func() {
		kill := <-begun
		kill()
		stop()
		c := connection(t, url)
		answering(t, c, "2", func(context.Context, jetstream.Asked) (any, error) {
			twice.Store(true)
			return nil, nil
		})
	}()
	if _, err := a.Ask(t.Context(), "hub", call("two", "x"), patient, nil); fault.CodeOf(err) != fault.Unproven || twice.Load() {
		t.Errorf("ended meanwhile: %v, done twice: %v", err, twice.Load())
	}
}

// TestGivenUpIsNotDoneLater: a daemon that stood still hears at once what it was asked for, and
// that the asker has given up since.
func TestGivenUpIsNotDoneLater(t *testing.T) {
	need(t)
	url := os.Getenv(urlVar)
	asker, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	done := make(chan string, 10)
	answering(t, connection(t, url), "1", func(_ context.Context, asked jetstream.Asked) (any, error) {
		done <- asked.Verb
		return nil, nil
	})
	last, err := asker.SubscribeSync("answers-" + natstest.Prefix(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	send := func(calls ...jetstream.Call) {
		for _, c := range calls {
			data, err := json.Marshal(c)
			if err == nil {
				err = asker.PublishRequest(natstest.Prefix(t.Name())+".machine.hub.call", last.Subject, data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	old, enough := call("old", "old"), jetstream.Call{ID: "old", Sign: "enough"}
	for begun := false; !begun; { // until the machine listens
		send(old, old, enough, call("new", "new"))
		m, err := last.NextMsg(time.Second)
		begun = err == nil && len(m.Data) > 0
	}
	if verb := <-done; verb != "new" || len(done) != 0 {
		t.Errorf("%s was done, and %d more", verb, len(done))
	}
}

// TestCallOverALostConnection: the engine is gone for a moment while a call is under way;
// it is done once, and its result arrives.
func TestCallOverALostConnection(t *testing.T) {
	need(t)
	server, err := natstest.Start("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	a, b := connection(t, server.URL), connection(t, server.URL)
	var done atomic.Int32
	again := make(chan bool)
	answering(t, b, "1", func(context.Context, jetstream.Asked) (any, error) {
		done.Add(1)
		server.Kill()
		if l, err := net.Listen("tcp", strings.TrimPrefix(server.URL, "nats://")); err == nil { // somebody has its port for a moment
			time.AfterFunc(100*time.Millisecond, func() { _ = l.Close() })
		}
		if err := server.Restart(); err != nil {
			t.Error(err)
		}
		close(again)
		return "there", nil // said while nobody is connected yet
	})
	got, err := a.Ask(t.Context(), "hub", call("one", "x"), patient, nil)
	<-again
	if err != nil || string(got) != `"there"` || done.Load() != 1 {
		t.Errorf("%s, %v, done %d times", got, err, done.Load())
	}
}
