package remote

import (
	"context"

	"github.com/leadlight-dev/leadlight/teams/store"
)

type roster struct{ c *Client }

func (r roster) Create(ctx context.Context, t store.Team) error {
	if err := store.CheckNewTeam(t.Name); err != nil {
		return err
	}
	if err := store.CheckMembers(nil, t.Members); err != nil {
		return err
	}
	return r.c.call(ctx, "store.roster.create", creating[store.Team]{Value: t}, nil)
}

func (r roster) Get(ctx context.Context, team string) (t store.Team, err error) {
	if err := store.CheckTeam(team); err != nil {
		return t, err
	}
	err = r.c.repeat(ctx, "store.roster.get", target{Team: team}, &t)
	return t.Clone(), err
}

func (r roster) List(ctx context.Context) (names []string, err error) {
	err = r.c.repeat(ctx, "store.roster.list", nil, &names)
	return names, err
}

func (r roster) Update(ctx context.Context, team string, edit func(*store.Team) error) error {
	if err := store.CheckTeam(team); err != nil {
		return err
	}
	_, err := change(ctx, r.c, "store.roster", target{Team: team}, func(t *store.Team) error {
		was := t.Clone()
		if err := edit(t); err != nil {
			return err
		}
		return store.CheckMembers(was.Members, t.Members) // before a bad name is made fit for the wire
	}, (*store.Team).Clone)
	return err
}

func (r roster) Delete(ctx context.Context, team string) error {
	if err := store.CheckTeam(team); err != nil {
		return err
	}
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

// box names a mailbox.
func box(team, owner string) (target, error) {
	if err := store.CheckTeam(team); err != nil {
		return target{}, err
	}
	owner, err := store.CheckAddress(store.LocalName(owner, team))
	return target{Team: team, Owner: owner}, err
}

func (m mail) Put(ctx context.Context, team, to string, msg store.Message) (store.Message, error) {
	at, err := box(team, to)
	if err != nil {
		return msg, err
	}
	if err := store.PrepareMessage(&msg); err != nil {
		return msg, err
	}
	msg.Unknown = nil
	var sent store.Message
	if err := m.c.repeat(ctx, "store.mail.put", creating[store.Message]{at, msg}, &sent); err != nil {
		return msg, err
	}
	return sent, nil
}

func (m mail) List(ctx context.Context, team, owner string) (list []store.Message, err error) {
	at, err := box(team, owner)
	if at.After = store.FollowsHint(ctx); err == nil {
		err = m.c.repeat(ctx, "store.mail.list", at, &list)
	}
	return list, err
}

func (m mail) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	at, err := box(team, owner)
	if err == nil {
		err = m.c.repeat(ctx, "store.mail.read", creating[[]string]{at, ids}, nil)
	}
	return err
}

func (m mail) Prune(ctx context.Context, team, owner string, keep int) (n int, err error) {
	at, err := box(team, owner)
	if err == nil {
		err = m.c.call(ctx, "store.mail.prune", creating[int]{at, keep}, &n)
	}
	return n, err
}

func (m mail) Archive(ctx context.Context, team, owner string) (n int, err error) {
	at, err := box(team, owner)
	if err == nil {
		err = m.c.call(ctx, "store.mail.archive", at, &n)
	}
	return n, err
}

func (m mail) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	at, err := box(team, owner)
	if err != nil {
		return nil, err
	}
	return m.c.watch(ctx, "mail", at)
}

type tasks struct{ c *Client }

// listed is what List answers.
type listed struct {
	Tasks    []store.Task `json:"tasks"`
	Warnings []string     `json:"warnings"`
}

func (t tasks) Create(ctx context.Context, team string, task store.Task) (made store.Task, err error) {
	if err := store.CheckTeam(team); err != nil {
		return made, err
	}
	err = t.c.call(ctx, "store.tasks.create", creating[store.Task]{target{Team: team}, task}, &made)
	return made.Clone(), err
}

// one names a task.
func one(team, id string) (target, error) {
	if err := store.CheckTeam(team); err != nil {
		return target{}, err
	}
	if store.IDNumber(id) < 0 {
		return target{}, store.NoTask(team, id)
	}
	return target{Team: team, ID: id}, nil
}

func (t tasks) Get(ctx context.Context, team, id string) (task store.Task, err error) {
	at, err := one(team, id)
	if err == nil {
		err = t.c.repeat(ctx, "store.tasks.get", at, &task)
	}
	return task.Clone(), err
}

func (t tasks) List(ctx context.Context, team string) ([]store.Task, []string, error) {
	if err := store.CheckTeam(team); err != nil {
		return nil, nil, err
	}
	var l listed
	err := t.c.repeat(ctx, "store.tasks.list", target{Team: team}, &l)
	for i := range l.Tasks {
		l.Tasks[i] = l.Tasks[i].Clone()
	}
	return l.Tasks, l.Warnings, err
}

func (t tasks) Update(ctx context.Context, team, id string, edit func(*store.Task) error) (store.Task, error) {
	at, err := one(team, id)
	if err != nil {
		return store.Task{}, err
	}
	task, err := change(ctx, t.c, "store.tasks", at, edit, (*store.Task).Clone)
	return task.Clone(), err
}

func (t tasks) Claim(ctx context.Context, team, id, who string) (task store.Task, err error) {
	at, err := one(team, id)
	if err != nil {
		return task, err
	}
	if at.Who, err = store.CheckAddress(store.LocalName(who, team)); err == nil {
		err = t.c.call(ctx, "store.tasks.claim", at, &task)
	}
	return task.Clone(), err
}

func (t tasks) ClaimNext(ctx context.Context, team, who string) (task store.Task, err error) {
	at, err := box(team, who)
	if err == nil {
		err = t.c.call(ctx, "store.tasks.next", target{Team: team, Who: at.Owner}, &task)
	}
	return task.Clone(), err
}

func (t tasks) Delete(ctx context.Context, team, id string) error {
	at, err := one(team, id)
	if err == nil {
		err = t.c.call(ctx, "store.tasks.delete", at, nil)
	}
	return err
}

func (t tasks) Watch(ctx context.Context, team string) (<-chan struct{}, error) {
	if err := store.CheckTeam(team); err != nil {
		return nil, err
	}
	return t.c.watch(ctx, "tasks", target{Team: team})
}
