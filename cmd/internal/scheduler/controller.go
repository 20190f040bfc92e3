package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/runs"
)

// Times of a runController.
const (
	relook   = 2 * time.Second // between two looks without a hint
	quietAsk = 2 * time.Second // for a teammate to agree that it has nothing to do any more
)

// maxAttempts is how often a task is begun when its teammates get lost.
const maxAttempts = 3

// runController carries one run out.
type runController struct {
	s     *Scheduler
	place runs.Place
	log   *slog.Logger
	woken chan struct{}
	done  chan struct{}

	svc     *teams.Service
	taken   map[string]bool // the tasks that have a slot
	release func()          // lets the daemon end by itself, nil while it may
	hints   <-chan struct{}
	last    string               // the last trouble that was logged
	missing map[string]time.Time // since when the task of an item cannot be found
}

func newRunController(s *Scheduler, id string) *runController {
	return &runController{s: s, place: runs.Place{RunID: id}, woken: make(chan struct{}, 1), done: make(chan struct{}), log: s.Log.With("run", id),
		taken: map[string]bool{}, missing: map[string]time.Time{}}
}

// wake has it look again.
func (c *runController) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// run carries the run out until it is over, or ctx ends.
func (c *runController) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.hold(false)
	defer func() {
		c.s.slots.leave(c)
		for range c.taken {
			c.s.slots.give()
		}
	}()
	tick := time.Tick(relook)
	for {
		over, err := c.look(ctx)
		c.trouble(ctx, err)
		if over || ctx.Err() != nil {
			return
		}
		select {
		case <-c.woken:
		case _, ok := <-c.hints:
			if !ok {
				c.hints = nil
			}
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// trouble logs what went wrong, once: the next look tries again. While it lasts the
// daemon may end: the next one tries again, too.
func (c *runController) trouble(ctx context.Context, err error) {
	said := ""
	if err != nil {
		said = err.Error()
	}
	if said != "" && said != c.last && ctx.Err() == nil {
		c.log.Warn("carry a run out; it is tried again", "error", err)
	}
	if said != "" && said == c.last {
		c.hold(false)
	}
	c.last = said
}

// hold keeps the daemon up while there is something to do.
func (c *runController) hold(busy bool) {
	switch {
	case busy && c.release == nil:
		c.release = c.s.Hold()
	case !busy && c.release != nil:
		c.release()
		c.release = nil
	}
}

// prepare finds, once, where the run is carried out, and the verbs for it.
func (c *runController) prepare(ctx context.Context) error {
	if c.svc != nil {
		return nil
	}
	place, err := c.s.store.PlaceOf(ctx, c.place.RunID)
	if err != nil {
		return err
	}
	svc, err := c.s.Serve()
	if err == nil {
		c.place, c.svc = place, svc
	}
	return err
}

// look has one look at everything, and does what there is to do.
func (c *runController) look(ctx context.Context) (over bool, err error) {
	if err := c.prepare(ctx); err != nil {
		c.hold(false)
		return fault.CodeOf(err) == fault.RunNotFound, err
	}
	r, err := c.s.store.Run(ctx, c.place.RunID)
	if err != nil {
		c.s.slots.leave(c)
		return fault.CodeOf(err) == fault.RunNotFound, err
	}
	switch r.Status {
	case api.RunPending:
		c.hold(false)
		return false, c.start(ctx, r)
	case api.RunRunning, api.RunPaused:
		if err = c.step(ctx, r); err != nil {
			c.s.slots.leave(c) // nobody else waits until this run can be looked at
		}
		return false, err
	}
	c.hold(c.last == "") // after trouble the daemon may end: the next one tries again
	err = c.close(ctx, r)
	return err == nil, err
}

// start begins a run that has items: the team is made, and who is required is up.
func (c *runController) start(ctx context.Context, r api.AgentTeamRun) error {
	list, err := c.s.store.Items(ctx, api.ItemsParams{TeamRunID: r.ID, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	c.hold(true)
	t, err := c.s.store.Team(ctx, r.TeamID)
	if err != nil {
		return err
	}
	if err := c.makeTeam(ctx, t); err != nil {
		return c.fail(ctx, fmt.Errorf("make the team: %w", err))
	}
	members, err := c.s.store.Members(ctx, t.ID)
	if err != nil {
		return err
	}
	crew, err := c.crew(ctx, nil)
	if err != nil {
		return err
	}
	var workers []workerSlot
	for _, m := range members {
		if len(workers) < t.MaxParallelAgents && m.IsRequired && m.AgentRoleID != t.LeadAgentRoleID && m.AgentRoleID != runs.LeadRole {
			name := crew.free(m.AgentRoleID)
			crew.busy[name] = true
			workers = append(workers, workerSlot{name: name, role: m.AgentRoleID})
		}
	}
	for _, err := range c.startWorkers(ctx, t, workers) {
		if err != nil {
			return c.fail(ctx, fmt.Errorf("a required member: %w", err))
		}
	}
	_, err = c.s.store.Begin(ctx, r.ID)
	return err
}

func (c *runController) makeTeam(ctx context.Context, t api.AgentTeam) error {
	cwd := c.place.Cwd
	if cwd == "" {
		var err error
		if cwd, err = os.UserHomeDir(); err != nil {
			return err
		}
	}
	_, err := c.svc.CreateTeam(ctx, teams.TeamSpec{Name: c.place.LiveTeam, Once: true, Run: c.place.RunID, Description: clip("run of "+t.Name+": "+t.Description, 400), Cwd: cwd})
	if err != nil && fault.CodeOf(err) != fault.TeamExists { // it may have been made before a crash
		return err
	}
	list, err := c.s.store.Hooks(ctx, t.ID)
	if err != nil {
		return err
	}
	all := make([]hooks.Hook, 0, len(list))
	for _, h := range list {
		all = append(all, hooks.Hook{Event: h.Event, Command: h.Command, Dir: h.Dir, Timeout: time.Duration(h.TimeoutMs) * time.Millisecond, Source: h.Source})
	}
	return c.svc.KeepHooks(ctx, c.place.LiveTeam, all)
}

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// fail ends a run that cannot go on.
func (c *runController) fail(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return ctx.Err() // the daemon ends: the next one goes on
	}
	if passing(why) {
		return why
	}
	_, err := c.s.store.Fail(ctx, c.place.RunID, fault.Of(why).Message)
	return err
}

// cancel ends a run whose team somebody has ended.
func (c *runController) cancel(ctx context.Context, why string) error {
	_, err := c.s.store.Cancel(ctx, c.place.RunID, why)
	return err
}

// passing tells an error that the next look may not meet, or that it ends the run for: it
// is no item's end.
func passing(err error) bool {
	return slices.Contains([]fault.Code{fault.DiskFull, fault.LockTimeout, fault.TeamNotFound}, fault.CodeOf(err))
}

// step looks at what is under way, and begins what can begin.
func (c *runController) step(ctx context.Context, r api.AgentTeamRun) error {
	open, err := c.s.store.ActiveItems(ctx, r.ID)
	if err != nil {
		return err
	}
	c.account(open)
	if r.Status == api.RunPaused && len(open) == 0 { // perhaps it has no team yet
		c.s.slots.leave(c)
		c.hold(false)
		return nil
	}
	if c.hints == nil { // without them there is the ticker, and the look that follows says why
		c.hints, _ = c.svc.Hints(ctx, c.place.LiveTeam)
	}
	if pid, down := c.svc.TakenDown(c.place.LiveTeam, teams.Downer{}); down {
		return c.cancel(ctx, fmt.Sprintf("its team was taken down by process %d", pid))
	}
	snap, err := c.svc.Snapshot(ctx, c.place.LiveTeam)
	if fault.CodeOf(err) == fault.TeamNotFound {
		return c.cancel(ctx, "its team was taken down, or deleted")
	}
	if err != nil {
		return err
	}
	open, err = c.settle(ctx, r, open, snap)
	if err != nil {
		return err
	}
	if r.Status == api.RunPaused {
		c.s.slots.leave(c)
		c.hold(len(open) > 0)
		return nil
	}
	begun, err := c.begin(ctx, r, open, snap)
	if err != nil {
		return err
	}
	c.hold(len(open)+begun > 0)
	if len(open)+begun > 0 {
		return nil
	}
	if _, ended, err := c.s.store.Finish(ctx, r.ID); err != nil || ended {
		c.wake()
		return err
	}
	return nil
}

// account takes slots for what is under way, also since before a crash.
func (c *runController) account(open []runs.ActiveItem) {
	active := map[string]bool{}
	for _, f := range open {
		active[f.TaskID] = true
		if !c.taken[f.TaskID] {
			c.s.slots.retake()
			c.taken[f.TaskID] = true
		}
	}
	for id := range c.taken {
		if !active[id] {
			delete(c.taken, id)
			c.s.slots.give()
		}
	}
}

// close ends the teammates of a run that is over. A team that has done everything, or
// in which nobody was, is removed; else it stays to be looked at. Only when all are gone is the run left.
func (c *runController) close(ctx context.Context, r api.AgentTeamRun) error {
	c.s.slots.leave(c)
	c.account(nil)
	workers, err := c.s.store.WorkerRoles(ctx, r.ID)
	if err != nil {
		return err
	}
	keep := r.Status != api.RunCompleted && len(workers) > 0
	ends, err := c.svc.Down(ctx, c.place.LiveTeam, teams.StopOptions{Ask: quietAsk, Force: true, Reason: "the run is " + r.Status}, keep)
	if err == nil {
		err = teams.Verdict(ends)
	}
	if err != nil && fault.CodeOf(err) != fault.TeamNotFound {
		return err
	}
	return c.s.store.Left(ctx, r.ID)
}
