package teams

import (
	"context"
	"fmt"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// noted are tasks of which it is known how they came.
type noted struct {
	store.Tasks
	came []string
}

func (n *noted) Create(ctx context.Context, team string, t store.Task) (store.Task, error) {
	made, err := n.Tasks.Create(ctx, team, t)
	n.came = append(n.came, fmt.Sprint(made.ID, " ", t.Subject, t.BlockedBy))
	return made, err
}

// TestXD02_AddedWithWhatItWaitsFor: a task that the file has gained comes into a team that
// works with what it waits for, so that no worker takes it before.
func TestXD02_AddedWithWhatItWaitsFor(t *testing.T) {
	mem := memory.New()
	if err := mem.Roster().Create(t.Context(), store.Team{Name: "alpha"}); err != nil {
		t.Fatal(err)
	}
	tasks := &noted{Tasks: mem.Tasks()}
	s, t0 := &Service{tasks: tasks}, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "ann"}}}
	if _, err := mem.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "first", Status: store.Pending}); err != nil {
		t.Fatal(err)
	}
	p := Plan{Team: TeamSpec{Name: "alpha"}, Tasks: []TaskSpec{
		{Subject: "first"}, {Subject: "second", BlockedBy: []string{"4"}}, {Subject: "third", BlockedBy: []string{"1", "2"}}, {Subject: "fourth"},
	}}
	added, err := s.addMissing(t.Context(), t0, p, func(string) {})
	if want := "[2 fourth[] 3 second[2] 4 third[1 3]]"; err != nil || added != 3 || fmt.Sprint(tasks.came) != want {
		t.Errorf("%d added as %v, want %s; %v", added, tasks.came, want, err)
	}
	if added, err = s.addMissing(t.Context(), t0, p, func(string) {}); err != nil || added != 0 {
		t.Errorf("again: %d added, %v", added, err)
	}
}
