package memory

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

type tasks struct{ s *Store }

func (t *team) status(id string) (string, bool) {
	task, ok := t.tasks[id]
	return task.Status, ok
}

// get returns a copy with Open filled.
func (t *team) get(id string) (store.Task, error) {
	task, ok := t.tasks[id]
	if !ok {
		return store.Task{}, store.NoTask(t.roster.Name, id)
	}
	task = task.Clone()
	t.links().Join(&task, t.status)
	return task, nil
}

func (t *team) ids() []string {
	return slices.SortedFunc(maps.Keys(t.tasks), store.CompareIDs)
}

func (t *team) links() *store.Links {
	var all []*store.Task
	for _, id := range t.ids() {
		task := t.tasks[id]
		all = append(all, &task)
	}
	return store.NewLinks(t.last, all)
}

// put stores a task whose dependencies were changed from those of was.
func (t *team) put(was, now store.Task) error {
	edges := store.Edges(&was, &now)
	exists := func(id string) bool { return t.tasks[id].ID != "" || id == now.ID }
	if err := t.links().Graph().CheckEdges(t.roster.Name, now.ID, edges, exists); err != nil {
		return err
	}
	now.Open, now.Missing, now.Owner = nil, nil, store.LocalName(now.Owner, t.roster.Name)
	t.tasks[now.ID] = now
	for _, e := range edges {
		if other, ok := t.tasks[e.Other]; ok {
			other = other.Clone()
			e.Mirror(&other, now.ID)
			t.tasks[e.Other] = other
		}
	}
	return nil
}

// revise changes a task.
func (t *team) revise(id string, change func(*store.Task) error) (store.Task, error) {
	old, err := t.get(id)
	if err != nil {
		return store.Task{}, err
	}
	next, err := store.Revise(&old, store.Now(), change)
	if err != nil {
		return store.Task{}, err
	}
	if next.Status == store.Deleted {
		t.remove(id)
		next.Open = nil
		return next, nil
	}
	if err := t.put(old, next); err != nil {
		return store.Task{}, err
	}
	return t.get(id)
}

func (t *team) remove(id string) {
	delete(t.tasks, id)
	for other, task := range t.tasks {
		task = task.Clone()
		for _, before := range []bool{true, false} {
			store.Edge{Other: other, Before: before}.Mirror(&task, id)
		}
		t.tasks[other] = task
	}
}

func (t tasks) Create(_ context.Context, name string, task store.Task) (store.Task, error) {
	task, err := store.CheckNew(task, store.Now())
	if err != nil {
		return store.Task{}, err
	}
	err = t.s.change(name, func(in *team) error {
		if task.ID, err = store.NextID(name, in.last); err != nil {
			return err
		}
		if err := in.put(store.Task{}, task); err != nil {
			return err
		}
		in.last++
		task, err = in.get(task.ID)
		return err
	})
	return task, err
}

func (t tasks) Get(_ context.Context, name, id string) (task store.Task, err error) {
	err = t.s.with(name, func(in *team) error {
		task, err = in.get(id)
		return err
	})
	return task, err
}

func (t tasks) List(_ context.Context, name string) (out []store.Task, warnings []string, err error) {
	err = t.s.with(name, func(in *team) error {
		links := in.links()
		for _, id := range in.ids() {
			task := in.tasks[id]
			task = task.Clone()
			links.Join(&task, in.status)
			out = append(out, task)
		}
		warnings = links.Graph().Cycles()
		return nil
	})
	if errors.Is(err, fault.TeamNotFound) {
		err = nil
	}
	return out, warnings, err
}

func (t tasks) Update(_ context.Context, name, id string, change func(*store.Task) error) (task store.Task, err error) {
	err = t.s.change(name, func(in *team) error {
		task, err = in.revise(id, change)
		return err
	})
	return task, err
}

func (t tasks) Claim(ctx context.Context, name, id, who string) (task store.Task, err error) {
	if who, err = store.Owner(name, who); err != nil {
		return task, err
	}
	return t.Update(ctx, name, id, store.Claiming(who))
}

func (t tasks) ClaimNext(_ context.Context, name, who string) (task store.Task, err error) {
	if who, err = store.Owner(name, who); err != nil {
		return task, err
	}
	err = t.s.change(name, func(in *team) error {
		for _, id := range in.ids() {
			if old, err := in.get(id); err == nil && old.Ready(who) {
				task, err = in.revise(id, store.Claiming(who))
				return err
			}
		}
		return store.NotReady(name, who)
	})
	return task, err
}

func (t tasks) Delete(ctx context.Context, name, id string) error {
	_, err := t.Update(ctx, name, id, func(x *store.Task) error { x.Status = store.Deleted; return nil })
	return err
}

func (t tasks) Watch(ctx context.Context, name string) (<-chan struct{}, error) {
	return t.s.watchTeam(ctx, name)
}
