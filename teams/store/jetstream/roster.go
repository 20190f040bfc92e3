package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

type roster struct{ e *Engine }

// Roster returns the rosters.
func (e *Engine) Roster() store.Roster { return roster{e} }

// rosters is the copy of all rosters.
type rosters struct {
	*mirror
	teams map[string]*entry // by name, also those that were deleted
}

func (e *Engine) rosters(ctx context.Context) (*rosters, error) {
	return copyOf[*rosters](ctx, e, "rosters", func() *mirror {
		r := &rosters{teams: map[string]*entry{}}
		r.mirror = &mirror{stream: e.state(), subjects: []string{e.key("team", "*")}, of: r, empty: func() { clear(r.teams) }, take: func(subject string, x *entry) {
			name := last(subject)
			if old := r.teams[name]; old == nil || old.rev < x.rev {
				r.teams[name] = x
			}
		}}
		return r.mirror
	})
}

// last is the last element of a subject.
func last(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// get returns the entry of a team that exists. fresh: as it is now, and not only as far
// as the copy has come.
func (e *Engine) get(ctx context.Context, team string, fresh bool) (*entry, error) {
	if err := store.CheckTeam(team); err != nil {
		return nil, err
	}
	if store.CheckNewTeam(team) != nil { // nobody could have made it here
		return nil, store.NoTeam(team)
	}
	r, err := e.rosters(ctx)
	if err != nil {
		return nil, err
	}
	for ; ; fresh = true {
		if fresh {
			if err := r.refresh(ctx); err != nil {
				return nil, err
			}
		}
		r.mu.Lock()
		x := r.teams[team]
		r.mu.Unlock()
		switch {
		case x != nil && !x.deleted:
			return x, nil
		case fresh:
			return nil, store.NoTeam(team)
		}
	}
}

// Create makes a team.
func (r roster) Create(ctx context.Context, t store.Team) error {
	if err := store.CheckCreate(t); err != nil {
		return err
	}
	all, err := r.e.rosters(ctx)
	if err != nil {
		return err
	}
	if err := all.refresh(ctx); err != nil {
		return err
	}
	all.mu.Lock()
	old := all.teams[t.Name]
	all.mu.Unlock()
	if old != nil && !old.deleted {
		return store.TeamExists(t.Name)
	}
	w := over(old)
	w.subject, w.value, w.team = r.e.key("team", t.Name), document.NewTeam(t), uuid.NewString()
	x, err := r.e.put(ctx, w)
	if errors.Is(err, errConflict) {
		return store.TeamExists(t.Name)
	}
	if err == nil {
		all.took(w.subject, x)
	}
	return err
}

// Get reads one roster.
func (r roster) Get(ctx context.Context, team string) (store.Team, error) {
	x, err := r.e.get(ctx, team, true)
	if err != nil {
		return store.Team{}, err
	}
	opened, err := r.open(team, x)
	if err != nil {
		return store.Team{}, err
	}
	return r.seen(opened), nil
}

func (r roster) open(team string, x *entry) (*document.Team, error) {
	opened, err := document.OpenTeam(team, x.value)
	if syntax := (*rawjson.SyntaxError)(nil); errors.As(err, &syntax) {
		err = fault.New(fault.CorruptFile, "%s is damaged %w", r.path(team), err).WithHint("its bytes are kept; nats kv get %s team.%s shows them", r.e.bucket(), team)
	}
	return opened, err
}

func (r roster) path(team string) string { return r.e.url + "/" + r.e.bucket() + "/team." + team }

func (r roster) seen(opened *document.Team) store.Team {
	t := opened.Read()
	t.Path, t.Engine = r.path(t.Name), r.e.url
	return t
}

// List lists the teams.
func (r roster) List(ctx context.Context) ([]string, error) {
	all, err := r.e.rosters(ctx)
	if err != nil {
		return nil, err
	}
	if err := all.refresh(ctx); err != nil {
		return nil, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	var names []string
	for name, x := range all.teams {
		if !x.deleted {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Update changes one roster.
func (r roster) Update(ctx context.Context, team string, change func(*store.Team) error) error {
	return r.e.contend(ctx, "change team "+team, func() error {
		x, err := r.e.get(ctx, team, true)
		if err != nil {
			return err
		}
		opened, err := r.open(team, x)
		if err != nil {
			return err
		}
		changed, err := opened.Edit(func(t *store.Team) error {
			t.Path, t.Engine = r.path(team), r.e.url
			return change(t)
		})
		if err != nil || !changed {
			return err
		}
		w := over(x)
		w.subject, w.value, w.team = r.e.key("team", team), opened.Bytes(), x.team
		return r.put(ctx, w)
	})
}

func (r roster) put(ctx context.Context, w write) error {
	x, err := r.e.put(ctx, w)
	if err != nil {
		return err
	}
	all, err := r.e.rosters(ctx)
	if err == nil {
		all.took(w.subject, x)
	}
	return nil // it is written
}

// contend does something again until nobody writes in between.
func (e *Engine) contend(ctx context.Context, op string, do func() error) error {
	for limit := time.Now().Add(busyLimit); ; {
		err := do()
		if !errors.Is(err, errConflict) {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", op, context.Cause(ctx))
		}
		if time.Now().After(limit) {
			return fault.New(fault.LockTimeout, "%s: others have written all the time for %s", op, busyLimit).WithHint("try again")
		}
	}
}

// Delete removes a team. Its roster goes first: from then on there is no such team.
func (r roster) Delete(ctx context.Context, team string) error {
	var id string
	err := r.e.contend(ctx, "delete team "+team, func() error {
		x, err := r.e.get(ctx, team, true)
		if err != nil {
			return err
		}
		id = x.team
		w := over(x)
		w.subject, w.deleted = r.e.key("team", team), true
		return r.put(ctx, w)
	})
	if err != nil {
		return err
	}
	return r.e.remove(context.WithoutCancel(ctx), id)
}

// remove removes what belongs to a team that is no more.
func (e *Engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, busyLimit)
	defer cancel()
	err := e.purge(ctx, e.state(), e.key("in", id, ">"), 0)
	for _, kind := range []string{"mail", "part", "archive"} {
		err = errors.Join(err, e.purge(ctx, e.mail(), e.subject(kind, id, ">"), 0))
	}
	return err
}

// Remains lists what belongs to teams that are no more.
func (r roster) Remains(ctx context.Context) ([]store.Remain, error) {
	ids := map[string]bool{}
	for stream, subject := range map[string]string{r.e.state(): r.e.key("in", ">"), r.e.mail(): r.e.subject("*", ">")} {
		s, err := r.e.js.Stream(ctx, stream)
		if err != nil {
			return nil, r.e.explain(ctx, "list what is left on the engine", err)
		}
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(subject))
		if err != nil {
			return nil, r.e.explain(ctx, "list what is left on the engine", err)
		}
		for found := range info.State.Subjects {
			ids[strings.Split(strings.TrimPrefix(found, "$KV."+r.e.bucket()+"."), ".")[idAt(stream, r.e)]] = true
		}
	}
	all, err := r.e.rosters(ctx) // after those: a team's roster is older than all it has
	if err != nil {
		return nil, err
	}
	if err := all.refresh(ctx); err != nil {
		return nil, err
	}
	all.mu.Lock()
	for _, x := range all.teams {
		delete(ids, x.team)
	}
	all.mu.Unlock()
	var out []store.Remain
	for id := range ids {
		out = append(out, store.Remain{What: r.e.url + "/" + r.e.bucket() + "/in." + id, Why: "the removal of its team was cut off",
			Remove: func(ctx context.Context) error { return r.e.remove(ctx, id) }})
	}
	return out, nil
}

// idAt says which element of a subject is the team's id, after the bucket's part.
func idAt(stream string, e *Engine) int {
	if stream == e.state() {
		return 1 // in.ID.…
	}
	return strings.Count(e.prefix, ".") + 2 // PREFIX.mail.ID.…
}

// Watch hints at changes of one roster, or of all.
func (r roster) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	all, err := r.e.rosters(ctx)
	if err != nil {
		return nil, err
	}
	if team == "" {
		return all.watch(ctx, nil), nil
	}
	subject := r.e.key("team", team)
	return all.watch(ctx, func(s string) bool { return s == subject }), nil
}
