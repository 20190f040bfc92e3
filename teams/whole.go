package teams

import (
	"context"
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Whole is a team with its tasks and its mail.
type Whole struct {
	Team  api.Team // its lead among the members
	Tasks []api.Task
	Boxes map[string][]api.Message // by owner
	// Missed is why parts are not there: the tasks are nil then, or the box of somebody.
	Missed []error
}

// Whole returns all that is kept of a team, and reads each file once.
func (s *Service) Whole(ctx context.Context, team string) (Whole, error) {
	t, err := s.get(ctx, team)
	if err != nil {
		return Whole{}, err
	}
	w := Whole{Boxes: map[string][]api.Message{}}
	boxes := map[string][]store.Message{}
	owners := []string{leadName(t)}
	for _, m := range t.Teammates() {
		if !m.Unsafe {
			owners = append(owners, m.Name)
		}
	}
	for _, owner := range owners {
		msgs, err := s.mail.List(ctx, t.Name, owner)
		if err != nil {
			w.Missed = append(w.Missed, fmt.Errorf("read the inbox of %s: %w", owner, err))
			continue
		}
		boxes[owner], w.Boxes[owner] = msgs, s.inbox(ctx, t, owner, msgs, InboxFilter{})
	}
	tasks, _, err := s.tasks.List(ctx, t.Name)
	if err != nil {
		w.Missed = append(w.Missed, fmt.Errorf("list tasks: %w", err))
	} else {
		w.Tasks = shownTasks(tasks)
	}
	members := s.observeWith(ctx, t, t.Members, func(ctx context.Context, team, owner string) ([]store.Message, error) {
		if msgs, known := boxes[owner]; known {
			return msgs, nil
		}
		return s.mail.List(ctx, team, owner)
	})
	w.Team = shownTeam(t, working(members, w.Tasks))
	return w, nil
}
