package teams

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

func TestTheErrorOfTheMissing(t *testing.T) {
	t.Parallel()
	silent := Missing{Name: "far", Err: fault.New(fault.Timeout, "hub is silent")}
	begun := Missing{Name: "late", Err: fault.New(fault.Unproven, "lab had begun")}
	for _, c := range []struct {
		missing []Missing
		all     int
		code    fault.Code
		want    string
	}{
		{[]Missing{silent}, 1, fault.Timeout, "1 of 1 teammate was not started: far: hub is silent"},
		{[]Missing{silent}, 3, fault.Timeout, "1 of 3 teammates was not started: far: hub is silent"},
		{[]Missing{begun}, 3, fault.Unproven, "1 of 3 teammates was not started, or is not proved to be: late: lab had begun"},
		{[]Missing{begun, silent}, 3, fault.Unproven, "2 of 3 teammates were not started, or are not proved to be: late: lab had begun; far: hub is silent"},
	} {
		if got := fault.Of(MissingError(c.missing, c.all)); got.Code != c.code || got.Message != c.want {
			t.Errorf("%s %q, want %s %q", got.Code, got.Message, c.code, c.want)
		}
	}
	if err := MissingError(nil, 3); err != nil {
		t.Error(err)
	}
}

// reporting is a machine that says how its teammates are doing.
type reporting []observedThere

func (reporting) List(context.Context) ([]api.Machine, error) { return nil, nil }
func (reporting) Seen(context.Context) ([]api.Machine, error) { return nil, nil }
func (l reporting) Do(context.Context, api.MachineCall, func(json.RawMessage)) (json.RawMessage, error) {
	return json.Marshal(l)
}

// TestActiveByTheOwnClock: when a teammate elsewhere did something last is told by the clock of this
// machine, whatever that of the other one says.
func TestActiveByTheOwnClock(t *testing.T) {
	t.Parallel()
	mem := memory.New()
	hub := &store.Bookkeeping{Machine: "hub", Host: "1"}
	team := store.Team{Name: "alpha", Ours: store.Ours{Schema: store.Schema}, Members: []store.Member{{Name: store.Lead}, {Name: "new", Leadlight: hub}, {Name: "older", Leadlight: hub}}}
	if err := mem.Roster().Create(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	ahead := time.Now().Add(72 * time.Hour).Truncate(time.Millisecond)
	machine := reporting{
		{Member: api.Member{Name: "new", State: api.StateActive, LastActivityAt: api.At(ahead)}, ActiveAgo: new(int64(5000))},
		{Member: api.Member{Name: "older", State: api.StateActive, LastActivityAt: api.At(ahead)}},
	}
	s := New(Config{Roster: mem.Roster(), Mail: mem.Mail(), Tasks: mem.Tasks(), Panes: panes.NewManager(panes.Options{}), Machine: "desk", Machines: machine})
	list := s.present(t.Context(), team, team.Members[1:])
	if ago := time.Since(time.Time(*list[0].LastActivityAt)); ago < 4*time.Second || ago > time.Minute {
		t.Errorf("it was active %s ago", ago)
	}
	if at := list[1].LastActivityAt; !time.Time(*at).Equal(time.Time(*api.At(ahead))) {
		t.Errorf("what an older version says became %v", at)
	}
}

// TestWhoCameAfterAll: whoever has joined since, and was seen, is missing no more; its old host,
// or an entry that nobody has seen, proves nothing.
func TestWhoCameAfterAll(t *testing.T) {
	t.Parallel()
	mem, machine := memory.New(), reporting{}
	team := store.Team{Name: "alpha", Ours: store.Ours{Schema: store.Schema}, Members: []store.Member{{Name: store.Lead}}}
	missing := []Missing{{Name: "absent", Machine: "hub"}}
	for _, m := range []struct{ name, was, host, state string }{
		{"came", "", "1", api.StateActive}, {"done", "", "1", api.StateStopped}, {"again", "1", "2", api.StateIdle},
		{"as-before", "1", "1", api.StateStopped}, {"begun", "", "1", api.StateStarting}, {"lost", "", "1", api.StateLost}, {"unseen", "", "1", ""},
	} {
		team.Members = append(team.Members, store.Member{Name: m.name, Leadlight: &store.Bookkeeping{Machine: "hub", Host: m.host}})
		missing = append(missing, Missing{Name: m.name, Machine: "hub", was: m.was})
		if m.state != "" {
			machine = append(machine, observedThere{Member: api.Member{Name: m.name, State: m.state}})
		}
	}
	if err := mem.Roster().Create(t.Context(), team); err != nil {
		t.Fatal(err)
	}
	s := New(Config{Roster: mem.Roster(), Mail: mem.Mail(), Tasks: mem.Tasks(), Panes: panes.NewManager(panes.Options{}), Machine: "desk", Machines: machine})
	var got []string
	for _, m := range s.StillMissing(t.Context(), "alpha", missing) {
		got = append(got, m.Name)
	}
	if want := []string{"absent", "as-before", "begun", "lost", "unseen"}; !slices.Equal(got, want) {
		t.Errorf("missing: %q, want %q", got, want)
	}
}
