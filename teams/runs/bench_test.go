package runs

import (
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// BenchmarkItems has a checklist of 100,000 items: a page of it, and the move of an
// item, each in turn with the bare statement that it cannot do without. The ratio is
// that of the two.
func BenchmarkItems(b *testing.B) {
	const total, page = 100_000, 100
	s := newScratch(b)
	run, _ := s.begun(0)
	err := s.change(s.ctx, "fill", func(c *change) error {
		return c.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO agent_team_items SELECT printf('%032x', i * 7919 % 1000003), ?, NULL, 'item ' || i, 'what to do', 'shell', NULL, 'todo', NULL, i * ?, 0, 0 FROM n`, total, run.ID, gap)
	})
	if err != nil {
		b.Fatal(err)
	}
	at := func(i int) api.AgentTeamItem {
		n := i * 31 % (total - page)
		list, err := all(s.ctx, s.db, scanItem, `SELECT `+itemColumns+` FROM agent_team_items i WHERE i.team_run_id = ? AND i.sort_order >= ? ORDER BY i.sort_order, i.id LIMIT 1`, run.ID, n*gap)
		if err != nil || len(list) == 0 {
			b.Fatal(err)
		}
		return list[0]
	}
	b.Run("list", func(b *testing.B) {
		measure(b, at, func(_ int, last api.AgentTeamItem) {
			if list := ok[[]api.AgentTeamItem](s)(s.Items(s.ctx, api.ItemsParams{TeamRunID: run.ID, After: last.ID, Limit: page})); len(list) != page {
				b.Fatalf("a page of %d", len(list))
			}
		}, func(_ int, last api.AgentTeamItem) {
			list, err := all(s.ctx, s.db, scanItem, `SELECT id, team_run_id, coalesce(parent_item_id, ''), title, coalesce(description, ''), coalesce(owner_agent_role_id, ''),
				coalesce(source_task_id, ''), status, coalesce(result_summary, ''), sort_order, created_at, updated_at, '' FROM agent_team_items
				WHERE team_run_id = ? AND (sort_order, id) > (?, ?) ORDER BY sort_order, id LIMIT ?`, run.ID, last.SortOrder, last.ID, page)
			if err != nil || len(list) != page {
				b.Fatalf("a page of %d: %v", len(list), err)
			}
		})
	})
	b.Run("move", func(b *testing.B) {
		measure(b, at, func(i int, it api.AgentTeamItem) {
			order := int64(i%total*gap + 3)
			ok[api.AgentTeamItem](s)(s.MoveItem(s.ctx, api.ItemMove{ID: it.ID, SortOrder: &order}))
		}, func(i int, it api.AgentTeamItem) {
			if _, err := s.db.ExecContext(s.ctx, `UPDATE agent_team_items SET sort_order = ?, updated_at = ? WHERE id = ?`, i%total*gap+5, time.Now().UnixMilli(), it.ID); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// measure takes product and floor in turn, so that both see the same machine.
func measure(b *testing.B, at func(int) api.AgentTeamItem, product, floor func(int, api.AgentTeamItem)) {
	var ours, bare time.Duration
	product(0, at(0))
	floor(1, at(1))
	i := 0
	for b.Loop() {
		one, other := at(2*i), at(2*i+1)
		began := time.Now()
		product(2*i, one)
		ours += time.Since(began)
		began = time.Now()
		floor(2*i+1, other)
		bare += time.Since(began)
		i++
	}
	b.ReportMetric(float64(ours.Microseconds())/float64(i), "product-µs")
	b.ReportMetric(float64(bare.Microseconds())/float64(i), "floor-µs")
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
}
