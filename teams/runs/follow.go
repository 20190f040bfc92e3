package runs

import (
	"slices"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
)

// openBlockers counts what an item waits for.
const openBlockers = `SELECT count(*) FROM item_blockers b JOIN agent_team_items i ON i.id = b.blocker_id WHERE b.item_id = ? AND i.status != 'done'`

// block lets an item wait for another one of its run.
func (c *change) block(id, blocker string) error {
	it, err := item(c.ctx, c.tx, id)
	if err != nil {
		return err
	}
	b, err := item(c.ctx, c.tx, blocker)
	if err != nil {
		return err
	}
	if b.TeamRunID != it.TeamRunID {
		return fault.New(fault.Rejected, "%q is an item of another run", clip(b.Title))
	}
	seen := map[string]bool{}
	for next := []string{blocker}; len(next) > 0; next = next[1:] {
		if next[0] == id {
			return fault.New(fault.Rejected, "%q and %q would wait for each other", clip(it.Title), clip(b.Title))
		}
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		more, err := all(c.ctx, c.tx, scanID, `SELECT blocker_id FROM item_blockers WHERE item_id = ?`, next[0])
		if err != nil {
			return err
		}
		next = slices.Concat(next, more)
	}
	_, err = c.exec(`INSERT INTO item_blockers VALUES (?, ?) ON CONFLICT DO NOTHING`, id, blocker)
	return err
}

// unblock makes an item that has not begun blocked or not, as what it waits for
// stands.
func (c *change) unblock(id string) error {
	it, err := item(c.ctx, c.tx, id)
	if err != nil {
		return err
	}
	if it.Status != api.ItemTodo && it.Status != api.ItemBlocked {
		return nil
	}
	n, err := c.count(openBlockers, id)
	if err != nil {
		return err
	}
	status := api.ItemTodo
	if n > 0 {
		status = api.ItemBlocked
	}
	if status == it.Status {
		return nil
	}
	it.Status = status
	return c.saveItem(&it, api.EvItemUpdated)
}

// follow gives a parent the status of its children.
func (c *change) follow(parent string) error {
	if parent == "" {
		return nil
	}
	it, err := item(c.ctx, c.tx, parent)
	if err != nil {
		return err
	}
	children, err := all(c.ctx, c.tx, scanID, `SELECT status FROM agent_team_items WHERE parent_item_id = ?`, parent)
	if err != nil || len(children) == 0 {
		return err
	}
	n := map[string]int{}
	for _, status := range children {
		n[status]++
	}
	status, sum := followed(n, len(children)), summary(n)
	if status == it.Status && sum == it.ResultSummary {
		return nil
	}
	it.Status, it.ResultSummary = status, sum
	return c.saveItem(&it, api.EvItemUpdated)
}

// followed is the status of an item whose children have these.
func followed(n map[string]int, total int) string {
	open := n[api.ItemTodo] + n[api.ItemBlocked]
	switch {
	case n[api.ItemDone] == total:
		return api.ItemDone
	case n[api.ItemInProgress] > 0, open > 0 && open < total:
		return api.ItemInProgress
	case open == 0:
		return api.ItemFailed
	case n[api.ItemBlocked] == total:
		return api.ItemBlocked
	}
	return api.ItemTodo
}
