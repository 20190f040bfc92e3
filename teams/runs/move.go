package runs

import (
	"context"
	"database/sql"
	"errors"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// MoveItem puts an item to another place of the checklist, or below another
// parent.
func (s *Store) MoveItem(ctx context.Context, p api.ItemMove) (it api.AgentTeamItem, err error) {
	err = s.change(ctx, "move an item", func(c *change) error {
		if it, err = item(ctx, c.tx, p.ID); err != nil {
			return err
		}
		if err := c.checkOpen(it.TeamRunID); err != nil {
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
		return *p.SortOrder, checkOrder("sortOrder", *p.SortOrder)
	case n == 0:
		return it.SortOrder, nil
	}
	return c.between(it, p.BeforeID, p.AfterID)
}

// maxOrder bounds the numbers by which things are put in order: programs in
// JavaScript and many readers of JSON know no larger ones exactly.
const maxOrder = 1<<53 - 1

func checkOrder(what string, n int64) error {
	if n < -maxOrder || n > maxOrder {
		return fault.New(fault.InvalidArgument, "%s is %d; it takes %d to %d", what, n, int64(-maxOrder), int64(maxOrder))
	}
	return nil
}

// atEnd is the number of a new item at the end of a checklist.
func (c *change) atEnd(runID string) (n int64, err error) {
	for range 2 {
		if err = c.tx.QueryRowContext(c.ctx, `SELECT coalesce(max(sort_order), 0) + ? FROM agent_team_items WHERE team_run_id = ?`, gap, runID).Scan(&n); err != nil || n <= maxOrder {
			return n, err
		}
		if err = c.renumber(runID); err != nil {
			return 0, err
		}
	}
	return n, checkOrder("sortOrder", n)
}

// between finds a number beside another item, and makes room if there is none.
func (c *change) between(it api.AgentTeamItem, before, after string) (int64, error) {
	for range 3 {
		other, err := item(c.ctx, c.tx, before+after)
		switch {
		case err != nil:
			return 0, err
		case other.TeamRunID != it.TeamRunID:
			return 0, fault.New(fault.Rejected, "%q is an item of another run", clip(other.Title))
		case other.ID == it.ID:
			return it.SortOrder, nil
		}
		low, high, err := c.beside(it, other, before != "")
		if err != nil {
			return 0, err
		}
		if high-low > 1 {
			return low + (high-low)/2, nil
		}
		if err := c.push(it, other, before != "", low); err != nil {
			return 0, err
		}
	}
	return 0, fault.New(fault.Failed, "no room beside the item")
}

// beside are the numbers between which an item belongs that comes before or after
// another one.
func (c *change) beside(it, other api.AgentTeamItem, before bool) (low, high int64, err error) {
	query := `SELECT min(sort_order) FROM agent_team_items WHERE team_run_id = ? AND sort_order >= ? AND id NOT IN (?, ?) AND (sort_order, id) > (?, ?)`
	if before {
		query = `SELECT max(sort_order) FROM agent_team_items WHERE team_run_id = ? AND sort_order <= ? AND id NOT IN (?, ?) AND (sort_order, id) < (?, ?)`
	}
	var next sql.NullInt64
	if err := c.tx.QueryRowContext(c.ctx, query, it.TeamRunID, other.SortOrder, other.ID, it.ID, other.SortOrder, other.ID).Scan(&next); err != nil {
		return 0, 0, err
	}
	low, high = other.SortOrder, min(other.SortOrder+2*gap, maxOrder+1)
	if before {
		low, high = max(other.SortOrder-2*gap, -maxOrder-1), other.SortOrder
	}
	if next.Valid && before {
		low = next.Int64
	} else if next.Valid {
		high = next.Int64
	}
	return low, high, nil
}

// smallStep is how far an item is pushed that stands in the way: little, so that few
// others have to give way in turn.
const smallStep = gap / 32

// push makes room above the number low: other, or what comes after it, goes up, and
// so does what stands in its way then. At the end of all numbers everything gets a
// new one.
func (c *change) push(it, other api.AgentTeamItem, itself bool, low int64) error {
	list, err := all(c.ctx, c.tx, scanItem, `SELECT `+itemColumns+` FROM agent_team_items i WHERE i.team_run_id = ? AND i.id != ?
		AND ((i.sort_order, i.id) > (?, ?) OR ? AND i.id = ?) AND i.sort_order >= ? ORDER BY i.sort_order, i.id`,
		it.TeamRunID, it.ID, other.SortOrder, other.ID, itself, other.ID, other.SortOrder)
	if err != nil {
		return err
	}
	place, pushed := low+2*smallStep, 0
	for ; pushed < len(list) && list[pushed].SortOrder < place; pushed++ {
		list[pushed].SortOrder = place
		place += smallStep
	}
	if pushed == 0 || place > maxOrder {
		return c.renumber(it.TeamRunID)
	}
	for i := range list[:pushed] {
		if err := c.saveItem(&list[i], api.EvItemMoved); err != nil {
			return err
		}
	}
	return nil
}

// renumber gives every item of a run a number with room on both sides.
func (c *change) renumber(runID string) error {
	list, err := items(c.ctx, c.tx, runID)
	if err != nil {
		return err
	}
	for i := range list {
		if place := int64(i+1) * gap; list[i].SortOrder != place {
			list[i].SortOrder = place
			if err := c.saveItem(&list[i], api.EvItemMoved); err != nil {
				return err
			}
		}
	}
	return nil
}
