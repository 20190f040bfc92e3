package jetstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// wire is a real connection to the engine that can be cut.
type wire struct {
	listener net.Listener
	target   string
	prefix   string       // of the buckets
	cutAfter atomic.Int64 // bytes that still reach the engine: then what it answers is lost
	down     atomic.Bool  // nobody gets through
	drop     atomic.Value // string: the next bytes that hold it do not reach the engine, and nothing is cut
	keep     atomic.Value // string: the same of those that come from it

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newWire(t *testing.T, target string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, target: strings.TrimPrefix(target, "nats://"), conns: map[net.Conn]bool{}}
	w.cutAfter.Store(-1)
	w.drop.Store("")
	w.keep.Store("")
	t.Cleanup(func() { l.Close(); w.cut() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(near)
		}
	}()
	return w
}

func (w *wire) url() string { return "nats://" + w.listener.Addr().String() }

// cut ends all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.Close()
	}
	clear(w.conns)
}

func (w *wire) carry(near net.Conn) {
	far, err := net.Dial("tcp", w.target)
	if err != nil || w.down.Load() {
		near.Close()
		return
	}
	w.mu.Lock()
	w.conns[near], w.conns[far] = true, true
	w.mu.Unlock()
	var lost atomic.Bool
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := far.Read(buf)
			if err != nil {
				near.Close()
				return
			}
			if !lost.Load() && !once(&w.keep, buf[:n]) {
				_, _ = near.Write(buf[:n])
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := near.Read(buf)
		if err != nil {
			far.Close()
			return
		}
		if once(&w.drop, buf[:n]) {
			continue
		}
		if left := w.cutAfter.Load(); left >= 0 && strings.Contains(string(buf[:n]), "HPUB") {
			lost.Store(true)
			w.cutAfter.Store(-1)
			part := buf[:min(n, int(left))]
			_, _ = far.Write(part)
			if len(part) == n {
				_, _ = far.Write([]byte("PING\r\n")) // the engine has it when it answers
				time.AfterFunc(100*time.Millisecond, func() { near.Close(); far.Close() })
			} else {
				near.Close()
				far.Close()
			}
			_, _ = io.Copy(io.Discard, near)
			return
		}
		_, _ = far.Write(buf[:n])
	}
}

// once tells of the first bytes that hold what is to be lost.
func once(lost *atomic.Value, in []byte) bool {
	what := lost.Load().(string)
	return what != "" && strings.Contains(string(in), what) && lost.CompareAndSwap(what, "")
}

func context20(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// through opens the stores by a wire, and directly.
func through(t *testing.T) (*wire, storetest.Stores, storetest.Stores) {
	need(t)
	url, prefix := os.Getenv(urlVar), natstest.Prefix(t.TempDir())
	direct, err := openAt(url, prefix)
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t, url)
	w.prefix = prefix
	far, err := openAt(w.url(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { direct.Close(); far.Close() })
	if err := direct.Roster.Create(context20(t), store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}}}); err != nil {
		t.Fatal(err)
	}
	return w, far, direct
}

// TestLostAnswersAreNotDoneTwice cuts the connection after, and in the middle of, each
// kind of write.
func TestLostAnswersAreNotDoneTwice(t *testing.T) {
	w, far, direct := through(t)
	ctx := context20(t)
	for _, left := range []int64{1 << 20, 20} { // all of it arrives, or its beginning
		var task store.Task
		for _, write := range []struct {
			name string
			do   func() error
		}{
			{"create a task", func() (err error) { task, err = far.Tasks.Create(ctx, "alpha", store.Task{Subject: "one"}); return err }},
			{"claim it", func() (err error) { _, err = far.Tasks.Claim(ctx, "alpha", task.ID, "builder"); return err }},
			{"send", func() (err error) {
				_, err = far.Mail.Put(ctx, "alpha", "builder", store.Message{From: "a", Text: fmt.Sprint(left)})
				return err
			}},
			{"join", func() error {
				return far.Roster.Update(ctx, "alpha", func(x *store.Team) error {
					x.Members = append(x.Members, store.Member{Name: fmt.Sprint("m", left)})
					return nil
				})
			}},
		} {
			w.cutAfter.Store(left)
			if err := write.do(); err != nil {
				t.Errorf("%s, cut after %d bytes: %v", write.name, left, err)
			}
			if w.cutAfter.Load() >= 0 {
				t.Errorf("%s: the connection was not cut", write.name)
			}
		}
	}
	list, _, err := direct.Tasks.List(ctx, "alpha")
	if err != nil || len(list) != 2 {
		t.Errorf("%d tasks, %v; want 2", len(list), err)
	}
	for _, x := range list {
		if x.Owner != "builder" || x.Status != store.InProgress {
			t.Errorf("task %+v", x)
		}
	}
	if box, err := direct.Mail.List(ctx, "alpha", "builder"); err != nil || len(box) != 2 {
		t.Errorf("%d messages, %v; want 2", len(box), err)
	}
	if team, err := direct.Roster.Get(ctx, "alpha"); err != nil || len(team.Members) != 3 {
		t.Errorf("%d members, %v; want 3", len(team.Members), err)
	}
}

// TestAClaimThatFailsLetsOthersIn: whoever waits for a task that another caller here is claiming
// gets it when that one has given up, though nothing was written. Nothing is written for one who
// has given up before.
func TestAClaimThatFailsLetsOthersIn(t *testing.T) {
	t.Parallel()
	w, far, _ := through(t)
	ctx := context20(t)
	if _, err := far.Tasks.Create(ctx, "alpha", store.Task{Subject: "one"}); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(ctx)
	leave()
	if x, err := far.Tasks.ClaimNext(gone, "alpha", "gone"); err == nil {
		t.Errorf("who has gone got %+v", x)
	}
	w.drop.Store("HPUB")
	first := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, time.Second) // less than until it is sent again
		defer cancel()
		_, err := far.Tasks.ClaimNext(ctx, "alpha", "builder")
		first <- err
	}()
	for w.drop.Load() != "" && len(first) == 0 {
		time.Sleep(time.Millisecond)
	}
	if x, err := far.Tasks.ClaimNext(ctx, "alpha", "tester"); err != nil || x.Owner != "tester" {
		t.Errorf("the second got %+v, %v", x, err)
	}
	if err := <-first; err == nil {
		t.Error("the first has claimed it, too")
	}
}

// TestACopyThatBeginsHoldsUpNobody: while the engine does not answer the question for a new copy,
// the rest goes on.
func TestACopyThatBeginsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	need(t)
	w, o := newWire(t, os.Getenv(urlVar)), jetstream.Options{Machine: "test", Prefix: natstest.Prefix(t.TempDir())}
	o.URL = w.url()
	if _, err := jetstream.Join(context20(t), o); err != nil {
		t.Fatal(err)
	}
	e, err := jetstream.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if err := e.Leave(context20(t), "nobody"); err != nil { // it hears answers from here on
		t.Fatal(err)
	}
	quick := false // at least one try has its turn at the CPU
	for deadline := time.Now().Add(time.Minute); !quick && time.Now().Before(deadline); {
		w.drop.Store("CONSUMER.CREATE")
		ctx, cancel := context.WithCancel(context20(t))
		done := make(chan error, 1)
		go func() {
			_, err := e.Roster().List(ctx)
			done <- err
		}()
		for w.drop.Load() != "" && len(done) == 0 {
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		if err := e.Leave(context20(t), "nobody"); err != nil {
			t.Fatal(err)
		}
		quick = time.Since(began) < time.Second
		cancel()
		if err := <-done; err == nil {
			t.Error("a copy was there")
		}
	}
	if !quick {
		t.Error("what a copy that begins does not need waits for it")
	}
}

// TestACopyIsSentAgainWhatItMissed, as is seen by the next message, by the word that there is
// nothing new, or by silence.
func TestACopyIsSentAgainWhatItMissed(t *testing.T) {
	t.Parallel()
	w, far, direct := through(t)
	ctx, made := context20(t), 0
	create := func() {
		made++
		if _, err := direct.Tasks.Create(ctx, "alpha", store.Task{Subject: "a task"}); err != nil {
			t.Fatal(err)
		}
	}
	seen := func() {
		t.Helper()
		if list, _, err := far.Tasks.List(ctx, "alpha"); err != nil || len(list) != made {
			t.Errorf("%d of %d tasks are seen: %v", len(list), made, err)
		}
	}
	missed := func() {
		w.keep.Store(fmt.Sprintf(".task.%d ", made+1))
		create()
		for end := time.Now().Add(time.Minute); w.keep.Load() != "" && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	create()
	seen()
	missed()
	create()
	seen()
	missed()
	seen()
	w.muteFollowers(t)
	create()
	seen()
}

// muteFollowers has the engine send no copy anything more.
func (w *wire) muteFollowers(t *testing.T) {
	s, err := bareConnection(t, w.target).Stream(context20(t), "KV_"+w.prefix+"-state")
	if err != nil {
		t.Fatal(err)
	}
	for name := range s.ConsumerNames(context20(t)).Name() {
		if err := s.DeleteConsumer(context20(t), name); err != nil {
			t.Error(err)
		}
	}
}

// TestWithoutEngine: what needs the engine fails at once and does nothing, and works when
// it is back.
func TestWithoutEngine(t *testing.T) {
	w, far, direct := through(t)
	ctx := context20(t)
	if _, err := far.Tasks.Create(ctx, "alpha", store.Task{Subject: "one"}); err != nil {
		t.Fatal(err)
	}
	w.down.Store(true)
	w.cut()
	works := map[string]func() error{
		"claim": func() error { _, err := far.Tasks.ClaimNext(ctx, "alpha", "builder"); return err },
		"send":  func() error { _, err := far.Mail.Put(ctx, "alpha", "builder", store.Message{From: "a"}); return err },
		"list":  func() error { _, err := far.Roster.List(ctx); return err },
		"gc": func() error {
			_, err := far.Roster.Remains(ctx)
			if err != nil && strings.Contains(err.Error(), "buffer") {
				t.Error(err)
			}
			return err
		},
		"join": func() error {
			return far.Roster.Update(ctx, "alpha", func(x *store.Team) error { x.Description = "x"; return nil })
		},
	}
	for deadline := time.Now().Add(time.Minute); works["list"]() == nil && time.Now().Before(deadline); {
	}
	for name, work := range works {
		quick := false // at least one try has its turn at the CPU
		for deadline := time.Now().Add(time.Minute); !quick && time.Now().Before(deadline); {
			began := time.Now()
			err := work()
			if fault.CodeOf(err) != fault.EngineUnavailable || fault.ExitOf(err) != fault.ExitBackend {
				t.Fatalf("%s without the engine: %v", name, err)
			}
			quick = time.Since(began) < time.Second
		}
		if !quick {
			t.Errorf("%s does not fail at once", name)
		}
	}
	if list, _, err := direct.Tasks.List(ctx, "alpha"); err != nil || len(list) != 1 || list[0].Owner != "" {
		t.Errorf("tasks %+v, %v", list, err)
	}
	w.down.Store(false)
	for deadline := time.Now().Add(time.Minute); works["claim"]() != nil; {
		if time.Now().After(deadline) {
			t.Fatal("it does not come back")
		}
	}
	if list, _, err := direct.Tasks.List(ctx, "alpha"); err != nil || list[0].Owner != "builder" {
		t.Errorf("tasks %+v, %v", list, err)
	}
}

// TestChangeSeesTheNewest: what others write while a change is made is not overwritten.
func TestChangeSeesTheNewest(t *testing.T) {
	_, far, direct := through(t)
	ctx := context20(t)
	if _, err := far.Tasks.Create(ctx, "alpha", store.Task{Subject: "one"}); err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]func(between func()) error{
		"status": func(between func()) error {
			_, err := far.Tasks.Update(ctx, "alpha", "1", func(x *store.Task) error { between(); x.Description += "x"; return nil })
			return err
		},
		"links": func(between func()) error {
			_, err := far.Tasks.Create(ctx, "alpha", store.Task{Subject: "two"})
			if err != nil {
				return err
			}
			_, err = far.Tasks.Update(ctx, "alpha", "1", func(x *store.Task) error { between(); x.Blocks = append(x.Blocks, "2"); return nil })
			return err
		},
		"roster": func(between func()) error {
			return far.Roster.Update(ctx, "alpha", func(x *store.Team) error { between(); x.Description += "x"; return nil })
		},
	} {
		runs := 0
		err := work(func() {
			if runs++; runs > 1 {
				return
			}
			if _, err := direct.Tasks.Update(ctx, "alpha", "1", func(x *store.Task) error { x.Subject += "!"; return nil }); err != nil {
				t.Error(err)
			}
			if err := direct.Roster.Update(ctx, "alpha", func(x *store.Team) error { x.LeadSessionID += "s"; return nil }); err != nil {
				t.Error(err)
			}
			// The copy of the one who changes follows meanwhile.
			if _, _, err := far.Tasks.List(ctx, "alpha"); err != nil {
				t.Error(err)
			}
			if _, err := far.Roster.Get(ctx, "alpha"); err != nil {
				t.Error(err)
			}
		})
		if err != nil || runs != 2 {
			t.Errorf("%s: %v, made %d times, want 2", name, err, runs)
		}
	}
	if x, err := direct.Tasks.Get(ctx, "alpha", "1"); err != nil || x.Subject != "one!!!" || x.Description != "x" || len(x.Blocks) != 1 {
		t.Errorf("task %+v, %v", x, err)
	}
}

// TestNewerLayouts: an engine or a team of a newer leadlight is left untouched, and fields
// that are not ours survive.
func TestNewerLayouts(t *testing.T) {
	need(t)
	ctx, url, prefix := context20(t), os.Getenv(urlVar), natstest.Prefix(t.TempDir())
	s, err := openAt(url, prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	js := bareConnection(t, url)
	kv, err := js.KeyValue(ctx, prefix+"-state")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Roster.Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "builder"}}}); err != nil {
		t.Fatal(err)
	}
	edit := func(key, old, new string) {
		t.Helper()
		x, err := kv.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(x.Value()), old, new, 1)
		if text == string(x.Value()) || !json.Valid([]byte(text)) {
			t.Fatalf("%s cannot be edited: %s", key, x.Value())
		}
		id := rawHeader(t, js, prefix, key)
		m := &nats.Msg{Subject: "$KV." + prefix + "-state." + key, Data: []byte(text), Header: nats.Header{"Leadlight-Team": {id}}}
		if _, err := js.PublishMsg(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	edit("team.alpha", `"name": "builder"`, `"name": "builder", "later": {"x": 1.50}`)
	if err := s.Roster.Update(ctx, "alpha", func(x *store.Team) error { x.Member("builder").Color = "red"; return nil }); err != nil {
		t.Fatal(err)
	}
	if x, err := kv.Get(ctx, "team.alpha"); err != nil || !strings.Contains(strings.Join(strings.Fields(string(x.Value())), ""), `"later":{"x":1.50}`) {
		t.Errorf("the other field is lost: %s %v", x.Value(), err)
	}
	edit("team.alpha", `"schema": 1`, `"schema": 99`)
	if _, err := s.Roster.Get(ctx, "alpha"); fault.CodeOf(err) != fault.VersionTooNew {
		t.Errorf("a newer team: %v", err)
	}
	edit("meta", `"schema":1`, `"schema":99`)
	if _, err := jetstream.Join(ctx, jetstream.Options{URL: url, Prefix: prefix}); fault.CodeOf(err) != fault.VersionTooNew {
		t.Errorf("a newer engine: %v", err)
	}
}

func rawHeader(t *testing.T, js natsjs.JetStream, prefix, key string) string {
	t.Helper()
	stream, err := js.Stream(context.Background(), "KV_"+prefix+"-state")
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetLastMsgForSubject(context.Background(), "$KV."+prefix+"-state."+key)
	if err != nil {
		t.Fatal(err)
	}
	return m.Header.Get("Leadlight-Team")
}
