package teams

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Plan is a team as a team file describes it.
type Plan struct {
	Team    TeamSpec
	Members []SpawnSpec
	Tasks   []TaskSpec // BlockedBy holds positions in this list, from "1"
	Layout  panes.Layout
	Limits  Limits
}

// Snapshot is a team at one moment.
type Snapshot struct {
	Members []api.Member
	Tasks   []api.Task
	// Unclaimed are the ids of tasks that no member of the team will take by
	// itself.
	Unclaimed []string
}

// runKey is the metadata field that holds a task's own command.
const runKey = "run"

// Start makes the team of a plan, its tasks and its teammates. If the team or a
// task cannot be made, or a teammate does not start, everything is undone. A
// finished team of that name, left by an earlier run, makes room.
func (s *Service) Start(ctx context.Context, p Plan, progress func(string)) (Snapshot, error) {
	if cleared, err := s.clearFinished(ctx, p.Team.Name); err != nil {
		return Snapshot{}, err
	} else if cleared {
		progress(fmt.Sprintf("the finished team %s of an earlier run is removed", p.Team.Name))
	}
	if _, err := s.CreateTeam(ctx, p.Team); err != nil {
		return Snapshot{}, err
	}
	name := p.Team.Name
	undo := func(err error) (Snapshot, error) {
		ctx := context.WithoutCancel(ctx)
		if _, downErr := s.Down(ctx, name, StopOptions{Ask: time.Second, Force: true, Reason: "the team did not start"}, false); downErr != nil {
			s.log.Error("undo the start of a team", "team", name, "error", downErr)
		}
		return Snapshot{}, err
	}
	progress(fmt.Sprintf("team %s is made", name))
	if err := s.addPlanned(ctx, p); err != nil {
		return undo(err)
	}
	for i := range p.Members {
		p.Members[i].Layout = p.Layout
	}
	for i, r := range s.Spawn(ctx, name, p.Members) {
		if r.Err != nil {
			return undo(fmt.Errorf("start %s: %w", p.Members[i].Name, r.Err))
		}
	}
	if err := s.assignPlanned(ctx, name); err != nil {
		return undo(err)
	}
	if len(p.Members) > 0 {
		progress(fmt.Sprintf("%d teammates are started", len(p.Members)))
	}
	return s.Snapshot(ctx, name)
}

// clearFinished removes a team that a process of ours has led to its end: that
// process is gone, no teammate runs, and every task is completed. Any other team
// of the name stays, and making ours is refused.
func (s *Service) clearFinished(ctx context.Context, name string) (bool, error) {
	if s.leadOnly("start a team") != nil || store.CheckNewTeam(name) != nil {
		return false, nil // making the team says so
	}
	t, err := s.roster.Get(ctx, name)
	if err != nil || !t.LedByUs() || t.LeadProcess == nil || leadAlive(t) != signals.Gone {
		return false, nil
	}
	snap, err := s.Snapshot(ctx, name)
	live := slices.ContainsFunc(snap.Members, func(m api.Member) bool { return m.Live() })
	if err != nil || live || !snap.Completed() {
		return false, nil
	}
	return true, s.DeleteTeam(ctx, name, DeleteOptions{})
}

// addPlanned adds the tasks of a plan. Their owners join later, so that no worker
// takes a task before all of them are there.
func (s *Service) addPlanned(ctx context.Context, p Plan) error {
	ids := make([]string, len(p.Tasks))
	for i, spec := range p.Tasks {
		t := store.Task{
			Subject: spec.Subject, Description: spec.Description, ActiveForm: spec.ActiveForm, Status: store.Pending,
			Owner: spec.Owner, Metadata: spec.Metadata, CreatedBy: s.caller.Name,
		}
		if err := checkText(spec.Subject + spec.Description); err != nil {
			return err
		}
		made, err := s.tasks.Create(ctx, p.Team.Name, t)
		if err != nil {
			return fmt.Errorf("add task %d: %w", i+1, err)
		}
		ids[i] = made.ID
		if line, ok := runOf(made); ok {
			if err := s.panes.Records().TrustRun(ctx, p.Team.Name, made.ID, line); err != nil {
				return fmt.Errorf("add task %d: %w", i+1, err)
			}
		}
	}
	for i, spec := range p.Tasks {
		if len(spec.BlockedBy) == 0 {
			continue
		}
		_, err := s.tasks.Update(ctx, p.Team.Name, ids[i], func(t *store.Task) error {
			for _, pos := range spec.BlockedBy {
				if n, err := strconv.Atoi(pos); err == nil && n >= 1 && n <= len(ids) {
					t.BlockedBy = append(t.BlockedBy, ids[n-1])
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("task %d: %w", i+1, err)
		}
	}
	return nil
}

// assignPlanned tells the owners about their tasks, now that they are there.
func (s *Service) assignPlanned(ctx context.Context, team string) error {
	t, err := s.get(ctx, team)
	if err != nil {
		return err
	}
	tasks, _, err := s.tasks.List(ctx, team)
	if err != nil {
		return fmt.Errorf("list tasks: %w", err)
	}
	for _, task := range tasks {
		if err := s.assign(ctx, t, task); err != nil {
			return err
		}
	}
	return nil
}

// runOf returns the task's own command.
func runOf(t store.Task) (string, bool) {
	var line string
	raw, ok := t.Metadata[runKey]
	return line, ok && json.Unmarshal(raw, &line) == nil && line != ""
}

// Snapshot returns the team as it is now.
func (s *Service) Snapshot(ctx context.Context, team string) (Snapshot, error) {
	t, err := s.get(ctx, team)
	if err != nil {
		return Snapshot{}, err
	}
	members := s.observe(ctx, t, t.Teammates())
	tasks, _, err := s.TaskList(ctx, team, TaskFilter{})
	return Snapshot{Members: members, Tasks: tasks, Unclaimed: unclaimed(tasks, members)}, err
}

// unclaimed finds the tasks that nobody will take: owned by somebody who does not
// run, or unowned when nobody runs.
func unclaimed(tasks []api.Task, members []api.Member) []string {
	live := map[string]bool{}
	for _, m := range members {
		if m.Live() {
			live[m.Name] = true
		}
	}
	var out []string
	for _, t := range tasks {
		open := t.Status == store.Pending || t.Status == store.Blocked
		if open && ((t.Owner == "" && len(live) == 0) || (t.Owner != "" && !live[t.Owner])) {
			out = append(out, t.ID)
		}
	}
	return out
}

// Follow watches a team until nothing more will happen by itself: every task is
// completed, failed, blocked by a failed one, or will be taken by nobody. It calls
// onChange with each new picture. It writes down members that are lost meanwhile.
func (s *Service) Follow(ctx context.Context, team string, onChange func(Snapshot)) (Snapshot, error) {
	fctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hints, err := s.tasks.Watch(fctx, team)
	if err != nil {
		return Snapshot{}, fmt.Errorf("watch the tasks of team %s: %w", team, err)
	}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := s.Reconcile(ctx, team); err != nil && ctx.Err() == nil {
			s.log.Warn("write down who is lost", "team", team, "error", err)
		}
		snap, err := s.Snapshot(ctx, team)
		if err != nil {
			return snap, err
		}
		onChange(snap)
		if snap.Settled() {
			return snap, nil
		}
		select {
		case <-ctx.Done():
			return snap, ctx.Err()
		case <-tick.C:
		case _, ok := <-hints:
			if !ok {
				hints = nil
			}
		}
	}
}

// Settled tells whether nothing more will happen by itself: no task runs, and
// each that is open waits for one that failed or that nobody takes. A team without
// tasks is settled when no teammate runs.
func (snap Snapshot) Settled() bool {
	if len(snap.Tasks) == 0 {
		return !slices.ContainsFunc(snap.Members, func(m api.Member) bool { return m.Live() })
	}
	stuck := map[string]bool{}
	for _, id := range snap.Unclaimed {
		stuck[id] = true
	}
	for _, t := range snap.Tasks {
		if t.Status == store.FailedTask {
			stuck[t.ID] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for _, t := range snap.Tasks {
			if t.Status != store.Blocked || stuck[t.ID] {
				continue
			}
			for _, b := range t.BlockedBy {
				if stuck[b] {
					stuck[t.ID], grew = true, true
				}
			}
		}
	}
	for _, t := range snap.Tasks {
		if t.Status != store.Completed && !stuck[t.ID] {
			return false
		}
	}
	return true
}

// Completed tells whether every task is completed.
func (snap Snapshot) Completed() bool {
	for _, t := range snap.Tasks {
		if t.Status != store.Completed {
			return false
		}
	}
	return true
}
