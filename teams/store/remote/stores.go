package remote

import (
	"context"

	"github.com/leadlight-dev/leadlight/teams/store"
)

type roster struct{ c *Client }

func (r roster) Create(ctx context.Context, t store.Team) error {
	return r.c.call(ctx, "store.roster.create", creating[store.Team]{Value: t}, nil)
}

func (r roster) Get(ctx context.Context, team string) (t store.Team, err error) {
	err = r.c.repeat(ctx, "store.roster.get", target{Team: team}, &t)
	return t.Clone(), err
}

func (r roster) List(ctx context.Context) (names []string, err error) {
	err = r.c.repeat(ctx, "store.roster.list", nil, &names)
	return names, err
}

func (r roster) Update(ctx context.Context, team string, edit func(*store.Team) error) error {
	_, err := change(ctx, r.c, "store.roster", target{Team: team}, edit, (*store.Team).Clone)
	return err
}

func (r roster) Delete(ctx context.Context, team string) error {
	return r.c.call(ctx, "store.roster.delete", target{Team: team}, nil)
}

func (r roster) Remains(ctx context.Context) ([]store.Remain, error) {
	var found []remain
	if err := r.c.repeat(ctx, "store.roster.remains", nil, &found); err != nil {
		return nil, err
	}
	var out []store.Remain
	for _, x := range found {
		out = append(out, store.Remain{What: x.What, Why: x.Why, Remove: func(ctx context.Context) error {
			return r.c.call(ctx, "store.roster.tidy", x, nil)
		}})
	}
	return out, nil
}

func (r roster) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	return r.c.watch(ctx, "roster", target{Team: team})
}

type mail struct{ c *Client }

func (m mail) Put(ctx context.Context, team, to string, msg store.Message) (store.Message, error) {
	if err := store.PrepareMessage(&msg, to, msg.Timestamp); err != nil { // the daemon has the clock
		return msg, err
	}
	var sent store.Message
	if err := m.c.repeat(ctx, "store.mail.put", creating[store.Message]{target{Team: team, Owner: to}, msg}, &sent); err != nil {
		return msg, err
	}
	return sent, nil
}

func (m mail) List(ctx context.Context, team, owner string) (list []store.Message, err error) {
	err = m.c.repeat(ctx, "store.mail.list", target{Team: team, Owner: owner, After: store.FollowsHint(ctx)}, &list)
	return list, err
}

func (m mail) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	return m.c.repeat(ctx, "store.mail.read", creating[[]string]{target{Team: team, Owner: owner}, ids}, nil)
}

func (m mail) Prune(ctx context.Context, team, owner string, keep int) (n int, err error) {
	err = m.c.call(ctx, "store.mail.prune", creating[int]{target{Team: team, Owner: owner}, keep}, &n)
	return n, err
}

func (m mail) Archive(ctx context.Context, team, owner string) (n int, err error) {
	err = m.c.call(ctx, "store.mail.archive", target{Team: team, Owner: owner}, &n)
	return n, err
}

func (m mail) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	return m.c.watch(ctx, "mail", target{Team: team, Owner: owner})
}

type tasks struct{ c *Client }

// listed is what List answers.
type listed struct {
	Tasks    []store.Task `json:"tasks"`
	Warnings []string     `json:"warnings"`
}

func (t tasks) Create(ctx context.Context, team string, task store.Task) (made store.Task, err error) {
	err = t.c.call(ctx, "store.tasks.create", creating[store.Task]{target{Team: team}, task}, &made)
	return made.Clone(), err
}

func (t tasks) Get(ctx context.Context, team, id string) (task store.Task, err error) {
	err = t.c.repeat(ctx, "store.tasks.get", target{Team: team, ID: id}, &task)
	return task.Clone(), err
}

func (t tasks) List(ctx context.Context, team string) ([]store.Task, []string, error) {
	var l listed
	err := t.c.repeat(ctx, "store.tasks.list", target{Team: team}, &l)
	for i := range l.Tasks {
		l.Tasks[i] = l.Tasks[i].Clone()
	}
	return l.Tasks, l.Warnings, err
}

func (t tasks) Update(ctx context.Context, team, id string, edit func(*store.Task) error) (store.Task, error) {
	task, err := change(ctx, t.c, "store.tasks", target{Team: team, ID: id}, edit, (*store.Task).Clone)
	return task.Clone(), err
}

func (t tasks) Claim(ctx context.Context, team, id, who string) (task store.Task, err error) {
	err = t.c.call(ctx, "store.tasks.claim", target{Team: team, ID: id, Who: who}, &task)
	return task.Clone(), err
}

func (t tasks) ClaimNext(ctx context.Context, team, who string) (task store.Task, err error) {
	err = t.c.call(ctx, "store.tasks.next", target{Team: team, Who: who}, &task)
	return task.Clone(), err
}

func (t tasks) Delete(ctx context.Context, team, id string) error {
	return t.c.call(ctx, "store.tasks.delete", target{Team: team, ID: id}, nil)
}

func (t tasks) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	return t.c.watch(ctx, "tasks", target{Team: team})
}
