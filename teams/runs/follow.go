package runs

import (
	"cmp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
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
	if n, err := c.count(countParts, id); err != nil || n > 0 {
		return cmp.Or[error](err, fault.New(fault.Rejected, "%q has %d parts and follows them: it cannot wait itself", clip(it.Title), n).WithHint("let its parts wait"))
	}
	if before, err := c.needs(blocker, id); err != nil || before {
		return cmp.Or[error](err, fault.New(fault.Rejected, "%q and %q would wait for each other", clip(it.Title), clip(b.Title)))
	}
	return c.exec(`INSERT INTO item_blockers VALUES (?, ?) ON CONFLICT DO NOTHING`, id, blocker)
}

// countParts counts the parts of an item.
const countParts = `SELECT count(*) FROM agent_team_items WHERE parent_item_id = ?`

// needs tells whether an item is done only after another one: it waits for that, is
// above it, or both in several steps.
func (c *change) needs(id, other string) (bool, error) {
	n, err := c.count(`WITH RECURSIVE need(id) AS (VALUES (?1)
		UNION SELECT b.blocker_id FROM need JOIN item_blockers b ON b.item_id = need.id
		UNION SELECT i.id FROM need JOIN agent_team_items i ON i.parent_item_id = need.id)
		SELECT count(*) FROM need WHERE id = ?2`, id, other)
	return n > 0, err
}

// unblock makes an item that has not begun blocked or not, as what it waits for
// stands. changed says that an event is emitted in any case.
func (c *change) unblock(id string, changed bool) error {
	it, err := item(c.ctx, c.tx, id)
	if err != nil {
		return err
	}
	status, err := c.waiting(it)
	if err != nil || status == it.Status && !changed {
		return err
	}
	it.Status = status
	return c.saveItem(&it, api.EvItemUpdated)
}

// waiting is the status of an item as what it waits for stands.
func (c *change) waiting(it api.AgentTeamItem) (string, error) {
	if it.Status != api.ItemTodo && it.Status != api.ItemBlocked {
		return it.Status, nil
	}
	n, err := c.count(openBlockers, it.ID)
	if n > 0 {
		return api.ItemBlocked, err
	}
	return api.ItemTodo, err
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
	if err != nil {
		return err
	}
	if len(children) == 0 {
		return c.alone(it)
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

// alone lets an item that has lost its last part begin, unless it has ended.
func (c *change) alone(it api.AgentTeamItem) error {
	if it.Status != api.ItemInProgress && it.Status != api.ItemBlocked {
		return nil
	}
	it.Status, it.ResultSummary = api.ItemTodo, ""
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
