package jetstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// TestManyReaders: a hundred readers at once share the questions of how far their copies must
// come, and each sees all that was written before it began.
func TestManyReaders(t *testing.T) {
	need(t)
	ctx, base := context20(t), t.TempDir()
	machines := newTeam(t, os.Getenv(urlVar), base, 2)
	here, elsewhere := machines[0], machines[1]
	if _, err := elsewhere.Mail.List(ctx, "alpha", "m0"); err != nil { // the copies begin
		t.Fatal(err)
	}
	questions, stop := countQuestions(t, base)
	const readers = 100
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() {
			if _, err := elsewhere.Mail.List(ctx, "alpha", fmt.Sprint("m", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	stop()
	if n := questions.Load(); n > readers { // each alone asks three
		t.Errorf("%d readers asked %d questions", readers, n)
	}

	busy, enough := context.WithCancel(ctx)
	defer enough()
	for range 8 {
		wg.Go(func() {
			for busy.Err() == nil {
				_, _ = elsewhere.Mail.List(busy, "alpha", "m1")
			}
		})
	}
	for i := range 200 {
		m, err := here.Mail.Put(ctx, "alpha", "m1", store.Message{From: store.Lead, Text: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		list, err := elsewhere.Mail.List(ctx, "alpha", "m1")
		if err != nil || !slices.ContainsFunc(list, func(x store.Message) bool { return x.ID == m.ID }) {
			t.Fatalf("message %d was sent and is not among %d: %v", i, len(list), err)
		}
	}
	enough()
	wg.Wait()
}

// TestReadsAfterHints: a read that follows a hint has the message of it, and asks the engine
// nothing. Copies that have just begun are asked for all the same.
func TestReadsAfterHints(t *testing.T) {
	need(t)
	ctx, base := context20(t), t.TempDir()
	machines := newTeam(t, os.Getenv(urlVar), base, 2)
	here, elsewhere := machines[0], machines[1]
	var asked []string
	send := func(n int) {
		m, err := here.Mail.Put(ctx, "alpha", "bob", store.Message{From: store.Lead, Text: fmt.Sprint(n)})
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, m.ID)
	}
	for i := range 50 {
		send(i)
	}
	if list, err := elsewhere.Mail.List(store.AfterHint(ctx), "alpha", "bob"); err != nil || len(list) != len(asked) {
		t.Fatalf("the first read sees %d of %d messages: %v", len(list), len(asked), err)
	}
	hints, err := elsewhere.Mail.Watch(ctx, "alpha", "bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := elsewhere.Mail.MarkRead(ctx, "alpha", "bob", asked); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		send(100 + i)
	}
	questions, stop := countQuestions(t, base)
	for seen := 0; seen < len(asked); {
		select {
		case <-hints:
		case <-ctx.Done():
			t.Fatalf("%d of %d messages are seen", seen, len(asked))
		}
		list, err := elsewhere.Mail.List(store.AfterHint(ctx), "alpha", "bob")
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range list {
			if m.ID != asked[i] || m.Read != (i < 50) {
				t.Fatalf("message %d: %+v", i, m)
			}
		}
		seen = len(list)
	}
	if stop(); questions.Load() > 0 {
		t.Errorf("%d questions were asked", questions.Load())
	}
}

// TestAClaimIsReadLate: the copies take a claim over what they have, and read it when somebody
// looks at it. Then it is what the claimer was told.
func TestAClaimIsReadLate(t *testing.T) {
	_, elsewhere, here := through(t)
	ctx := context20(t)
	for _, task := range []store.Task{
		{Subject: "one", CreatedBy: store.Lead, Metadata: map[string]json.RawMessage{"x": json.RawMessage("1.50")}},
		{Subject: "two", BlockedBy: []string{"1"}},
		{Subject: "three"},
	} {
		if _, err := here.Tasks.Create(ctx, "alpha", task); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := elsewhere.Tasks.List(ctx, "alpha"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "3"} { // the second waits for the first
		claimed, err := here.Tasks.ClaimNext(ctx, "alpha", "builder")
		if err != nil || claimed.ID != id || claimed.Owner != "builder" || claimed.Status != store.InProgress {
			t.Fatalf("claimed %+v, %v", claimed, err)
		}
		for name, s := range map[string]storetest.Stores{"here": here, "elsewhere": elsewhere} {
			if got, err := s.Tasks.Get(ctx, "alpha", id); err != nil || !reflect.DeepEqual(got, claimed) {
				t.Errorf("%s\n%+v, %v, claimed was\n%+v", name, got, err, claimed)
			}
		}
	}
	if _, err := here.Tasks.Update(ctx, "alpha", "1", func(x *store.Task) error { x.Status = store.Completed; return nil }); err != nil {
		t.Fatal(err)
	}
	if claimed, err := elsewhere.Tasks.ClaimNext(ctx, "alpha", "tester"); err != nil || claimed.ID != "2" {
		t.Errorf("claimed %+v, %v", claimed, err)
	}
}

// countQuestions counts what the streams of a base are asked for, until stop.
func countQuestions(t *testing.T, base string) (n *atomic.Int64, stop func()) {
	t.Helper()
	closed := make(chan struct{})
	nc, err := nats.Connect(os.Getenv(urlVar), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	n = new(atomic.Int64)
	if _, err := nc.Subscribe("$JS.API.STREAM.MSG.GET.*", func(m *nats.Msg) {
		if strings.Contains(m.Subject, natstest.Prefix(base)+"-") {
			n.Add(1)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return n, func() {
		if err := nc.Drain(); err != nil {
			t.Error(err)
		}
		<-closed // all that came is counted
	}
}
