package teams

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// answering is a machine that answers so.
type answering func(context.Context) error

func (answering) List(context.Context) ([]api.Machine, error) { return nil, nil }
func (answering) Seen(context.Context) ([]api.Machine, error) { return nil, nil }
func (a answering) Do(ctx context.Context, _ api.MachineCall, _ func(json.RawMessage)) (json.RawMessage, error) {
	return json.RawMessage("[]"), a(ctx)
}

// TestWhoIsDeaf: a machine is given less time only if it said nothing itself, and all of it
// again as soon as it answers anything.
func TestWhoIsDeaf(t *testing.T) {
	t.Parallel()
	says := func(code fault.Code) answering {
		return func(context.Context) error { return fault.New(code, "no") }
	}
	mute := func(context.Context) error {
		return api.Mute{Machine: "hub", Err: fault.New(fault.Timeout, "it is silent")}
	}
	nothing := answering(func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) })
	for _, c := range []struct {
		name        string
		ask         answering
		patience    time.Duration // of the asker
		fresh, then time.Duration // its limit afterwards, if it had answered before, and if not
	}{
		{"an answer", func(context.Context) error { return nil }, time.Minute, observeLimit, observeLimit},
		{"an error of its own", says(fault.CorruptFile), time.Minute, observeLimit, observeLimit},
		{"our engine is away", says(fault.EngineUnavailable), time.Minute, observeLimit, deafLimit},
		{"the asker goes", nothing, time.Millisecond, observeLimit, deafLimit},
		{"something there took too long", says(fault.Timeout), time.Minute, observeLimit, observeLimit},
		{"silence", mute, time.Minute, deafLimit, deafLimit},
		{"nothing in time", nothing, time.Minute, deafLimit, deafLimit},
	} {
		for _, was := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := assemble(&common{machines: c.ask, deaf: &deaf{}})
				want := c.fresh
				if was {
					s.deaf.since, want = map[string]time.Time{"hub": time.Now()}, c.then
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				s.presentElsewhere(ctx, store.Team{Name: "alpha"}, "hub", nil, nil, nil)
				if got := s.deaf.limit("hub"); got != want {
					t.Errorf("%s, deaf before: %t: it is given %s, want %s", c.name, was, got, want)
				}
			})
		}
	}
}

// TestWhoIsMute: a machine that refuses something is not taken for one that does not answer,
// whatever its refusal's code, and up does not go on without its teammate.
func TestWhoIsMute(t *testing.T) {
	t.Parallel()
	for _, code := range []fault.Code{fault.Timeout, fault.Unproven} {
		refusal := fault.New(code, "the rosters name one host for a and for b")
		for err, want := range map[error]string{refusal: "", api.Mute{Machine: "hub", Err: refusal}: "hub"} {
			s := assemble(&common{machines: answering(func(context.Context) error { return err })})
			got := onMachine("hub", s.ask(t.Context(), "hub", verbRestart, order{}, nil, nil))
			if muteOf(got) != want || fault.CodeOf(got) != code {
				t.Errorf("%T %s: mute is %q, the code %s", err, code, muteOf(got), fault.CodeOf(got))
			}
		}
	}
}
