package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// observedState begins the name of a state in the history: what was seen of a team
// in a member's stream.
const observedState = "observed/"

// observed is what is known of one stream. Its JSON form is kept between two runs of
// the daemon.
type observed struct {
	api.Observed
	Seq   uint64 `json:"seq"`             // of the last event of the run that was told
	Files string `json:"files,omitempty"` // a team of the stream that has files here, which speak for it
}

// observedNow is what a host has written down, taken apart.
type observedNow struct {
	record panes.ObservedRecord
	events []events.Event
	files  []string // teams among them that have files here
}

// ingestObserved takes what a host has seen in its worker's stream: what was not told yet is
// told, and becomes the state, in one step. The same again changes nothing. A team
// that has files here is told from those alone.
func (u *hub) ingestObserved(ctx context.Context, team, member string, now observedNow) {
	rec := now.record
	u.mu.Lock()
	defer u.mu.Unlock()
	key := observedKey(team, member)
	old := u.observed[key]
	if old.Run == rec.Run && old.Seq >= rec.Seq {
		return
	}
	next := observed{Observed: api.Observed{Team: team, Member: member, Run: rec.Run, Task: rec.Task, State: rec.State}, Seq: rec.Seq}
	told := uint64(0)
	if old.Run == rec.Run {
		told, next.Files = old.Seq, old.Files
	}
	var fresh []events.Event
	for _, e := range now.events {
		if e.Seq <= told {
			continue
		}
		if e.Seq != told+1 {
			u.log.Warn("events of a stream were missed", "team", team, "member", member, "after", told, "before", e.Seq)
		}
		told = e.Seq
		if _, here := u.states[e.Team]; here || slices.Contains(now.files, e.Team) {
			next.Files = e.Team
		}
		if e.Team != next.Files {
			fresh = append(fresh, e)
		}
	}
	u.observed[key] = next
	doc, err := json.Marshal(next)
	if err != nil {
		u.log.Error("keep what was observed", "team", team, "member", member, "error", err)
		return
	}
	u.publish(ctx, batch{events: fresh, rows: map[string]json.RawMessage{observedState + key: doc}})
}

func observedKey(team, member string) string { return team + "/" + member }

// forget drops what was observed of members that left nothing.
func (u *hub) forget(ctx context.Context, team string, left []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, o := range u.observed {
		if o.Team == team && !slices.Contains(left, o.Member) {
			delete(u.observed, key)
			u.publish(ctx, batch{rows: map[string]json.RawMessage{observedState + key: nil}})
		}
	}
}

// observations lists what is observed, of all teams if team is "". u.mu is held.
func (u *hub) observations(team string) []api.Observed {
	out := []api.Observed{}
	for _, key := range slices.Sorted(maps.Keys(u.observed)) {
		if o := u.observed[key]; team == "" || team == o.Team {
			out = append(out, o.Observed)
		}
	}
	return out
}

// recall reads what an earlier daemon has observed.
func (u *hub) recall(ctx context.Context) error {
	saved, err := u.history.States(ctx, observedState)
	if err != nil {
		return err
	}
	for name, doc := range saved {
		var o observed
		if err := json.Unmarshal(doc, &o); err != nil {
			u.log.Warn("what was observed cannot be read; it is seen as new", "state", name, "error", err)
			continue
		}
		u.observed[strings.TrimPrefix(name, observedState)] = o
	}
	return nil
}

// readStreams takes what hosts have seen in the streams of a team's workers.
func (t *teamWatch) readStreams(ctx context.Context) {
	t.reading.Lock()
	defer t.reading.Unlock()
	records := t.stores.Panes.Records()
	members, err := records.ObservedMembers(t.Name)
	if err != nil {
		t.log.Warn("look for what was observed", "team", t.Name, "error", err)
		return
	}
	for _, member := range members {
		rec, err := records.Observed(ctx, t.Name, member)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
				t.log.Warn("read what was observed; what was known stands", "team", t.Name, "member", member, "error", err)
			}
			continue
		}
		t.hub.ingestObserved(ctx, t.Name, member, t.take(ctx, rec))
	}
	t.hub.forget(ctx, t.Name, members)
}

// take takes a record apart. Events that cannot be read are left out.
func (t *teamWatch) take(ctx context.Context, rec panes.ObservedRecord) observedNow {
	now := observedNow{record: rec}
	known := map[string]bool{}
	for _, line := range rec.Events {
		var e events.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.log.Warn("read an event of a stream", "team", t.Name, "error", err)
			continue
		}
		now.events = append(now.events, e)
		if _, seen := known[e.Team]; e.Team != "" && !seen {
			_, err := t.stores.Roster.Get(ctx, e.Team)
			code := fault.CodeOf(err)
			known[e.Team] = code != fault.TeamNotFound && code != fault.InvalidName
		}
	}
	for name, here := range known {
		if here {
			now.files = append(now.files, name)
		}
	}
	return now
}

// observed lists what is observed in streams.
func (d *daemon) observed(ctx context.Context, p api.ObservedParams) ([]api.Observed, error) {
	if err := d.current(ctx); err != nil {
		return nil, err
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	return d.hub.observations(p.Team), nil
}
