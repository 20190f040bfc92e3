// Package routed is the store of a machine that has joined an engine: each team is either
// here, in files, or on the engine. What is here is found without asking the engine.
package routed

import (
	"context"
	"errors"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// New returns the stores of a machine whose files are here, and which has joined the
// engine of the given address. forget removes what is kept here of a team on the engine
// that was deleted. notice is told when the engine cannot be asked for its
// teams.
func New(here, engine store.Stores, url string, forget func(team string) error, notice func(error)) store.Stores {
	r := route{here, engine, url, forget, notice}
	mail := func(ctx context.Context, team string) (store.Mail, error) { return r.of(ctx, team).Mail, nil }
	return store.Stores{Roster: roster{r}, Mail: store.MailOf(mail), Tasks: tasks{r}}
}

type route struct {
	here, engine store.Stores
	url          string
	forget       func(team string) error
	notice       func(error)
}

// of finds the place of a team.
func (r route) of(ctx context.Context, team string) store.Stores {
	if _, err := r.here.Roster.Get(ctx, team); errors.Is(err, fault.TeamNotFound) {
		return r.engine
	}
	return r.here
}

type roster struct{ route }

// Create makes a team where it says. A name is that of one team of a machine.
func (r roster) Create(ctx context.Context, t store.Team) error {
	switch t.Engine {
	case "":
		_, err := r.engine.Roster.Get(ctx, t.Name)
		if err == nil {
			return fault.New(fault.TeamExists, "team %q exists already on the engine %s", t.Name, r.url).WithHint("choose another name")
		}
		if !errors.Is(err, fault.TeamNotFound) {
			r.notice(err)
		}
		return r.here.Roster.Create(ctx, t)
	case r.url:
		if _, err := r.here.Roster.Get(ctx, t.Name); !errors.Is(err, fault.TeamNotFound) {
			return errors.Join(err, store.TeamExists(t.Name))
		}
		return r.engine.Roster.Create(ctx, t)
	}
	return fault.New(fault.InvalidArgument, "this machine has joined %s, not %s", r.url, store.Shown(t.Engine)).WithHint("leadlight machine leave, then leadlight machine join ENGINE")
}

func (r roster) Get(ctx context.Context, team string) (store.Team, error) {
	t, err := r.here.Roster.Get(ctx, team)
	if errors.Is(err, fault.TeamNotFound) {
		return r.engine.Roster.Get(ctx, team)
	}
	return t, err
}

// List lists the teams of both places. Without the engine nobody knows which there are: who
// removes what belongs to no team must not take its teams for gone.
func (r roster) List(ctx context.Context) ([]string, error) {
	names, err := r.here.Roster.List(ctx)
	if err != nil {
		return nil, err
	}
	there, err := r.engine.Roster.List(ctx)
	if err != nil {
		return nil, err
	}
	names = append(names, there...)
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (r roster) Update(ctx context.Context, team string, change func(*store.Team) error) error {
	return r.of(ctx, team).Roster.Update(ctx, team, change)
}

func (r roster) Delete(ctx context.Context, team string) error {
	if _, err := r.here.Roster.Get(ctx, team); !errors.Is(err, fault.TeamNotFound) {
		return r.here.Roster.Delete(ctx, team)
	}
	if err := r.engine.Roster.Delete(ctx, team); err != nil {
		return err
	}
	return r.forget(team)
}

func (r roster) Remains(ctx context.Context) ([]store.Remain, error) {
	out, err := r.here.Roster.Remains(ctx)
	if err != nil {
		return nil, err
	}
	there, err := r.engine.Roster.Remains(ctx)
	if err != nil {
		r.notice(err)
	}
	return append(out, there...), nil
}

func (r roster) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	if team != "" {
		return r.of(ctx, team).Roster.Watch(ctx, team)
	}
	here, err := r.here.Roster.Watch(ctx, "")
	if err != nil {
		return nil, err
	}
	there, err := r.engine.Roster.Watch(ctx, "")
	if err != nil {
		r.notice(err)
		return here, nil
	}
	return store.Together(here, there), nil
}

type tasks struct{ route }

func (t tasks) Create(ctx context.Context, team string, task store.Task) (store.Task, error) {
	return t.of(ctx, team).Tasks.Create(ctx, team, task)
}

func (t tasks) Get(ctx context.Context, team, id string) (store.Task, error) {
	return t.of(ctx, team).Tasks.Get(ctx, team, id)
}

func (t tasks) List(ctx context.Context, team string) ([]store.Task, []string, error) {
	return t.of(ctx, team).Tasks.List(ctx, team)
}

func (t tasks) Update(ctx context.Context, team, id string, change func(*store.Task) error) (store.Task, error) {
	return t.of(ctx, team).Tasks.Update(ctx, team, id, change)
}

func (t tasks) Claim(ctx context.Context, team, id, who string) (store.Task, error) {
	return t.of(ctx, team).Tasks.Claim(ctx, team, id, who)
}

func (t tasks) ClaimNext(ctx context.Context, team, who string) (store.Task, error) {
	return t.of(ctx, team).Tasks.ClaimNext(ctx, team, who)
}

func (t tasks) Delete(ctx context.Context, team, id string) error {
	return t.of(ctx, team).Tasks.Delete(ctx, team, id)
}

func (t tasks) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	return t.of(ctx, team).Tasks.Watch(ctx, team)
}
