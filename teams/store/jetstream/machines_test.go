package jetstream_test

import (
	"os"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// TestSeenByTheOwnClock: a machine whose clock is wrong sees another one when it was there by its own
// clock, and knows how far that is off.
func TestSeenByTheOwnClock(t *testing.T) {
	need(t)
	t.Parallel()
	for _, off := range []time.Duration{72 * time.Hour, -40 * time.Minute, 0} {
		clock := func() time.Time { return time.Now().Add(off) }
		o := jetstream.Options{URL: os.Getenv(urlVar), Prefix: natstest.Prefix(t.TempDir()), Clock: clock}
		if _, err := jetstream.Join(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		e, err := jetstream.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.Beat(t.Context(), jetstream.Machine{Name: "hub"}); err != nil {
			t.Fatal(err)
		}
		list, err := e.Machines(t.Context(), jetstream.Machine{Name: "desk"})
		if err != nil || len(list) != 2 || clock().Sub(list[1].Seen).Abs() > time.Minute {
			t.Errorf("%s off: it is %s, and hub was seen %+v, %v", off, clock(), list, err)
		}
		if got := e.Ahead(t.Context()); (got - off).Abs() > time.Minute {
			t.Errorf("%s off: it takes itself for %s", off, got)
		}
	}
}

// TestNobodyIsSilentWhileTheEngineStandsStill: a machine that was not heard itself blames no
// other for its silence, though its connection stayed. One that was heard all the time does.
func TestNobodyIsSilentWhileTheEngineStandsStill(t *testing.T) {
	need(t)
	t.Parallel()
	const silence = 500 * time.Millisecond
	ctx, prefix := t.Context(), natstest.Prefix(t.TempDir())
	engines := map[string]*jetstream.Engine{}
	for _, name := range []string{"desk", "hub", "judge"} {
		o := jetstream.Options{URL: os.Getenv(urlVar), Machine: name, Prefix: prefix, Silence: silence}
		if _, err := jetstream.Join(ctx, o); err != nil {
			t.Fatal(err)
		}
		e, err := jetstream.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		engines[name] = e
		if err := e.Beat(ctx, jetstream.Machine{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	seen := func(by, of string) jetstream.SeenMachine {
		list, err := engines[by].Machines(ctx, jetstream.Machine{Name: by})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if m.Name == of {
				return m
			}
		}
		t.Fatalf("%s does not see %s: %+v", by, of, list)
		return jetstream.SeenMachine{}
	}
	for began := time.Now(); seen("judge", "hub").Missed < 2*silence; {
		if time.Since(began) > time.Minute {
			t.Fatalf("hub is not silent: %+v", seen("judge", "hub"))
		}
		time.Sleep(50 * time.Millisecond)
	}
	if m := seen("desk", "hub"); m.Silent < 2*silence || m.Missed != 0 {
		t.Errorf("desk, which was not heard either, sees %+v", m)
	}
}
