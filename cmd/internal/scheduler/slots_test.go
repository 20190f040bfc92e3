package scheduler

import (
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
)

func waiting(q *slots, c *runController) bool {
	select {
	case <-c.woken:
		return q.take(c)
	default:
		return false
	}
}

// TestC12_OneQueue: all runs together never have more slots than there are, and
// those that wait get them in turn, however many each wants.
func TestC12_OneQueue(t *testing.T) {
	q := newSlots(2)
	var c [3]*runController
	for i := range c {
		c[i] = &runController{woken: make(chan struct{}, 1)}
	}
	for i, want := range []struct {
		who *runController
		ok  bool
	}{{c[0], true}, {c[0], true}, {c[0], false}, {c[1], false}, {c[2], false}} {
		if q.take(want.who) != want.ok {
			t.Fatalf("call %d: more or fewer slots than two", i)
		}
	}
	// c0 wants more, but it has had its turn: it stands before c1 only once.
	var order []int
	for range 6 {
		q.give()
		for i := range c {
			if waiting(q, c[i]) {
				order = append(order, i)
				q.take(c[i]) // it wants one more, and has to wait
			}
		}
	}
	for i, who := range order {
		if who != i%3 {
			t.Fatalf("served in the order %v", order)
		}
	}
	if len(order) != 6 {
		t.Errorf("served in the order %v", order)
	}
	q.give()
	q.leave(c[0]) // it is paused; nobody else must wait for it
	if !waiting(q, c[1]) {
		t.Error("who left keeps its place")
	}
	q.retake() // of before a crash: below zero, until they are given back
	q.give()
	if q.take(c[2]) {
		t.Error("a slot too many")
	}
}

// TestConductorLooksAgain: what has changed ignoreChanged is looked at at once, what
// cannot be written is not tried in a hot loop.
func TestConductorLooksAgain(t *testing.T) {
	for code, soon := range map[fault.Code]bool{fault.Rejected: true, fault.LimitReached: true, fault.ItemNotFound: true, fault.DiskFull: false} {
		c := &runController{woken: make(chan struct{}, 1)}
		if err := c.ignoreChanged(fault.New(code, "x")); (err == nil) != soon || (len(c.woken) > 0) != soon {
			t.Errorf("%s: %v, woken %v", code, err, len(c.woken) > 0)
		}
	}
}

// TestEveryChangeHasAName: what the store tells is an event of the closed set.
func TestEveryChangeHasAName(t *testing.T) {
	known := map[events.Type]bool{}
	for _, n := range events.Types() {
		known[n] = true
	}
	for kind, name := range eventNames {
		if !known[name] {
			t.Errorf("%s is told as %q", kind, name)
		}
	}
	e := hint(api.TeamRunEvent{Type: api.EvItemMoved, TeamID: "t", TeamRunID: "r", Timestamp: 5, Item: &api.AgentTeamItem{ID: "i", Title: "x", Status: "todo"}}, "review")
	d, ok := e.Data.(*events.Run)
	if !ok || e.Type != events.RunItemMoved || e.Team != "review" || *d != (events.Run{Head: events.Head{Type: "team_item_moved"}, TeamID: "t", RunID: "r", ItemID: "i", Title: "x", Status: "todo"}) {
		t.Errorf("%+v %+v", e, d)
	}
}
