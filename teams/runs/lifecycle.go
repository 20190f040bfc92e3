package runs

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

const runColumns = `id, team_id, root_task_id, status, started_at, coalesce(completed_at, 0), coalesce(error, ''), coalesce(summary, ''),
	EXISTS (SELECT 1 FROM run_places p WHERE p.run_id = agent_team_runs.id AND NOT p.scheduled)`

func scanRun(scan func(...any) error) (r api.AgentTeamRun, err error) {
	err = scan(&r.ID, &r.TeamID, &r.RootTaskID, &r.Status, &r.StartedAt, &r.CompletedAt, &r.Error, &r.Summary, &r.Recorded)
	return r, err
}

func run(ctx context.Context, q querier, id string) (api.AgentTeamRun, error) {
	return one(ctx, q, scanRun, noRun, `SELECT `+runColumns+` FROM agent_team_runs WHERE id = ?`, id)
}

// Run returns a run: fault.RunNotFound.
func (s *Store) Run(ctx context.Context, id string) (api.AgentTeamRun, error) {
	return run(ctx, s.db, id)
}

// FindRun returns the run with an id, or with the only id that begins so.
func (s *Store) FindRun(ctx context.Context, id string) (api.AgentTeamRun, error) {
	return found(ctx, s, "agent_team_runs", id, noRun, run)
}

// FindItem returns the item with an id, or with the only id that begins so.
func (s *Store) FindItem(ctx context.Context, id string) (api.AgentTeamItem, error) {
	return found(ctx, s, "agent_team_items", id, noItem, item)
}

func found[T any](ctx context.Context, s *Store, table, id string, none func(string) error, get func(context.Context, querier, string) (T, error)) (v T, err error) {
	if id, err = s.find(ctx, table, id, none); err != nil {
		return v, err
	}
	return get(ctx, s.db, id)
}

// FullID completes the beginning of the id of a run, FullTaskID that of a task, and
// FullItemID that of an item. The empty id stays so.
func (s *Store) FullID(ctx context.Context, id string) (string, error) {
	return s.full(ctx, "agent_team_runs", id, noRun)
}

// FullTaskID: see FullID.
func (s *Store) FullTaskID(ctx context.Context, id string) (string, error) {
	return s.full(ctx, "tasks", id, noTask)
}

// FullItemID: see FullID.
func (s *Store) FullItemID(ctx context.Context, id string) (string, error) {
	return s.full(ctx, "agent_team_items", id, noItem)
}

func (s *Store) full(ctx context.Context, table, id string, none func(string) error) (string, error) {
	if id == "" {
		return "", nil
	}
	return s.find(ctx, table, id, none)
}

// find completes the beginning of an id.
func (s *Store) find(ctx context.Context, table, id string, none func(string) error) (string, error) {
	list, err := all(ctx, s.db, scanID, `SELECT id FROM `+table+` WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT 2`, id)
	switch {
	case err != nil:
		return "", err
	case len(list) == 0 || id == "":
		return "", none(id)
	case len(list) > 1 && list[0] != id:
		return "", fault.New(fault.InvalidArgument, "several ids begin with %q", clip(id)).WithHint("give more of it")
	}
	return list[0], nil
}

// runsListed is how many runs a list has if nobody says.
const runsListed = 100

// Runs lists runs, the newest first.
func (s *Store) Runs(ctx context.Context, p api.RunsParams) ([]api.AgentTeamRun, error) {
	if p.Limit <= 0 {
		p.Limit = runsListed
	}
	return all(ctx, s.db, scanRun, `SELECT `+runColumns+` FROM agent_team_runs WHERE (?1 = '' OR team_id = ?1)
		ORDER BY started_at DESC, rowid DESC LIMIT ?2`, p.TeamID, p.Limit)
}

// CreateRun creates a run, in the lead's name, with its first items.
func (s *Store) CreateRun(ctx context.Context, p api.RunCreateParams) (r api.AgentTeamRun, err error) {
	if p.Cwd != "" && !filepath.IsAbs(p.Cwd) {
		return r, fault.New(fault.InvalidArgument, "cwd %q is not an absolute path", clip(p.Cwd)).WithHint("the daemon does not work where you do")
	}
	err = s.change(ctx, "create a run", func(c *change) error {
		t, err := team(ctx, c.tx, p.TeamID)
		if err != nil {
			return err
		}
		if !t.IsActive {
			return fault.New(fault.Rejected, "the team %q is retired", clip(t.Name)).WithHint("leadlight run create with its team file brings it back, or team:update with isActive true")
		}
		r = api.AgentTeamRun{ID: newID(), TeamID: t.ID, RootTaskID: cmp.Or(p.RootTaskID, newID()), Status: api.RunPending, StartedAt: c.now}
		if p.RootTaskID != "" {
			root, err := task(ctx, c.tx, p.RootTaskID)
			if err == nil {
				err = c.checkGiven(root, "")
			}
			if err != nil {
				return err
			}
		}
		if err := c.insertRun(t, r, Place{LiveTeam: liveName(t.Name, r.ID), Cwd: p.Cwd, Scheduled: true}); err != nil {
			return err
		}
		c.sayRun(api.EvRunCreated, r)
		return c.firstItems(r.ID, p.Items)
	})
	return r, err
}

// insertRun writes a new run, its root task, unless that is there, and where it is carried out.
func (c *change) insertRun(t api.AgentTeam, r api.AgentTeamRun, at Place) error {
	if err := c.exec(`INSERT INTO tasks (id, title, status, assignee, started_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET status = excluded.status, assignee = excluded.assignee, started_at = excluded.started_at`, r.RootTaskID, t.Name, api.ItemInProgress, t.LeadAgentRoleID, r.StartedAt); err != nil {
		return err
	}
	if err := c.exec(`INSERT INTO agent_team_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.TeamID, r.RootTaskID, r.Status, r.StartedAt, null(r.CompletedAt), null(r.Error), null(r.Summary)); err != nil {
		return err
	}
	return c.exec(`INSERT INTO run_places (run_id, live_team, cwd, scheduled) VALUES (?, ?, ?, ?)`, r.ID, at.LiveTeam, at.Cwd, at.Scheduled)
}

func (c *change) sayRun(event string, r api.AgentTeamRun) {
	c.say(api.TeamRunEvent{Type: event, TeamID: r.TeamID, TeamRunID: r.ID, Run: &r})
}

// liveName is a name for a run's teammates' team that no other run has and that a
// team may have.
func liveName(team, id string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(team) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := b.String()
	return strings.Trim(cmp.Or(name[:min(len(name), 40)], "run"), "-") + "-" + strings.ReplaceAll(id, "-", "")[:8]
}

func (c *change) firstItems(runID string, specs []api.ItemSpec) error {
	ids := make([]string, len(specs))
	for i := range specs {
		ids[i] = newID()
	}
	for i, spec := range specs {
		p := api.ItemParams{TeamRunID: runID, Title: spec.Title, Description: spec.Description, OwnerAgentRoleID: spec.OwnerAgentRoleID}
		if err := c.insertItem(ids[i], p); err != nil {
			return err
		}
		if spec.Run != "" {
			if err := checkText("command", spec.Run, maxText); err != nil {
				return err
			}
			if err := c.exec(`INSERT INTO item_commands VALUES (?, ?)`, ids[i], spec.Run); err != nil {
				return err
			}
		}
	}
	for i, spec := range specs {
		for _, n := range spec.BlockedBy {
			if n < 1 || n > len(ids) || n == i+1 {
				return fault.New(fault.InvalidArgument, "item %d is blocked by item %d, which is not another one of the list", i+1, n)
			}
			if err := c.block(ids[i], ids[n-1]); err != nil {
				return err
			}
		}
	}
	for _, id := range ids { // all at once, so that each is emitted as it is in the end
		if _, err := c.created(id); err != nil {
			return err
		}
	}
	return nil
}

// Pause lets no new work begin; what runs goes on to its end.
func (s *Store) Pause(ctx context.Context, id string) (api.AgentTeamRun, error) {
	return s.step(ctx, id, api.RunPaused, "")
}

// Resume lets a paused run go on.
func (s *Store) Resume(ctx context.Context, id string) (r api.AgentTeamRun, err error) {
	err = s.change(ctx, "resume a run", func(c *change) error {
		if r, err = run(ctx, c.tx, id); err != nil {
			return err
		}
		if r.Status != api.RunPaused {
			return fault.New(fault.Rejected, "the run is %s, not paused", r.Status)
		}
		to := api.RunRunning
		if n, err := c.count(`SELECT count(*) FROM run_places WHERE run_id = ? AND begun`, id); err != nil {
			return err
		} else if n == 0 {
			to = api.RunPending // it has not begun
		}
		return c.stepRun(&r, to, "")
	})
	return r, err
}

// Cancel ends a run: what is under way has failed, what was to come stays as it is. why, if
// not empty, says what made it end.
func (s *Store) Cancel(ctx context.Context, id, why string) (api.AgentTeamRun, error) {
	return s.step(ctx, id, api.RunCancelled, why)
}

// Begin says that a run is under way. One that was paused meanwhile is not.
func (s *Store) Begin(ctx context.Context, id string) (r api.AgentTeamRun, err error) {
	err = s.change(ctx, "begin a run", func(c *change) error {
		if r, err = run(ctx, c.tx, id); err != nil {
			return err
		}
		if r.Status != api.RunPending {
			return fault.New(fault.Rejected, "the run is %s, not pending", r.Status)
		}
		return c.stepRun(&r, api.RunRunning, "")
	})
	return r, err
}

// Fail ends a run that cannot go on; why says why.
func (s *Store) Fail(ctx context.Context, id, why string) (api.AgentTeamRun, error) {
	return s.step(ctx, id, api.RunFailed, why)
}

func (s *Store) step(ctx context.Context, id, to, why string) (r api.AgentTeamRun, err error) {
	err = s.change(ctx, "change a run", func(c *change) error {
		if r, err = run(ctx, c.tx, id); err != nil {
			return err
		}
		if r.Recorded {
			return fault.New(fault.Rejected, "the run was begun by leadlight up, or by a lead, which carries it out itself").WithHint("interrupt that process, or use leadlight down")
		}
		return c.stepRun(&r, to, why)
	})
	return r, err
}

// stepRun changes a run's status, as the table allows.
func (c *change) stepRun(r *api.AgentTeamRun, to, why string) error {
	if err := runTransitions().check("the run", r.Status, to, runStatuses()); err != nil {
		return err
	}
	if r.Status == api.RunPending && to == api.RunRunning {
		r.StartedAt = c.now
		if err := c.exec(`UPDATE run_places SET begun = 1 WHERE run_id = ?`, r.ID); err != nil {
			return err
		}
	}
	r.Status, r.Error = to, why
	if r.Final() {
		r.CompletedAt = c.now
		if err := c.close(r); err != nil {
			return err
		}
	}
	err := c.exec(`UPDATE agent_team_runs SET status = ?, started_at = ?, completed_at = ?, error = ?, summary = ? WHERE id = ?`,
		r.Status, r.StartedAt, null(r.CompletedAt), null(r.Error), null(r.Summary), r.ID)
	c.sayRun(api.EvRunUpdated, *r)
	return err
}

// close ends what is under way in a run that ends, and sums it up.
func (c *change) close(r *api.AgentTeamRun) error {
	before, err := tally(c.ctx, c.tx, r.ID)
	if err != nil {
		return err
	}
	open, err := activeItems(c.ctx, c.tx, r.ID)
	if err != nil {
		return err
	}
	for _, f := range open {
		if err := c.complete(f, api.ItemFailed, unfinished(r)); err != nil {
			return err
		}
	}
	if err := c.failByHand(r); err != nil {
		return err
	}
	tally, err := tally(c.ctx, c.tx, r.ID)
	if err != nil {
		return err
	}
	if cut := tally[api.ItemFailed] - before[api.ItemFailed]; cut > 0 { // they failed at nothing but the run's end
		tally[api.ItemFailed] -= cut
		tally[cutOff] = cut
	}
	r.Summary = summary(tally)
	return c.closeRoot(*r)
}

// failByHand ends what else is in progress in a run that ends: what people do, and then
// what follows parts that will not all be done any more.
func (c *change) failByHand(r *api.AgentTeamRun) error {
	for {
		list, err := all(c.ctx, c.tx, scanItem, `SELECT `+itemColumns+` FROM agent_team_items i WHERE i.team_run_id = ? AND i.status = 'in_progress' AND NOT EXISTS
			(SELECT 1 FROM agent_team_items part WHERE part.parent_item_id = i.id AND part.status = 'in_progress') LIMIT 1`, r.ID)
		if err != nil || len(list) == 0 {
			return err
		}
		it := list[0]
		it.Status, it.ResultSummary = api.ItemFailed, unfinished(r)
		if err := c.saveItem(&it, api.EvItemUpdated); err != nil {
			return err
		}
	}
}

func unfinished(r *api.AgentTeamRun) string { return "the run was " + r.Status + " before it was done" }

// closeRoot ends the root task of a run that has ended.
func (c *change) closeRoot(r api.AgentTeamRun) error {
	status := map[string]string{api.RunCompleted: api.ItemDone}[r.Status]
	return c.exec(`UPDATE tasks SET status = ?, result_summary = ?, completed_at = ? WHERE id = ?`, cmp.Or(status, api.ItemFailed), null(cmp.Or(r.Error, r.Summary)), r.CompletedAt, r.RootTaskID)
}

// cutOff is in a summary what had begun when the run ended.
const cutOff = "cut off"

// summary says how the items of a run stand.
func summary(tally map[string]int) string {
	total := 0
	for _, n := range tally {
		total += n
	}
	parts := []string{strconv.Itoa(tally[api.ItemDone]) + " of " + strconv.Itoa(total) + " items done"}
	for _, status := range []string{api.ItemFailed, cutOff, api.ItemBlocked, api.ItemInProgress, api.ItemTodo} {
		if n := tally[status]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+strings.ReplaceAll(status, "_", " "))
		}
	}
	return strings.Join(parts, ", ")
}

// leaf is the condition on an item that has no children: only those are carried
// out and counted.
const leaf = `NOT EXISTS (SELECT 1 FROM agent_team_items child WHERE child.parent_item_id = i.id)`

// tally counts a run's items without children by their status.
func tally(ctx context.Context, q querier, runID string) (map[string]int, error) {
	type row struct {
		status string
		n      int
	}
	list, err := all(ctx, q, func(scan func(...any) error) (r row, err error) {
		err = scan(&r.status, &r.n)
		return r, err
	}, `SELECT i.status, count(*) FROM agent_team_items i WHERE i.team_run_id = ? AND `+leaf+` GROUP BY i.status`, runID)
	out := map[string]int{}
	for _, r := range list {
		out[r.status] = r.n
	}
	return out, err
}

func (c *change) count(query string, args ...any) (n int, err error) {
	err = c.tx.QueryRowContext(c.ctx, query, args...).Scan(&n)
	return n, err
}
