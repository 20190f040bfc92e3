package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// The load of BenchmarkClaims.
const (
	benchClaimers = 8
	benchMachines = 3
	benchTasks    = 2000
	benchRounds   = 5
)

// BenchmarkClaims lets 8 claimers on 3 connections claim 2,000 tasks, each once. By turns
// with it 8 clients on 3 connections make as many bare updates of a bucket by
// compare-and-set, with values of the same size: once alone, and once while each
// connection follows the bucket and keeps what it is sent in a map. Without that a machine
// does not know which task is free. All of it is done on one node, and on a cluster of three.
//
// What the floors leave out: which entry to update (each client is told one that nobody
// else wants), what is in it, ids by which a write whose answer was lost is known again, and
// blockers.
func BenchmarkClaims(b *testing.B) {
	need(b)
	b.Run("node", func(b *testing.B) { claimsOn(b, engineAt{url: os.Getenv(urlVar), replicas: 1}) })
	b.Run("cluster", func(b *testing.B) {
		nodes, err := natstest.Cluster()
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range nodes {
			b.Cleanup(s.Stop)
		}
		claimsOn(b, engineAt{url: natstest.URLs(nodes), replicas: len(nodes)})
	})
}

// engineAt is where an engine answers, and how many copies of each entry it keeps.
type engineAt struct {
	url      string
	replicas int
}

func claimsOn(b *testing.B, e engineAt) {
	var bare, followed, claims []float64
	for b.Loop() {
		for range benchRounds {
			bare = append(bare, e.bareUpdates(b, false))
			followed = append(followed, e.bareUpdates(b, true))
			claims = append(claims, e.manyClaims(b))
		}
	}
	b.ReportMetric(0, "ns/op") // it would count the tasks that are made, too
	b.ReportMetric(middle(bare), "bare/s")
	b.ReportMetric(middle(followed), "followed/s")
	b.ReportMetric(middle(claims), "claims/s")
	b.ReportMetric(middle(claims)/middle(bare), "of-bare")
	b.ReportMetric(middle(claims)/middle(followed), "of-followed")
}

func middle(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// atOnce lets the clients work n pieces, and returns how many a second.
func atOnce(b *testing.B, n int, work func(client, piece int) error) float64 {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for client := range benchClaimers {
		wg.Go(func() {
			for {
				piece := int(next.Add(1)) - 1
				if piece >= n {
					return
				}
				if err := work(client, piece); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// bareConnection is one to the engine with nothing of ours.
func bareConnection(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// taskSize is how long the entry of a claimed task is.
func taskSize(b *testing.B) int {
	b.Helper()
	task, err := store.CheckNew(store.Task{Subject: "task 1000", Owner: "w1", Status: store.InProgress}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	task.ID = "1000"
	return len(document.NewTask(&task).Raw())
}

// bareBucket makes the bucket for bare updates. A cluster that has just begun may not yet be able to.
func bareBucket(b *testing.B, js jetstream.JetStream, replicas int) jetstream.KeyValue {
	b.Helper()
	for end := time.Now().Add(time.Minute); ; {
		kv, err := js.CreateOrUpdateKeyValue(context.Background(), jetstream.KeyValueConfig{Bucket: "bare", History: 1, Storage: jetstream.FileStorage, Replicas: replicas})
		if err == nil {
			return kv
		}
		if time.Now().After(end) {
			b.Fatal(err)
		}
	}
}

func (e engineAt) bareUpdates(b *testing.B, followed bool) float64 {
	ctx := context.Background()
	var buckets []jetstream.KeyValue
	for range benchMachines {
		buckets = append(buckets, bareBucket(b, bareConnection(b, e.url), e.replicas))
	}
	js := bareConnection(b, e.url)
	defer func() { _ = js.DeleteKeyValue(ctx, "bare") }()
	value := make([]byte, taskSize(b))
	revisions := make([]uint64, benchTasks)
	for i := range revisions {
		var err error
		if revisions[i], err = buckets[0].Put(ctx, fmt.Sprint(i), value); err != nil {
			b.Fatal(err)
		}
	}
	if followed {
		for _, kv := range buckets {
			defer follow(b, kv)()
		}
	}
	return atOnce(b, benchTasks, func(client, piece int) error {
		_, err := buckets[client%benchMachines].Update(ctx, fmt.Sprint(piece), value, revisions[piece])
		return err
	})
}

// follow keeps what a bucket holds in a map, from now on.
func follow(b *testing.B, kv jetstream.KeyValue) (stop func()) {
	b.Helper()
	w, err := kv.WatchAll(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	begun, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		entries := map[string]jetstream.KeyValueEntry{}
		for x := range w.Updates() {
			if x == nil { // all that was there
				close(begun)
				continue
			}
			entries[x.Key()] = x
		}
	}()
	<-begun
	return func() {
		_ = w.Stop()
		<-ended
	}
}

// newTeam opens the stores of as many machines, and makes the team alpha.
func newTeam(b testing.TB, url, base string, machines int) []storetest.Stores {
	b.Helper()
	var all []storetest.Stores
	for range machines {
		s, err := openAt(url, natstest.Prefix(base))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		all = append(all, s)
	}
	if err := all[0].Roster.Create(context.Background(), store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}}}); err != nil {
		b.Fatal(err)
	}
	return all
}

func (e engineAt) manyClaims(b *testing.B) float64 {
	ctx, machines := context.Background(), newTeam(b, e.url, b.TempDir(), benchMachines)
	defer func() { _ = machines[0].Roster.Delete(ctx, "alpha") }()
	for i := range benchTasks {
		if _, err := machines[0].Tasks.Create(ctx, "alpha", store.Task{Subject: fmt.Sprint("task ", i)}); err != nil {
			b.Fatal(err)
		}
	}
	for _, s := range machines {
		if _, _, err := s.Tasks.List(ctx, "alpha"); err != nil {
			b.Fatal(err)
		}
	}
	var claimed sync.Map
	rate := atOnce(b, benchTasks, func(client, _ int) error {
		task, err := machines[client%benchMachines].Tasks.ClaimNext(ctx, "alpha", fmt.Sprint("w", client))
		if err != nil {
			return err
		}
		if _, twice := claimed.LoadOrStore(task.ID, true); twice {
			return errors.New("task " + task.ID + " is claimed twice")
		}
		return nil
	})
	if _, err := machines[0].Tasks.ClaimNext(ctx, "alpha", "w"); fault.CodeOf(err) != fault.NoTaskReady {
		b.Errorf("after all were claimed: %v", err)
	}
	return rate
}

// boxSize is how many messages a box has at most, and benchText what is in one.
const (
	boxSize   = 50
	benchText = "Please read the code of the parser, and tell me what you find."
)

// BenchmarkMailShown measures from the call that sends a message until a reader on another
// connection, which watches its box, has it. By turns with it a bare message is published
// into a stream on disk, and received by the consumer of another connection.
//
// What the floor leaves out: the mailbox, what was read of it, that nothing that was written
// before the reader looked is missing, and that the team still exists.
func BenchmarkMailShown(b *testing.B) {
	need(b)
	bare, shown := bareMail(b), shownMail(b)
	var floors, products []float64
	for b.Loop() {
		for range boxSize * 6 {
			floors, products = append(floors, bare().Seconds()*1e3), append(products, shown().Seconds()*1e3)
		}
	}
	b.ReportMetric(0, "ns/op") // it would count what lies between the two
	b.ReportMetric(middle(floors), "floor-ms")
	b.ReportMetric(middle(products), "product-ms")
	b.ReportMetric(middle(products)/middle(floors), "ratio")
}

// bareMail publishes a message and tells how long it took until it was received.
func bareMail(b *testing.B) func() time.Duration {
	ctx, from, to := b.Context(), bareConnection(b, os.Getenv(urlVar)), bareConnection(b, os.Getenv(urlVar))
	_, err := from.CreateStream(ctx, jetstream.StreamConfig{Name: "bare-mail", Subjects: []string{"bare.mail"}, Storage: jetstream.FileStorage})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = from.DeleteStream(context.Background(), "bare-mail") })
	consumer, err := to.OrderedConsumer(ctx, "bare-mail", jetstream.OrderedConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	arrived := make(chan time.Time)
	receiving, err := consumer.Consume(func(jetstream.Msg) { arrived <- time.Now() })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(receiving.Stop)
	letter := make([]byte, 150+len(benchText))
	return func() time.Duration {
		began := time.Now()
		if _, err := from.Publish(ctx, "bare.mail", letter); err != nil {
			b.Fatal(err)
		}
		return (<-arrived).Sub(began)
	}
}

// shownMail sends a message and tells how long it took until its reader had it.
func shownMail(b *testing.B) func() time.Duration {
	ctx, machines := b.Context(), newTeam(b, os.Getenv(urlVar), b.TempDir(), 2)
	from, to := machines[0].Mail, machines[1].Mail
	hints, err := to.Watch(ctx, "alpha", "bob")
	if err != nil {
		b.Fatal(err)
	}
	seen := storetest.Reader(hints, func() ([]store.Message, error) { return to.List(store.AfterHint(ctx), "alpha", "bob") })
	sent := 0
	return func() time.Duration {
		began := time.Now()
		m, err := from.Put(ctx, "alpha", "bob", store.Message{From: store.Lead, Text: benchText})
		if err != nil {
			b.Fatal(err)
		}
		at := seen(m.ID)
		if sent++; sent%boxSize == 0 { // outside of the clock, as readers do
			if _, err := to.Archive(ctx, "alpha", "bob"); err != nil {
				b.Fatal(err)
			}
		}
		return at.Sub(began)
	}
}
