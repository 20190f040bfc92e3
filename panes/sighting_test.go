package panes

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes/state"
)

// managed is a manager with folders of its own.
func managed(t *testing.T, o Options) *Manager {
	t.Helper()
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	o.Base, o.Dir, o.Runtime = dir.Path(), dir, t.TempDir()
	return NewManager(o)
}

// TestXH04_NothingOfItIsHere: a host that a roster names and of which nothing was ever here,
// as where the rosters were brought from another place, is unknown. It is lost where its
// start was begun here.
func TestXH04_NothingOfItIsHere(t *testing.T) {
	m := managed(t, Options{})
	look := func(want string) {
		t.Helper()
		for _, ago := range []time.Duration{time.Hour, -time.Hour} { // or the clock was set back
			if o := m.Observe(t.Context(), "alpha", "bob", uuid.NewString(), time.Now().Add(-ago)); o.State != want {
				t.Errorf("bob, started %s ago, is %s (%s), want %s", ago, o.State, o.Reason, want)
			}
		}
	}
	look(state.Unknown)
	if err := m.Expect("alpha", "bob"); err != nil {
		t.Fatal(err)
	}
	look(state.Lost)
}

// A host that has begun, and has written no record when the verb that started it is killed,
// is waited for: it goes by itself.
func TestAHostThatHasJustBegunIsWaitedFor(t *testing.T) {
	t.Parallel()
	target := Target{Team: "alpha", Agent: "bob", Host: uuid.NewString()}
	noTerminal := fault.New(fault.BackendUnavailable, "no terminal here")
	m := managed(t, Options{
		Choose: func(context.Context) (Choice, error) { return Choice{}, noTerminal },
		Open:   func(string, string) (backend.Backend, error) { return nil, noTerminal },
		Claims: func(context.Context) (Claims, error) {
			return Claims{Owners: map[string][]Owner{target.Host: {{target.Team, target.Agent}}}}, nil
		},
	})
	held, err := lock.Try(m.opt.Dir, HostLock(target.Team, target.Agent), "host")
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	time.AfterFunc(200*time.Millisecond, held.Release)
	if end := m.End(t.Context(), target, time.Second, time.Second); end.Outcome == state.Unproven {
		t.Errorf("it is %s: %s", end.Outcome, end.Reason)
	}
}

// TestWhoLocksAMemberSaysForWhomItWaits: the next verb is told which one has the member.
func TestWhoLocksAMemberSaysForWhomItWaits(t *testing.T) {
	t.Parallel()
	m := managed(t, Options{})
	first, err := m.LockMember(t.Context(), "alpha", "bob", "start a teammate", time.Minute, func(holder string) { t.Errorf("it waits for %s", holder) })
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	second, err := m.LockMember(t.Context(), "alpha", "bob", "stop a teammate", time.Minute, func(holder string) { told = holder; first() })
	if err != nil {
		t.Fatal(err)
	}
	second()
	if !strings.HasSuffix(told, "(start a teammate)") {
		t.Errorf("told of %q", told)
	}
}
