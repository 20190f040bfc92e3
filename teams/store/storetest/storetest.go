// Package storetest is the suite that every implementation of the contracts in
// teams/store passes. An implementation's test is a constructor and one call for
// each of TestRoster, TestMail and TestTasks. Stores on disk also pass TestDisk,
// which works with several processes and needs Main in TestMain.
//
// With LEADLIGHT_STORETEST=full in the environment TestDisk runs in its full
// sizes: eight processes for 500 tasks each, 16 senders of 500 messages.
package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Stores is one opened implementation. Close may be nil.
type Stores struct {
	Roster store.Roster
	Mail   store.Mail
	Tasks  store.Tasks
	Close  func() error
}

// Opener opens the stores below a base folder, which may exist. An
// implementation without files makes a new, empty one.
type Opener func(base string) (Stores, error)

func (open Opener) open(t testing.TB) Stores {
	t.Helper()
	return open.at(t, t.TempDir())
}

func (open Opener) at(t testing.TB, base string) Stores {
	t.Helper()
	s, err := open(base)
	if err != nil {
		t.Fatal(err)
	}
	if s.Close != nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	return s
}

// team opens the stores with a team alpha of a lead and two members.
func (open Opener) team(t testing.TB) Stores {
	t.Helper()
	s := open.open(t)
	ok(t, s.Roster.Create(ctx(t), alpha()))
	return s
}

const team = "alpha"

func alpha() store.Team {
	return store.Team{Name: team, Description: "a team", LeadSessionID: "s-1", Members: []store.Member{
		{Name: store.Lead, AgentID: "team-lead@alpha", AgentType: "team-lead", JoinedAt: time.UnixMilli(1790000000000).UTC()},
		{Name: "builder", AgentID: "builder@alpha", Model: "m", Prompt: "Build <it> & \"ship\" it.\nü", Color: "blue", TmuxPaneID: "%5", BackendType: "tmux", Cwd: "/srv"},
		{Name: "研究員", AgentID: "研究員@alpha"},
	}}
}

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a prompt of ten MiB takes six seconds of the processor under the race detector
	t.Cleanup(cancel)
	return c
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must passes a value on, or ends the test.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

func wantCode(t testing.TB, what string, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("%s: error %v (%s), want %s", what, err, fault.CodeOf(err), code)
	}
}

// refused wants a call that returns a value to fail, and returns the error.
func refused(t testing.TB, what string, code fault.Code) func(any, error) error {
	return func(_ any, err error) error {
		t.Helper()
		wantCode(t, what, err, code)
		return err
	}
}

// hint waits for a hint of a watch.
func hint(t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case _, open := <-c:
		if !open {
			t.Fatalf("%s: the watch has ended", what)
		}
	case <-time.After(30 * time.Second): // in a minute the watch looks by itself
		t.Fatalf("%s: no hint", what)
	}
}

// watched wants the first hint at once, and then hints of what write does until done says that it has come.
func watched(t testing.TB, c <-chan struct{}, write func() error, done func() bool) {
	t.Helper()
	hint(t, "first", c)
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() {
		if err := write(); err != nil {
			t.Error(err)
		}
	})
	for !done() {
		hint(t, "change", c)
	}
}

// parallel does something n times at once.
func parallel(t testing.TB, n int, do func(i int) error) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := do(i); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// alike compares what is stored, not how: unknown fields are not compared, nothing
// equals empty, and JSON is compared without its white space.
func alike() cmp.Option {
	unknown := func(p cmp.Path) bool { return p.Last().String() == ".Unknown" }
	compact := func(raw json.RawMessage) string {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return string(raw)
		}
		return b.String()
	}
	return cmp.Options{cmp.FilterPath(unknown, cmp.Ignore()), cmpopts.EquateEmpty(), cmp.Transformer("compact", compact)}
}

// badNames are names that must be refused wherever a team or a member is named.
func badNames() []string {
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'x'
	}
	return []string{"", "   ", "..", ".", "/", "../../tmp/x", "a/../../b", "a/b", `a\b`, ".hidden", "-rf", "nul\x00", "new\nline", string(long), "\xff\xfe"}
}
