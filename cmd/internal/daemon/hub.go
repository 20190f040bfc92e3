package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/changes"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/history"
)

// queue is how many events a subscriber may lie behind before it is cut.
const queue = 4096

// hub is the one place where events get their numbers: they are written down,
// become the state, and are handed out, as one step.
type hub struct {
	history *history.Store
	bus     *events.Bus[events.Event]
	log     *slog.Logger
	changed func() // told after each change
	queue   int    // events a subscriber may lie behind

	mu     sync.Mutex
	seq    uint64
	states map[string]changes.Team
	kept   map[string]changes.Team // what the history holds of them
	fault  string                  // the last failure to write
	batch  *batch                  // what waits to be written down together; nil: nothing does

	observed map[string]observed // in streams, by the worker's address
}

func newHub(ctx context.Context, h *history.Store, log *slog.Logger, changed func()) (*hub, error) {
	u := &hub{history: h, bus: events.NewBus[events.Event](), log: log, changed: changed, queue: queue, observed: map[string]observed{}}
	var err error
	if u.seq, err = h.Last(ctx); err != nil {
		return nil, err
	}
	saved, err := h.States(ctx, teamState)
	if err != nil {
		return nil, err
	}
	u.states, u.kept = readTeams(saved, log)
	return u, u.recall(ctx)
}

// ingest takes a look at a team, the zero Team if it is gone, and tells what
// happened since the last one. At most one look at a team is taken at a time.
func (u *hub) ingest(ctx context.Context, name string, now changes.Team) []events.Event {
	u.mu.Lock()
	old := u.states[name]
	happened := changes.Between(old, now, time.Now())
	now.Boxes = changes.TrimBoxes(now.Boxes)
	if now.Name == "" {
		delete(u.states, name)
	} else {
		u.states[name] = now
	}
	if len(happened) > 0 {
		u.publish(ctx, batch{events: happened, teams: map[string]changes.Team{name: now}})
	}
	u.mu.Unlock()
	u.changed()
	return happened
}

// Publish numbers events of other sources, writes them down and hands them out.
func (u *hub) Publish(ctx context.Context, list []events.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.publish(ctx, batch{events: list})
}

// batch is events that are written down and handed out together, with the states that they
// lead to.
type batch struct {
	events []events.Event
	teams  map[string]changes.Team
	rows   map[string]json.RawMessage // of other states; nil: removed
}

// together writes down as one what the looks that f takes bring about: many teams that are
// seen for the first time cost one commit.
func (u *hub) together(ctx context.Context, f func()) {
	u.mu.Lock()
	u.batch = &batch{teams: map[string]changes.Team{}, rows: map[string]json.RawMessage{}}
	u.mu.Unlock()
	f()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.flush(ctx)
}

// flush writes down what waits, and lets nothing wait any more. It is called with u.mu held.
func (u *hub) flush(ctx context.Context) {
	b := u.batch
	u.batch = nil
	if b != nil && len(b.events) > 0 {
		u.write(ctx, *b)
	}
}

// publish is called with u.mu held.
func (u *hub) publish(ctx context.Context, b batch) {
	for i := range b.events {
		u.seq++
		b.events[i].Seq = u.seq
		if b.events[i].At.IsZero() {
			b.events[i].At = time.Now()
		}
	}
	if all := u.batch; all != nil {
		all.events = append(all.events, b.events...)
		maps.Copy(all.teams, b.teams)
		maps.Copy(all.rows, b.rows)
		return
	}
	u.write(ctx, b)
}

// write is called with u.mu held. If the history cannot be written, those who listen are
// told all the same.
func (u *hub) write(ctx context.Context, b batch) {
	rows := map[string]json.RawMessage{}
	maps.Copy(rows, b.rows)
	for name, now := range b.teams {
		maps.Copy(rows, changedRows(name, u.kept[name], now))
	}
	u.fault = ""
	if err := u.history.Add(context.WithoutCancel(ctx), b.events, rows); err != nil {
		u.fault = err.Error()
		u.log.Error("the history cannot be written", "last", u.seq, "events", len(b.events), "error", err)
	} else {
		maps.Copy(u.kept, b.teams)
		maps.DeleteFunc(u.kept, func(_ string, t changes.Team) bool { return t.Name == "" })
	}
	for _, e := range b.events {
		u.bus.Publish(e)
	}
}

// last returns what is known of a team.
func (u *hub) last(name string) changes.Team {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.states[name]
}

// names lists the teams that are known: from their files, or from what was seen in the
// streams of their workers.
func (u *hub) names() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	known := map[string]bool{}
	for name := range u.states {
		known[name] = true
	}
	for _, o := range u.observed {
		known[o.Team] = true
	}
	return slices.Sorted(maps.Keys(known))
}

// subscribe is the one atomic step: the state of now, its number, and a
// subscription to all that comes after it.
func (u *hub) subscribe(team string) (api.Subscribed, *events.Subscription[events.Event]) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.flush(context.Background()) // what the answer holds is not told again, and what follows at once
	out := api.Subscribed{Seq: u.seq, Teams: []api.Snapshot{}, Observed: u.observations(team)}
	for _, name := range slices.Sorted(maps.Keys(u.states)) {
		if t := u.states[name]; team == "" || team == name {
			out.Teams = append(out.Teams, api.Snapshot{Name: name, Description: t.Description, Members: t.Members, Tasks: t.Tasks})
		}
	}
	return out, u.bus.Subscribe(u.queue)
}

// count says how much there is.
func (u *hub) count(s *api.DaemonStatus) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s.Seq, s.Teams, s.LastError = u.seq, len(u.states), u.fault
	for _, t := range u.states {
		s.Members += len(t.Members)
		s.Tasks += len(t.Tasks)
		for _, m := range t.Members {
			if lives(m) {
				s.Live++
			}
		}
		for _, box := range t.Boxes {
			s.Mail += len(box)
		}
	}
}

// lives tells a teammate that keeps a daemon up: one that runs, as far as is
// known. A foreign one of which nothing is known does not.
func lives(m api.Member) bool {
	return m.Live() && (m.State != api.StateUnknown || m.Kind != "")
}
