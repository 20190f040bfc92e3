package jetstream_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// TestClusterOfThree: a team on an engine of three nodes, seen from three machines.
func TestClusterOfThree(t *testing.T) {
	need(t)
	t.Parallel()
	nodes, err := natstest.Cluster()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range nodes {
		t.Cleanup(s.Stop)
	}
	urls, prefix := natstest.URLs(nodes), natstest.Prefix(t.Name())
	var machines []storetest.Stores
	for range 3 {
		s, err := openAt(urls, prefix)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		machines = append(machines, s)
	}
	ctx := context20(t)
	if err := machines[0].Roster.Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "builder"}}}); err != nil {
		t.Fatal(err)
	}
	streams := []string{"KV_" + prefix + "-state", "KV_" + prefix + "-machines", prefix + "-mail"}
	for _, name := range streams {
		if info := streamInfo(t, urls, name); info.Config.Replicas != 3 {
			t.Errorf("%s has %d replicas", name, info.Config.Replicas)
		}
	}
	t.Run("claimers meet", func(t *testing.T) { claimersMeet(t, machines) })
	t.Run("a node is killed", func(t *testing.T) { nodeKilled(t, nodes, machines, streams) })
	t.Run("a machine is cut off", func(t *testing.T) { cutOff(t, nodes, prefix, machines[0]) })
}

// streamInfo asks for what the engine says of a stream.
func streamInfo(t *testing.T, urls, name string) *natsjs.StreamInfo {
	t.Helper()
	s, err := bareConnection(t, urls).Stream(context20(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo()
}

// claimersMeet: of those who want the same at the same moment one gets it, and the others
// are told so.
func claimersMeet(t *testing.T, machines []storetest.Stores) {
	ctx := context20(t)
	const tasks, claimers = 20, 6
	for range tasks {
		if _, err := machines[0].Tasks.Create(ctx, "alpha", store.Task{Subject: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	var claimed sync.Map
	var wg sync.WaitGroup
	for i := range claimers {
		wg.Go(func() {
			for {
				task, err := machines[i%len(machines)].Tasks.ClaimNext(ctx, "alpha", fmt.Sprint("w", i))
				if fault.CodeOf(err) == fault.NoTaskReady {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				if _, twice := claimed.LoadOrStore(task.ID, i); twice {
					t.Errorf("task %s is claimed twice", task.ID)
				}
			}
		})
	}
	wg.Wait()
	if n := length(&claimed); n != tasks {
		t.Errorf("%d tasks are claimed, want %d", n, tasks)
	}
}

func length(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

// nodeKilled kills the node that leads the teams' stream while three machines work. No
// verb fails, each task is claimed once, and each message arrives once.
func nodeKilled(t *testing.T, nodes []*natstest.Server, machines []storetest.Stores, streams []string) {
	ctx := context20(t)
	var enough atomic.Bool
	var claimed sync.Map
	var sent [3]int
	var slowest [3]time.Duration
	var rounds atomic.Int64
	var wg sync.WaitGroup
	for i, s := range machines {
		who := fmt.Sprint("m", i)
		wg.Go(func() {
			for !enough.Load() {
				began := time.Now()
				if err := oneRound(ctx, s, who, sent[i], &claimed); err != nil {
					t.Errorf("machine %d: %v", i, err)
					return
				}
				sent[i]++
				slowest[i] = max(slowest[i], time.Since(began))
				rounds.Add(1)
			}
		})
	}
	more := func(n int64) {
		for due := rounds.Load() + n; rounds.Load() < due && ctx.Err() == nil && !t.Failed(); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	more(9)
	leads := streamInfo(t, natstest.URLs(nodes), streams[0]).Cluster.Leader
	for i, s := range nodes {
		if leads == fmt.Sprint("n", i+1) {
			s.Kill()
			more(9)
			if err := s.Restart(); err != nil {
				t.Error(err)
			}
		}
	}
	more(9)
	enough.Store(true)
	wg.Wait()
	all := sent[0] + sent[1] + sent[2]
	t.Logf("%d rounds, the slowest took %v", all, max(slowest[0], slowest[1], slowest[2]).Round(time.Millisecond))
	box, err := machines[0].Mail.List(ctx, "alpha", "builder")
	if err != nil || len(box) != all {
		t.Errorf("%d messages, %v; want %d", len(box), err, all)
	}
	next := map[string]int{}
	for _, m := range box {
		if m.Text != fmt.Sprint(next[m.From]) {
			t.Errorf("from %s came %s, want %d", m.From, m.Text, next[m.From])
		}
		next[m.From]++
	}
	if n := length(&claimed); n != all {
		t.Errorf("%d tasks are claimed, want %d", n, all)
	}
}

// oneRound does each kind of verb once.
func oneRound(ctx context.Context, s storetest.Stores, who string, n int, claimed *sync.Map) error {
	task, err := s.Tasks.Create(ctx, "alpha", store.Task{Subject: who})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if task, err = s.Tasks.ClaimNext(ctx, "alpha", who); err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	if _, twice := claimed.LoadOrStore(task.ID, who); twice {
		return fmt.Errorf("task %s is claimed twice", task.ID)
	}
	if _, err := s.Mail.Put(ctx, "alpha", "builder", store.Message{From: who, Text: fmt.Sprint(n)}); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	if _, err := s.Mail.List(ctx, "alpha", "builder"); err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	if err := s.Roster.Update(ctx, "alpha", func(x *store.Team) error { x.Description = who + fmt.Sprint(n); return nil }); err != nil {
		return fmt.Errorf("set: %w", err)
	}
	if _, _, err := s.Tasks.List(ctx, "alpha"); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	return nil
}

// cutOff cuts one machine off in silence: it is told soon, and what it does then fails at
// once and does nothing. The others go on. When the way is mended all see the same.
func cutOff(t *testing.T, nodes []*natstest.Server, prefix string, other storetest.Stores) {
	ctx := context20(t)
	var ways []*natstest.Relay
	var urls []string
	for _, s := range nodes {
		w, err := natstest.NewRelay(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		ways, urls = append(ways, w), append(urls, w.URL())
	}
	far, err := openAt(strings.Join(urls, ","), prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	task, err := far.Tasks.Create(ctx, "alpha", store.Task{Subject: "for one half"})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		w.Cut()
	}
	claim := func() error { _, err := far.Tasks.Claim(ctx, "alpha", task.ID, "far"); return err }
	if err := claim(); fault.CodeOf(err) != fault.EngineUnavailable {
		t.Errorf("a claim while it is cut off: %v", err)
	}
	quick := false // at least one try has its turn at the CPU
	for deadline := time.Now().Add(time.Minute); !quick && time.Now().Before(deadline); {
		began := time.Now()
		if err := claim(); fault.CodeOf(err) != fault.EngineUnavailable || fault.ExitOf(err) != fault.ExitBackend {
			t.Fatalf("a claim while it is cut off: %v", err)
		}
		quick = time.Since(began) < time.Second
	}
	if !quick {
		t.Error("a claim does not fail at once")
	}
	if got, err := other.Tasks.Get(ctx, "alpha", task.ID); err != nil || got.Owner != "" {
		t.Errorf("seen by the other half: %+v, %v", got, err)
	}
	if _, err := other.Tasks.Claim(ctx, "alpha", task.ID, "near"); err != nil {
		t.Error(err)
	}
	for _, w := range ways {
		w.Mend()
	}
	for deadline := time.Now().Add(time.Minute); fault.CodeOf(claim()) != fault.TaskClaimed; {
		if time.Now().After(deadline) {
			t.Fatalf("after it was mended: %v", claim())
		}
	}
}

// TestClocksThatDiffer: what one machine writes is read by the clock of another, whatever
// its own says.
func TestClocksThatDiffer(t *testing.T) {
	need(t)
	prefix := natstest.Prefix(t.TempDir())
	direct, err := openAt(os.Getenv(urlVar), prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	ctx := context20(t)
	if err := direct.Roster.Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "builder"}}}); err != nil {
		t.Fatal(err)
	}
	offs := []time.Duration{0, 7 * time.Minute, -11 * time.Minute}
	machine := func(off time.Duration) *jetstream.Engine {
		e, err := jetstream.Open(jetstream.Options{URL: os.Getenv(urlVar), Prefix: prefix, Clock: func() time.Time { return time.Now().Add(off) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	began := time.Now()
	for i, off := range offs {
		if _, err := machine(off).Mail().Put(ctx, "alpha", "builder", store.Message{From: "a", Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, off := range offs {
		box, err := machine(off).Mail().List(ctx, "alpha", "builder")
		if err != nil || len(box) != len(offs) {
			t.Fatalf("%d messages, %v", len(box), err)
		}
		from, to := began.Add(off-time.Minute), time.Now().Add(off+time.Minute)
		for i, m := range box {
			if m.Timestamp.Before(from) || m.Timestamp.After(to) || m.Text != fmt.Sprint(i) {
				t.Errorf("on a machine that is %v ahead message %d, of one that is %v ahead, is of %v", off, i, offs[i], m.Timestamp)
			}
		}
	}
}
