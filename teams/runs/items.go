package runs

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// gap is left between the numbers of two items, for others to be put between.
const gap = 1 << 10

const itemColumns = `i.id, i.team_run_id, coalesce(i.parent_item_id, ''), i.title, coalesce(i.description, ''), coalesce(i.owner_agent_role_id, ''),
	coalesce(i.source_task_id, ''), i.status, coalesce(i.result_summary, ''), i.sort_order, i.created_at, i.updated_at,
	coalesce((SELECT group_concat(b.blocker_id) FROM item_blockers b WHERE b.item_id = i.id), '')`

func scanItem(scan func(...any) error) (it api.AgentTeamItem, err error) {
	var blockers string
	err = scan(&it.ID, &it.TeamRunID, &it.ParentItemID, &it.Title, &it.Description, &it.OwnerAgentRoleID,
		&it.SourceTaskID, &it.Status, &it.ResultSummary, &it.SortOrder, &it.CreatedAt, &it.UpdatedAt, &blockers)
	if blockers != "" {
		it.BlockedBy = strings.Split(blockers, ",")
	}
	return it, err
}

func item(ctx context.Context, q querier, id string) (api.AgentTeamItem, error) {
	return one(ctx, q, scanItem, noItem, `SELECT `+itemColumns+` FROM agent_team_items i WHERE i.id = ?`, id)
}

func items(ctx context.Context, q querier, runID string) ([]api.AgentTeamItem, error) {
	return all(ctx, q, scanItem, `SELECT `+itemColumns+` FROM agent_team_items i WHERE i.team_run_id = ? ORDER BY i.sort_order, i.id`, runID)
}

// Items lists a run's checklist, or a page of it.
func (s *Store) Items(ctx context.Context, p api.ItemsParams) ([]api.AgentTeamItem, error) {
	if _, err := s.Run(ctx, p.TeamRunID); err != nil {
		return nil, err
	}
	if p.Limit <= 0 {
		p.Limit = -1
	}
	from, id := int64(-1<<63), ""
	if p.After != "" {
		last, err := item(ctx, s.db, p.After)
		if err != nil {
			return nil, err
		}
		from, id = last.SortOrder, last.ID
	}
	return all(ctx, s.db, scanItem, `SELECT `+itemColumns+` FROM agent_team_items i WHERE i.team_run_id = ? AND (i.sort_order, i.id) > (?, ?)
		ORDER BY i.sort_order, i.id LIMIT ?`, p.TeamRunID, from, id, p.Limit)
}

// Item returns one item: fault.ItemNotFound.
func (s *Store) Item(ctx context.Context, id string) (api.AgentTeamItem, error) {
	return item(ctx, s.db, id)
}

// CreateItem adds an item to a run that is not over.
func (s *Store) CreateItem(ctx context.Context, p api.ItemParams) (it api.AgentTeamItem, err error) {
	err = s.change(ctx, "add an item", func(c *change) error {
		id := newID()
		if err := c.insertItem(id, p); err != nil {
			return err
		}
		for _, b := range p.BlockedBy {
			if err := c.block(id, b); err != nil {
				return err
			}
		}
		it, err = c.created(id)
		return err
	})
	return it, err
}

// insertItem writes a new item. What it waits for may follow, then created.
func (c *change) insertItem(id string, p api.ItemParams) error {
	it := api.AgentTeamItem{ID: id, TeamRunID: p.TeamRunID, ParentItemID: p.ParentItemID, Title: p.Title, Description: p.Description,
		OwnerAgentRoleID: p.OwnerAgentRoleID, Status: api.ItemTodo, CreatedAt: c.now, UpdatedAt: c.now}
	if err := c.checkOpen(p.TeamRunID); err != nil {
		return err
	}
	if err := c.checkItem(it); err != nil {
		return err
	}
	err := c.giveSource(&it, p.SourceTaskID)
	if err == nil && it.ParentItemID != "" {
		err = c.checkParent(it)
	}
	if err != nil {
		return err
	}
	if p.SortOrder != nil {
		it.SortOrder, err = *p.SortOrder, checkOrder("sortOrder", *p.SortOrder)
	} else {
		it.SortOrder, err = c.atEnd(it.TeamRunID)
	}
	if err != nil {
		return err
	}
	return c.exec(`INSERT INTO agent_team_items VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)`, it.ID, it.TeamRunID, null(it.ParentItemID), it.Title,
		null(it.Description), null(it.OwnerAgentRoleID), null(it.SourceTaskID), it.Status, it.SortOrder, it.CreatedAt, it.UpdatedAt)
}

// created tells of a new item, now that all that belongs to it is written, and lets
// its parent follow.
func (c *change) created(id string) (api.AgentTeamItem, error) {
	it, err := item(c.ctx, c.tx, id)
	if err != nil {
		return it, err
	}
	if it.Status, err = c.waiting(it); err != nil {
		return it, err
	}
	if err := c.exec(`UPDATE agent_team_items SET status = ? WHERE id = ?`, it.Status, id); err != nil {
		return it, err
	}
	if err := c.sayItem(api.EvItemCreated, new(it)); err != nil {
		return it, err
	}
	return it, c.follow(it.ParentItemID)
}

// checkOpen refuses a run whose checklist may not change.
func (c *change) checkOpen(id string) error {
	r, err := run(c.ctx, c.tx, id)
	switch {
	case err == nil && r.Final():
		err = fault.New(fault.Rejected, "the run is %s: its checklist does not change any more", r.Status).WithHint("leadlight run create begins another run")
	case err == nil && r.Recorded:
		err = fault.New(fault.Rejected, "the run is carried out by leadlight up, or by a lead: this is only its record").WithHint("leadlight task changes its tasks")
	}
	return err
}

func (c *change) checkItem(it api.AgentTeamItem) error {
	if err := checkText("title", it.Title, maxTitle); err != nil {
		return err
	}
	if err := checkText("text", it.Description+it.ResultSummary, maxText); err != nil {
		return err
	}
	if it.OwnerAgentRoleID == "" {
		return nil
	}
	return c.checkOwner(it)
}

// checkOwner refuses an owner that nobody of the team is: it is a member of it, a
// profile, or the lead.
func (c *change) checkOwner(it api.AgentTeamItem) error {
	r, err := role(c.ctx, c.tx, it.OwnerAgentRoleID)
	if err != nil || r.ID == LeadRole || r.Profile == r.ID {
		return err
	}
	n, err := c.count(`SELECT count(*) FROM agent_team_runs r JOIN agent_teams t ON t.id = r.team_id WHERE r.id = ?1
		AND (t.lead_agent_role_id = ?2 OR EXISTS (SELECT 1 FROM agent_team_members m WHERE m.team_id = t.id AND m.agent_role_id = ?2))`, it.TeamRunID, r.ID)
	if err == nil && n == 0 {
		err = fault.New(fault.Rejected, "the role %q is no member of the run's team: nobody would carry the item out", clip(r.ID)).WithHint("it takes a member of that team, a profile, or the lead; leadlight run team ls lists the members")
	}
	return err
}

// checkParent refuses a parent of another run, one that cannot have parts, and one
// that must be done before its part.
func (c *change) checkParent(it api.AgentTeamItem) error {
	above, err := item(c.ctx, c.tx, it.ParentItemID)
	switch {
	case err != nil:
		return err
	case above.TeamRunID != it.TeamRunID:
		return fault.New(fault.Rejected, "the parent %q is an item of another run", clip(above.Title))
	case above.ID == it.ID:
		return fault.New(fault.Rejected, "the item would be its own ancestor")
	case len(above.BlockedBy) > 0:
		return fault.New(fault.Rejected, "%q waits for other items: it cannot have parts", clip(above.Title)).WithHint("let the parts of another item wait for those")
	}
	if circle, err := c.needs(it.ID, above.ID); err != nil || circle {
		return cmp.Or[error](err, fault.New(fault.Rejected, "%q has to be done before %q, and cannot follow it", clip(above.Title), clip(it.Title)))
	}
	if n, err := c.count(countParts, above.ID); err != nil || n > 0 {
		return err // it has followed others before
	}
	if above.Status == api.ItemDone {
		return fault.New(fault.Rejected, "%q is done: it cannot get parts any more", clip(above.Title))
	}
	return c.free(above, "given parts")
}

// UpdateItem changes an item; its status only as the table allows. One that a
// teammate works on, or that follows its children, has the status that it has.
func (s *Store) UpdateItem(ctx context.Context, p api.ItemChange) (it api.AgentTeamItem, err error) {
	err = s.change(ctx, "change an item", func(c *change) error {
		if it, err = item(ctx, c.tx, p.ID); err != nil {
			return err
		}
		if err := c.checkOpen(it.TeamRunID); err != nil {
			return err
		}
		set(&it.Title, p.Title)
		set(&it.Description, p.Description)
		set(&it.ResultSummary, p.ResultSummary)
		if p.OwnerAgentRoleID != nil || p.Status != nil || p.ResultSummary != nil || p.SourceTaskID != nil {
			if err := c.free(it, "changed"); err != nil {
				return err
			}
		}
		if p.SourceTaskID != nil {
			if err := c.giveSource(&it, *p.SourceTaskID); err != nil {
				return err
			}
		}
		set(&it.OwnerAgentRoleID, p.OwnerAgentRoleID)
		if p.Status != nil && *p.Status != it.Status {
			if err := c.byHand(it, *p.Status); err != nil {
				return err
			}
			it.Status = *p.Status
		}
		if err := errors.Join(c.checkItem(it), c.checkBegun(it)); err != nil {
			return err
		}
		return c.saveItem(&it, api.EvItemUpdated)
	})
	return it, err
}

// checkBegun refuses an item that a person has in progress and a teammate owns: who owns
// it would not begin it, and nobody else would end it.
func (c *change) checkBegun(it api.AgentTeamItem) error {
	if it.Status != api.ItemInProgress || it.OwnerAgentRoleID == "" || it.OwnerAgentRoleID == LeadRole {
		return nil
	}
	n, err := c.count(`SELECT count(*) FROM agent_team_items i JOIN agent_team_runs r ON r.id = i.team_run_id JOIN agent_teams t ON t.id = r.team_id
		WHERE i.id = ?1 AND t.lead_agent_role_id != ?2 AND `+leaf+` AND NOT EXISTS
		(SELECT 1 FROM tasks k WHERE k.id = i.source_task_id AND k.completed_at IS NULL AND k.assignee IS NOT NULL)`, it.ID, it.OwnerAgentRoleID)
	if err == nil && n > 0 {
		err = fault.New(fault.Rejected, "%q is carried out by a teammate, who begins it", clip(it.Title)).
			WithHint("to do it by hand, make the lead its owner; to give it to a teammate, make it todo")
	}
	return err
}

// free refuses to touch what a teammate works on.
func (c *change) free(it api.AgentTeamItem, how string) error {
	if it.SourceTaskID == "" {
		return nil
	}
	var who string
	err := c.tx.QueryRowContext(c.ctx, `SELECT assignee FROM tasks WHERE id = ? AND completed_at IS NULL AND assignee IS NOT NULL`, it.SourceTaskID).Scan(&who)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = fault.New(fault.Rejected, "%s works on %q: it cannot be %s now", who, clip(it.Title), how).WithHint("wait for its end, or cancel the run")
	}
	return err
}

// byHand checks a status that somebody gives an item.
func (c *change) byHand(it api.AgentTeamItem, status string) error {
	if err := itemTransitions().check("the item", it.Status, status, itemStatuses()); err != nil {
		return err
	}
	if n, err := c.count(countParts, it.ID); err != nil || n > 0 {
		return cmp.Or[error](err, fault.New(fault.Rejected, "%q follows its %d children", clip(it.Title), n).WithHint("change those"))
	}
	if status == api.ItemTodo || status == api.ItemInProgress {
		if n, err := c.count(openBlockers, it.ID); err != nil || n > 0 {
			return cmp.Or[error](err, fault.New(fault.Rejected, "%q is blocked by %d items that are not done", clip(it.Title), n))
		}
	}
	return nil
}

// saveItem writes an item and lets those follow that depend on it.
func (c *change) saveItem(it *api.AgentTeamItem, event string) error {
	it.UpdatedAt = c.now
	err := c.exec(`UPDATE agent_team_items SET parent_item_id = ?, title = ?, description = ?, owner_agent_role_id = ?, source_task_id = ?, status = ?,
		result_summary = ?, sort_order = ?, updated_at = ? WHERE id = ?`, null(it.ParentItemID), it.Title, null(it.Description), null(it.OwnerAgentRoleID),
		null(it.SourceTaskID), it.Status, null(it.ResultSummary), it.SortOrder, it.UpdatedAt, it.ID)
	if err != nil {
		return err
	}
	if err := c.tellTask(*it); err != nil {
		return err
	}
	if err := c.sayItem(event, new(*it)); err != nil {
		return err
	}
	if event == api.EvItemMoved {
		return nil
	}
	waiting, err := all(c.ctx, c.tx, scanID, `SELECT item_id FROM item_blockers WHERE blocker_id = ?`, it.ID)
	if err != nil {
		return err
	}
	for _, id := range waiting {
		if err := c.unblock(id, false); err != nil {
			return err
		}
	}
	return c.follow(it.ParentItemID)
}

func (c *change) sayItem(event string, it *api.AgentTeamItem) error {
	r, err := run(c.ctx, c.tx, it.TeamRunID)
	c.say(api.TeamRunEvent{Type: event, TeamID: r.TeamID, TeamRunID: r.ID, Item: it})
	return err
}

func scanID(scan func(...any) error) (id string, err error) {
	err = scan(&id)
	return id, err
}

// DeleteItem removes an item that has no children and that nobody works on.
func (s *Store) DeleteItem(ctx context.Context, id string) error {
	return s.change(ctx, "delete an item", func(c *change) error {
		it, err := item(ctx, c.tx, id)
		if err != nil {
			return err
		}
		if err := c.checkOpen(it.TeamRunID); err != nil {
			return err
		}
		if err := c.free(it, "deleted"); err != nil {
			return err
		}
		if n, err := c.count(countParts, id); err != nil || n > 0 {
			return cmp.Or[error](err, fault.New(fault.Rejected, "%q has %d children", clip(it.Title), n).WithHint("delete or move those first"))
		}
		waiting, err := all(ctx, c.tx, scanID, `SELECT item_id FROM item_blockers WHERE blocker_id = ?`, id)
		if err != nil {
			return err
		}
		if err := c.exec(`DELETE FROM agent_team_items WHERE id = ?`, id); err != nil {
			return err
		}
		if err := c.sayItem(api.EvItemDeleted, &it); err != nil {
			return err
		}
		for _, other := range waiting {
			if err := c.unblock(other, true); err != nil {
				return err
			}
		}
		return c.follow(it.ParentItemID)
	})
}
