package jetstream

import (
	"context"
	"strings"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// teamCopy is the copy of the tasks of a team and of what was read of its mail.
type teamCopy struct {
	*mirror
	name, id string
	under    string // what the subjects of its entries begin with
	board    board
	boxes    map[string]*entry // by token
}

// team returns the copy of a team's state. fresh: of the team that has the name now, with
// all that was written before.
func (e *Engine) team(ctx context.Context, name string, fresh bool) (*teamCopy, error) {
	if fresh {
		return e.current(ctx, name, false, nil)
	}
	x, err := e.get(ctx, name, false)
	if err != nil {
		return nil, err
	}
	id := x.team
	return copyOf[*teamCopy](ctx, e, "state "+id, func() *mirror {
		t := &teamCopy{name: name, id: id, under: e.key("in", id, "")}
		t.empty()
		t.mirror = &mirror{stream: e.state(), subjects: []string{t.under + ">"}, of: t, empty: t.empty, take: t.taken}
		return t.mirror
	})
}

// current returns the copy of the team that has the name now, with all that was written
// before. also, if not nil, names another copy of the team that must have come as far.
// They are asked for at once: that the team was another one meanwhile shows afterwards.
// hinted: as far as they have come is enough, if they follow.
func (e *Engine) current(ctx context.Context, name string, hinted bool, also func(*teamCopy) (*mirror, error)) (*teamCopy, error) {
	for {
		t, err := e.team(ctx, name, false)
		if err != nil {
			return nil, err
		}
		all, err := e.rosters(ctx)
		if err != nil {
			return nil, err
		}
		copies := []*mirror{all.mirror, t.mirror}
		if also != nil {
			m, err := also(t)
			if err != nil {
				return nil, err
			}
			copies = append(copies, m)
		}
		if hinted && begun(copies...) {
			return t, nil
		}
		if err := refreshed(ctx, copies...); err != nil {
			return nil, err
		}
		switch now, err := e.get(ctx, name, false); {
		case err != nil:
			return nil, err
		case now.team == t.id:
			return t, nil
		}
	}
}

// empty forgets what has come.
func (t *teamCopy) empty() {
	t.board, t.boxes = board{team: t.name, tasks: map[string]*node{}}, map[string]*entry{}
}

// taken takes in an entry: in.ID.task.N or in.ID.box.TOKEN.
func (t *teamCopy) taken(subject string, x *entry) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(subject, t.under), ".")
	switch kind {
	case "task":
		t.board.take(name, x)
	case "box":
		if old := t.boxes[name]; old == nil || old.rev < x.rev {
			t.boxes[name] = x
		}
	}
}

// still tells whether the team is there after something new was written for it: what was
// written for a team that was deleted in this moment is taken back.
func (e *Engine) still(ctx context.Context, t *teamCopy) error {
	now, err := e.rosterNow(ctx, t.name)
	if err != nil {
		return err
	}
	if now != nil && !now.deleted && now.team == t.id {
		return nil
	}
	if err := e.remove(context.WithoutCancel(ctx), t.id); err != nil {
		e.log.Warn("what was written for a deleted team is left", "team", t.name, "error", err)
	}
	return store.NoTeam(t.name)
}

// rosterNow returns the entry of a team as it is on the engine, which is sent only if it is
// newer than the copy: that of a large team is long.
func (e *Engine) rosterNow(ctx context.Context, team string) (*entry, error) {
	all, err := e.rosters(ctx)
	if err != nil {
		return nil, err
	}
	all.mu.Lock()
	known := all.teams[team]
	all.mu.Unlock()
	if known == nil {
		return e.last(ctx, e.state(), e.key("team", team))
	}
	newer, err := e.after(ctx, e.state(), e.key("team", team), known.rev)
	if newer == nil {
		newer = known
	}
	return newer, err
}
