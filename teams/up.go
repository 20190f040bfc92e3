package teams

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Plan is a team as a team file describes it.
type Plan struct {
	Team    TeamSpec
	Members []SpawnSpec
	Tasks   []TaskSpec // BlockedBy holds positions in this list, from "1"
	Hooks   []hooks.Hook
	Layout  panes.Layout
}

// RunKey is the metadata field that holds a task's own command.
const RunKey = "run"

// Start makes the team of a plan, its tasks and its teammates. If the team or a
// task cannot be made, or a teammate does not start, everything is undone; but those whose
// machine does not answer are left out. A team of the
// same file that is there is adopted; a finished one makes room.
func (lc *lifecycle) Start(ctx context.Context, p Plan, progress func(string)) (Snapshot, error) {
	missing, err := lc.checkPlan(ctx, p)
	if err != nil {
		return Snapshot{}, err
	}
	name := p.Team.Name
	before := lc.panes.DownBy(name)
	err = lc.panes.AwaitDown(ctx, name, lc.limits.lockWait(), func(holder string) {
		progress(fmt.Sprintf("waits for %s, which takes team %s down", holder, name))
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("wait until team %s is down: %w", name, err)
	}
	existing, done, err := lc.makeRoom(ctx, p, missing, progress)
	defer done()
	if err != nil {
		return Snapshot{}, err
	}
	if existing != nil {
		if missing, err = lc.adopt(ctx, *existing, p, missing, progress); err != nil {
			return Snapshot{}, err
		}
		return lc.started(ctx, *existing, missing)
	}
	made, err := lc.get(ctx, name)
	if err == nil {
		progress(fmt.Sprintf("team %s is made", name))
		missing, err = lc.fill(ctx, made, p, true, missing, progress)
	}
	if err != nil {
		return Snapshot{}, lc.undoStart(context.WithoutCancel(ctx), name, made.CreatedAt, before, err, progress)
	}
	return lc.started(ctx, made, missing)
}

// started is the team as Start leaves it; was is what there was of it.
func (lc *lifecycle) started(ctx context.Context, was store.Team, missing []Missing) (Snapshot, error) {
	for i := range missing {
		missing[i].was = hostOf(was.Member(missing[i].Name))
	}
	snap, err := lc.Snapshot(ctx, was.Name)
	snap.Missing = missing
	return snap, err
}

// undoStart takes down a team that did not start, and returns why it did not. One that was
// made in its place, while a repository came, is left alone.
func (lc *lifecycle) undoStart(ctx context.Context, name string, made time.Time, before Downer, err error, progress func(string)) error {
	if now, getErr := lc.get(ctx, name); getErr == nil && !made.IsZero() && !now.CreatedAt.Equal(made) {
		return fmt.Errorf("the team was taken down meanwhile, and another one has its name: %w", err)
	}
	ends, downErr := lc.Down(ctx, name, StopOptions{Ask: time.Second, Force: true, Reason: "the team did not start"}, false)
	switch {
	case downErr == nil:
		downErr = Verdict(ends)
	case fault.CodeOf(downErr) == fault.TeamNotFound:
		downErr = nil
		if pid, yes := lc.TakenDown(name, before); yes {
			err = fmt.Errorf("process %d took the team down meanwhile: %w", pid, err)
		}
	}
	if downErr != nil {
		return fmt.Errorf("%w; and it could not be undone: %w", err, downErr)
	}
	progress("nothing of the team is left")
	return err
}

// getReady lets the terminal of this machine get ready if a teammate surely runs here.
func (lc *lifecycle) getReady(ctx context.Context, p Plan) (done func()) {
	var here []string
	for _, m := range p.Members {
		if !lc.apart(m) {
			here = append(here, m.Name)
		}
	}
	if len(here) == 0 {
		return func() {}
	}
	return lc.panes.GetReady(ctx, p.Team.Name, here)
}

// makeRoom makes the team, in the place of a finished one of the same file, or returns the
// one that is there to be adopted. Two that start the same team at once do it one after the
// other: the second one finds the first one's. Nothing is made, or taken over, if all teammates
// are missing and nobody runs. The terminal gets ready while the team is written: done waits
// for that, see panes.Manager.GetReady.
func (lc *lifecycle) makeRoom(ctx context.Context, p Plan, missing []Missing, progress func(string)) (existing *store.Team, done func(), err error) {
	spec, done := p.Team, func() {}
	release, err := lc.panes.Guard(ctx, spec.Name, "start the team")
	if err != nil {
		return nil, done, fmt.Errorf("start team %s: %w", spec.Name, err)
	}
	defer release()
	t, found, err := lc.OfFile(ctx, spec.Name, spec.File)
	if err != nil {
		return nil, done, err
	}
	if len(missing) > 0 && len(missing) == len(p.Members) {
		runs, err := lc.anybodyRuns(ctx, t, found)
		if err != nil {
			return nil, done, err
		} else if !runs {
			return nil, done, MissingError(missing, len(p.Members))
		}
	}
	if found {
		if cleared, err := lc.clearFinished(ctx, p); err != nil {
			return nil, done, err
		} else if !cleared {
			return &t, done, onSameEngine(t, spec)
		}
		progress(fmt.Sprintf("the finished team %s of an earlier run is removed", spec.Name))
	}
	done = lc.getReady(ctx, p)
	_, err = lc.CreateTeam(ctx, spec)
	return nil, done, err
}

// onSameEngine refuses to adopt a team that is kept elsewhere than it is asked for.
func onSameEngine(t store.Team, spec TeamSpec) error {
	if t.Engine == spec.Engine {
		return nil
	}
	return fault.New(fault.TeamExists, "team %s exists %s, and is asked for %s", t.Name, place(t.Engine), place(spec.Engine)).
		WithHint("end that team first: leadlight down %s", t.Name)
}

// place says where a team is kept.
func place(engine string) string {
	if engine == "" {
		return "in files"
	}
	return "on the engine " + engine
}

// clearFinished removes a team that a process of ours has led to its end. Any other team
// of the name stays, and making ours is refused.
func (lc *lifecycle) clearFinished(ctx context.Context, p Plan) (bool, error) {
	if !lc.finished(ctx, p) {
		return false, nil
	}
	t, err := lc.roster.Get(ctx, p.Team.Name)
	if err != nil {
		return false, err
	}
	return true, lc.deleteGuarded(ctx, p.Team.Name, DeleteOptions{Force: lc.gaveUp(t)})
}

// finished tells whether a process of ours has led the team of a plan to its end: that process
// is gone or has given the team up, no teammate runs, none of the plan is still to be started,
// and every task is completed.
func (lc *lifecycle) finished(ctx context.Context, p Plan) bool {
	if lc.leadOnly("start a team") != nil {
		return false // making the team says so
	}
	t, err := lc.roster.Get(ctx, p.Team.Name)
	if err != nil || !t.LedByUs() || t.LeadProcess == nil || leadAlive(t) != signals.Gone && !lc.gaveUp(t) {
		return false
	}
	if slices.ContainsFunc(p.Members, func(m SpawnSpec) bool { return slices.Contains(t.Ours.Unstarted, m.Name) }) {
		return false
	}
	snap, err := lc.Snapshot(ctx, t.Name)
	return err == nil && !slices.ContainsFunc(snap.Members, isLive) && snap.Completed()
}

// addPlannedTask adds one task of a plan, which waits for the ones with those ids.
func (lc *lifecycle) addPlannedTask(ctx context.Context, team string, i int, spec TaskSpec, blockedBy []string) (id string, err error) {
	t := lc.fresh(spec)
	t.BlockedBy, t.Blocks = blockedBy, nil
	if err := checkText("task", spec.Subject+spec.Description); err != nil {
		return "", err
	}
	made, err := lc.tasks.Create(ctx, team, t)
	if err != nil {
		return "", fmt.Errorf("add task %d: %w", i+1, err)
	}
	if line, ok := RunOf(made.Metadata); ok {
		if err := lc.panes.Records().TrustRun(ctx, team, made.ID, line); err != nil {
			return "", fmt.Errorf("add task %d: %w", i+1, err)
		}
	}
	return made.ID, nil
}

// assignPlanned tells the owners about their tasks, now that they are there, if they were
// not told since they were started.
func (lc *lifecycle) assignPlanned(ctx context.Context, team string) error {
	t, err := lc.get(ctx, team)
	if err != nil {
		return err
	}
	tasks, _, err := lc.tasks.List(ctx, team)
	if err != nil {
		return fmt.Errorf("list tasks: %w", err)
	}
	for _, task := range tasks {
		began := time.Time{}
		if m := meant(t, task); m != nil && m.Leadlight != nil {
			began = deref(m.Leadlight.SpawnedAt)
		}
		if err := lc.assign(ctx, t, task, began); err != nil {
			return err
		}
	}
	return nil
}

// RunOf returns the task's own command, as its metadata has it.
func RunOf(metadata map[string]json.RawMessage) (string, bool) {
	var line string
	raw, ok := metadata[RunKey]
	ok = ok && json.Unmarshal(raw, &line) == nil && line != ""
	return line, ok
}
