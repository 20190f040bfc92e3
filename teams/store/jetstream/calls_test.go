package jetstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
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
	stop := answering(t, b, "1", func(ctx context.Context, asked jetstream.Asked) (any, error) {
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
	long := call("long", "fail")
	long.Params = json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
	if _, err := a.Ask(t.Context(), "hub", long, patient, nil); fault.CodeOf(err) != fault.LimitReached {
		t.Errorf("too long for the engine: %v", err)
	}
	ctx, enough := context.WithCancel(t.Context())
	if _, err := a.Ask(ctx, "hub", call("three", "wait"), patient, func(json.RawMessage) { enough() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("what nobody wants any more ended with %v", err)
	}
	stop()
	answering(t, b, "1", func(context.Context, jetstream.Asked) (any, error) { return "a second time", nil })
	if got, err := a.Ask(t.Context(), "hub", call("one", "spell"), patient, func(json.RawMessage) {}); err != nil || string(got) != `"spell"` {
		t.Errorf("asked again when the machine did not answer for a time: %s, %v", got, err)
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
	if _, err := a.Ask(t.Context(), "hub", call("two", "x"), patient, nil); fault.CodeOf(err) != fault.Unproven || fault.Of(err).Hint == "" || twice.Load() {
		t.Errorf("ended meanwhile: %v, done twice: %v", err, twice.Load())
	}
}

// raw is one side of calls, message by message.
type raw struct {
	*nats.Conn
	t     *testing.T
	there string // the subject of calls of hub
	heard *nats.Subscription
}

func rawOn(t *testing.T, subject string) raw {
	conn, err := nats.Connect(os.Getenv(urlVar))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	r := raw{conn, t, natstest.Prefix(t.Name()) + ".machine.hub.call", nil}
	if subject == "" {
		subject = r.there
	}
	if r.heard, err = conn.SubscribeSync(subject); err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r raw) send(subject string, messages ...any) {
	r.t.Helper()
	for _, x := range messages {
		data, err := json.Marshal(x)
		if err == nil {
			err = r.PublishRequest(subject, r.heard.Subject, data)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// next is the next message, and who wants an answer. The engine's own, that nobody listens, are none.
func (r raw) next(limit time.Duration) (c jetstream.Call, reply string, ok bool) {
	m, err := r.heard.NextMsg(limit)
	if err != nil || len(m.Data) == 0 {
		return c, "", false
	}
	return c, m.Reply, json.Unmarshal(m.Data, &c) == nil
}

// TestGivenUpIsNotDoneLater: a daemon that stood still hears at once what it was asked for, and
// that the asker has given up since. It begins only what somebody waits for. What has begun is
// not broken off by an asker that has heard nothing.
func TestGivenUpIsNotDoneLater(t *testing.T) {
	need(t)
	t.Parallel()
	asker := rawOn(t, "answers-"+natstest.Prefix(t.Name()))
	done, broken, end := make(chan string, 10), make(chan error, 10), make(chan bool)
	answering(t, connection(t, os.Getenv(urlVar)), "1", func(ctx context.Context, asked jetstream.Asked) (any, error) {
		done <- asked.Verb
		select {
		case <-end:
		case <-ctx.Done():
			broken <- ctx.Err()
		}
		return nil, nil
	})
	sign := func(id, what, process string) jetstream.Call {
		return jetstream.Call{ID: id, Sign: what, Process: process}
	}
	for known := false; !known; { // until the machine listens
		asker.send(asker.there, call("old", "old"), call("old", "old"), sign("old", "given up", ""), call("unheard", "unheard"), call("new", "new"))
		_, _, known = asker.next(time.Second)
	}
	asker.send(asker.there, sign("old", "begin", "1"), sign("unheard", "begin", "2"), sign("new", "begin", "1"), sign("new", "given up", ""), call("last", "last"), sign("last", "begin", "1"))
	began := []string{<-done, <-done}
	slices.Sort(began)
	close(end)
	if !slices.Equal(began, []string{"last", "new"}) || len(done) != 0 || len(broken) != 0 {
		t.Errorf("%v were done, and %d more; %d were broken off", began, len(done), len(broken))
	}
}

// TestAskedAgainAfterSilence: an asker that has heard nothing has let nothing begin, and breaks
// nothing off. It lets the first daemon begin that it hears, and no other one after that.
func TestAskedAgainAfterSilence(t *testing.T) {
	need(t)
	t.Parallel()
	there, a := rawOn(t, ""), connection(t, os.Getenv(urlVar))
	type word struct {
		Process string `json:"process"`
		Ended   bool   `json:"ended,omitempty"`
		Result  any    `json:"result,omitempty"`
	}
	if _, err := a.Ask(t.Context(), "hub", call("one", "x"), 0, nil); err != (jetstream.Silence{}) {
		t.Fatalf("no word: %v", err)
	}
	result := make(chan string, 1)
	go func() {
		got, err := a.Ask(t.Context(), "hub", call("one", "x"), patient, nil)
		result <- string(got) + " " + fmt.Sprint(err)
	}()
	var signs []string
	for ended := false; !ended; {
		c, reply, ok := there.next(time.Minute)
		if !ok {
			t.Fatal("nothing is asked")
		}
		signs = append(signs, strings.TrimSpace(c.Sign+" "+c.Process))
		switch n := len(signs); {
		case c.Sign == "" && c.Process == "" && n > 2: // the first two are of the one that has given up
			there.send(reply, word{Process: "1"}, word{Process: "2"})
		case c.Sign == "" && c.Process != "":
			there.send(reply, word{Process: "1", Ended: true, Result: "there"})
			ended = true
		}
	}
	if got := strings.Join(signs, ", "); got != ", given up, , begin 1, 1" {
		t.Errorf("it said: %s", got)
	}
	if got := <-result; got != `"there" <nil>` {
		t.Error(got)
	}
}

// TestCallOverALostConnection: the engine is gone for a moment while a call is under way;
// it is done once, and its result arrives.
func TestCallOverALostConnection(t *testing.T) {
	need(t)
	server := natstest.For(t)
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
