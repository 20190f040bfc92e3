package runs

import (
	"context"
	"database/sql"
	"errors"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
)

// MoveItem puts an item to another place of the checklist, or below another
// parent.
func (s *Store) MoveItem(ctx context.Context, p api.ItemMove) (it api.AgentTeamItem, err error) {
	err = s.change(ctx, "move an item", func(c *change) error {
		if it, err = item(ctx, c.tx, p.ID); err != nil {
			return err
		}
		if _, err := c.openRun(it.TeamRunID); err != nil {
			return err
		}
		was := it.ParentItemID
		set(&it.ParentItemID, p.ParentItemID)
		if it.ParentItemID != was && it.ParentItemID != "" {
			if err := c.checkParent(it); err != nil {
				return err
			}
		}
		if it.SortOrder, err = c.position(it, p); err != nil {
			return err
		}
		if err := c.saveItem(&it, api.EvItemMoved); err != nil || it.ParentItemID == was {
			return err
		}
		return errors.Join(c.follow(was), c.follow(it.ParentItemID))
	})
	return it, err
}

// position is the number of the place that an item is to be moved to.
func (c *change) position(it api.AgentTeamItem, p api.ItemMove) (int64, error) {
	n := 0
	for _, given := range []bool{p.SortOrder != nil, p.BeforeID != "", p.AfterID != ""} {
		if given {
			n++
		}
	}
	switch {
	case n > 1 || n == 0 && p.ParentItemID == nil:
		return 0, fault.New(fault.InvalidArgument, "a move takes one of sortOrder, beforeId and afterId, or a parentItemId")
	case p.SortOrder != nil:
		return *p.SortOrder, nil
	case n == 0:
		return it.SortOrder, nil
	}
	return c.between(it, p.BeforeID, p.AfterID)
}

// between finds a number beside another item, and makes room if there is none.
func (c *change) between(it api.AgentTeamItem, before, after string) (int64, error) {
	for range 2 {
		other, err := item(c.ctx, c.tx, before+after)
		switch {
		case err != nil:
			return 0, err
		case other.TeamRunID != it.TeamRunID:
			return 0, fault.New(fault.Rejected, "%q is an item of another run", clip(other.Title))
		case other.ID == it.ID:
			return it.SortOrder, nil
		}
		query, step := `SELECT min(sort_order) FROM agent_team_items WHERE team_run_id = ? AND sort_order >= ? AND id NOT IN (?, ?) AND (sort_order, id) > (?, ?)`, int64(gap)
		if before != "" {
			query, step = `SELECT max(sort_order) FROM agent_team_items WHERE team_run_id = ? AND sort_order <= ? AND id NOT IN (?, ?) AND (sort_order, id) < (?, ?)`, -gap
		}
		var next sql.NullInt64
		if err := c.tx.QueryRowContext(c.ctx, query, it.TeamRunID, other.SortOrder, other.ID, it.ID, other.SortOrder, other.ID).Scan(&next); err != nil {
			return 0, err
		}
		if !next.Valid {
			return other.SortOrder + step, nil
		}
		if d := next.Int64 - other.SortOrder; d > 1 || d < -1 {
			return other.SortOrder + d/2, nil
		}
		if _, err := c.exec(`UPDATE agent_team_items SET sort_order = n.place * ? FROM
			(SELECT id, row_number() OVER (ORDER BY sort_order, id) AS place FROM agent_team_items WHERE team_run_id = ?) n WHERE n.id = agent_team_items.id`, gap, it.TeamRunID); err != nil {
			return 0, err
		}
	}
	return 0, fault.New(fault.Failed, "no room beside the item")
}
