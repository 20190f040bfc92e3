package teams

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Snapshot is a team at one moment.
type Snapshot struct {
	Members []api.Member
	Tasks   []api.Task
	// Unclaimed are the ids of tasks that no member of the team will take by
	// itself.
	Unclaimed []string
	// Warnings say what could not be read just now.
	Warnings []string
	// Missing are those of a plan that Start could not start.
	Missing []Missing
}

// Snapshot returns the team as it is now.
func (tl *tasklist) Snapshot(ctx context.Context, team string) (Snapshot, error) {
	t, err := tl.get(ctx, team)
	if err != nil {
		return Snapshot{}, err
	}
	members := tl.observe(ctx, t, t.Teammates())
	tasks, _, warnings, err := tl.taskList(ctx, team, TaskFilter{})
	members = working(members, tasks)
	return Snapshot{Members: members, Tasks: tasks, Unclaimed: unclaimed(tasks, members, tl.ableWorkers(ctx, t.Name)), Warnings: warnings}, err
}

// unclaimed finds the tasks that nobody will take: none of those who run does them, or
// none but a worker that has no command for them, as able says.
func unclaimed(tasks []api.Task, members []api.Member, able func(worker string, t api.Task) bool) []string {
	var out []string
	for _, t := range tasks {
		meant := MeantFor(t)
		taken := slices.ContainsFunc(members, func(m api.Member) bool {
			return m.Live() && (meant == "" || store.SameName(m.Name, meant)) && (m.Kind != profiles.Worker || able(m.Name, t))
		})
		if open := t.Status == store.Pending || t.Status == store.Blocked; open && !taken {
			out = append(out, t.ID)
		}
	}
	return out
}

// ableWorkers tells whether a worker has a command for a task. One whose launch record
// cannot be read counts as able: it is not known to be unable.
func (tl *tasklist) ableWorkers(ctx context.Context, team string) func(worker string, t api.Task) bool {
	type launch struct {
		panes.LaunchRecord
		err error
	}
	known := map[string]launch{}
	return func(worker string, t api.Task) bool {
		l, ok := known[worker]
		if !ok {
			l.LaunchRecord, l.err = tl.panes.Records().Launch(ctx, team, worker)
			known[worker] = l
		}
		return l.err != nil || tl.TakesTask(ctx, l.LaunchRecord, t)
	}
}

// Follow watches a team until nothing more will happen by itself: every task is
// completed, failed, blocked by a failed one, or will be taken by nobody. It calls
// onChange with each new picture. It writes down members that are lost meanwhile,
// and starts them again where their restart policy says so.
func (s *Service) Follow(ctx context.Context, team string, onChange func(Snapshot)) (Snapshot, error) {
	fctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hints, err := s.tasks.Watch(fctx, team)
	if err != nil {
		return Snapshot{}, fmt.Errorf("watch the tasks of team %s: %w", team, err)
	}
	tick := time.Tick(500 * time.Millisecond)
	warn := func(what string, err error) {
		if err != nil && ctx.Err() == nil {
			s.log.Warn(what, "team", team, "error", err)
		}
	}
	var last Snapshot
	for {
		_, err := s.Reconcile(ctx, team)
		warn("write down who is lost", err)
		more, err := s.RestartLost(ctx, team)
		warn("start the lost again", err)
		snap, err := s.Snapshot(ctx, team)
		switch {
		case passing(err): // go on with the last good picture, and say so
			snap = last
			snap.Warnings = append(slices.Clone(last.Warnings), fault.Of(err).Message)
		case err != nil:
			return last, err
		default:
			last = snap
		}
		onChange(snap)
		warn("free the tasks of who cannot be seen", s.FreeSilent(ctx, team, snap))
		_, err = s.Offer(ctx, team, snap)
		warn("offer tasks", err)
		if snap.Settled() && !more {
			return snap, nil
		}
		select {
		case <-ctx.Done():
			return snap, ctx.Err()
		case <-tick:
		case <-hints: // they end with ctx
		}
	}
}

// passing tells whether an error may be gone in a moment: somebody is writing, or
// mending, the file, or the engine is about to be back.
func passing(err error) bool {
	code := fault.CodeOf(err)
	return code == fault.CorruptFile || code == fault.LockTimeout || code == fault.EngineUnavailable
}

// Settled tells whether nothing more will happen by itself: no task runs, and
// each that is open waits for one that failed or that nobody takes. A team without
// tasks is settled when no teammate runs.
func (snap Snapshot) Settled() bool {
	if len(snap.Tasks) == 0 && len(snap.Warnings) == 0 {
		return !slices.ContainsFunc(snap.Members, isLive)
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
			if t.Status == store.Blocked && !stuck[t.ID] && snap.waitsInVain(t, stuck) {
				stuck[t.ID], grew = true, true
			}
		}
	}
	for _, t := range snap.Tasks {
		if t.Status != store.Completed && !stuck[t.ID] {
			return false
		}
	}
	return len(snap.Tasks) > 0
}

// waitsInVain tells whether a blocked task waits for one that is stuck, or only for
// ones that are not in the list because their files cannot be read.
func (snap Snapshot) waitsInVain(t api.Task, stuck map[string]bool) bool {
	open := false
	for _, other := range snap.Tasks {
		if !slices.Contains(t.BlockedBy, other.ID) || other.Status == store.Completed {
			continue
		}
		if stuck[other.ID] {
			return true
		}
		open = true
	}
	return !open
}

// Completed tells whether every task is completed. A task that cannot be read is
// not known to be.
func (snap Snapshot) Completed() bool {
	open := func(t api.Task) bool { return t.Status != store.Completed }
	return len(snap.Warnings) == 0 && !slices.ContainsFunc(snap.Tasks, open)
}
