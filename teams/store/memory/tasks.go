package memory

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/leadlight-dev/leadlight/teams/store"
)

type tasks struct{ s *Store }

// with runs do on the list of a team, under the lock.
func (t tasks) with(team string, do func(l *list) error) error {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if err := t.s.known(team); err != nil {
		return err
	}
	l := t.s.lists[team]
	if l == nil {
		l = &list{tasks: map[string]store.Task{}}
		t.s.lists[team] = l
	}
	return do(l)
}

func (l *list) status(id string) (string, bool) {
	t, ok := l.tasks[id]
	return t.Status, ok
}

// get returns a copy with Open filled.
func (l *list) get(team, id string) (store.Task, error) {
	t, ok := l.tasks[id]
	if !ok {
		return store.Task{}, store.NoTask(team, id)
	}
	t = t.Clone()
	l.links().Join(&t, l.status)
	return t, nil
}

func (l *list) ids() []string {
	return slices.SortedFunc(maps.Keys(l.tasks), store.CompareIDs)
}

func (l *list) links() *store.Links {
	var all []*store.Task
	for _, id := range l.ids() {
		t := l.tasks[id]
		all = append(all, &t)
	}
	return store.NewLinks(l.last, all)
}

func (l *list) graph() store.Graph {
	g, links := store.Graph{}, l.links()
	for id, t := range l.tasks {
		g[id] = links.Before(&t)
	}
	return g
}

// put stores a task whose dependencies were changed from those of was.
func (l *list) put(team string, was, now store.Task) error {
	edges := store.Edges(&was, &now)
	exists := func(id string) bool { _, ok := l.tasks[id]; return ok || id == now.ID }
	if err := l.graph().CheckEdges(team, now.ID, edges, exists); err != nil {
		return err
	}
	now.Open, now.Missing, now.Owner = nil, nil, store.LocalName(now.Owner, team)
	l.tasks[now.ID] = now
	for _, e := range edges {
		if other, ok := l.tasks[e.Other]; ok {
			other = other.Clone()
			e.Mirror(&other, now.ID)
			l.tasks[e.Other] = other
		}
	}
	return nil
}

func (t tasks) Create(_ context.Context, team string, task store.Task) (store.Task, error) {
	task, err := store.CheckNew(task, now())
	if err != nil {
		return store.Task{}, err
	}
	err = t.with(team, func(l *list) error {
		task.ID = strconv.FormatInt(l.last+1, 10)
		if err := l.put(team, store.Task{}, task); err != nil {
			return err
		}
		l.last++
		t.s.changed()
		task, err = l.get(team, task.ID)
		return err
	})
	return task, err
}

func (t tasks) Get(_ context.Context, team, id string) (task store.Task, err error) {
	err = t.with(team, func(l *list) error {
		task, err = l.get(team, id)
		return err
	})
	return task, err
}

func (t tasks) List(_ context.Context, team string) (out []store.Task, warnings []string, err error) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if err := store.CheckTeam(team); err != nil {
		return nil, nil, err
	}
	l := t.s.lists[team]
	if l == nil {
		return nil, nil, nil
	}
	links := l.links()
	for _, id := range l.ids() {
		task := l.tasks[id]
		task = task.Clone()
		links.Join(&task, l.status)
		out = append(out, task)
	}
	return out, l.graph().Cycles(), nil
}

func (t tasks) Update(_ context.Context, team, id string, change func(*store.Task) error) (task store.Task, err error) {
	err = t.with(team, func(l *list) error {
		old, err := l.get(team, id)
		if err != nil {
			return err
		}
		next, err := store.Revise(&old, now(), change)
		if err != nil {
			return err
		}
		if next.Status == store.Deleted {
			l.remove(id)
			task, task.Open = next, nil
		} else if err = l.put(team, old, next); err == nil {
			task, err = l.get(team, id)
		}
		t.s.changed()
		return err
	})
	return task, err
}

func (l *list) remove(id string) {
	delete(l.tasks, id)
	for other, task := range l.tasks {
		task = task.Clone()
		for _, before := range []bool{true, false} {
			store.Edge{Other: other, Before: before}.Mirror(&task, id)
		}
		l.tasks[other] = task
	}
}

func (t tasks) Claim(_ context.Context, team, id, who string) (task store.Task, err error) {
	if who, err = store.CheckAddress(store.LocalName(who, team)); err != nil {
		return task, err
	}
	err = t.with(team, func(l *list) error {
		task, err = l.claim(team, id, who)
		t.s.changed()
		return err
	})
	return task, err
}

func (l *list) claim(team, id, who string) (store.Task, error) {
	old, err := l.get(team, id)
	if err != nil {
		return store.Task{}, err
	}
	if err := store.Claimable(&old, who); err != nil {
		return store.Task{}, err
	}
	task, err := store.Revise(&old, now(), func(t *store.Task) error {
		t.Owner, t.Status = who, store.InProgress
		return nil
	})
	if err == nil {
		l.tasks[id] = task
	}
	return task, err
}

func (t tasks) ClaimNext(_ context.Context, team, who string) (task store.Task, err error) {
	if who, err = store.CheckAddress(store.LocalName(who, team)); err != nil {
		return task, err
	}
	err = t.with(team, func(l *list) error {
		for _, id := range l.ids() {
			if old, err := l.get(team, id); err == nil && old.Ready(who) {
				task, err = l.claim(team, id, who)
				t.s.changed()
				return err
			}
		}
		return store.NotReady(team, who)
	})
	return task, err
}

func (t tasks) Delete(_ context.Context, team, id string) error {
	return t.with(team, func(l *list) error {
		if _, err := l.get(team, id); err != nil {
			return err
		}
		l.remove(id)
		t.s.changed()
		return nil
	})
}

func (t tasks) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	if err := t.with(team, func(*list) error { return nil }); err != nil {
		return nil, err
	}
	return t.s.watch(ctx), nil
}
