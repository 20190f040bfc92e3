package teammate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// showState shows the state that was seen.
func (c *mailTyper) showState(ctx context.Context, s observation) {
	c.ask(ctx, s.asking)
	switch {
	case s.asking != "":
		c.m.showAll(host.Shown{State: api.StateWaiting, Reason: s.asking, Asks: true})
	case s.unknown:
		c.m.showAll(host.Shown{State: api.StateWaiting, Reason: c.unknown(s), Unsubmitted: s.half})
	case !s.free:
		c.m.show(api.StateActive, "", "")
	}
}

// notSubmitted is why a teammate waits in whose input somebody has left a text.
const notSubmitted = "its input holds a text that nobody has submitted, so nothing is typed: submit it there, or erase it"

// unknown is why a teammate waits whose screen is not recognized.
func (c *mailTyper) unknown(s observation) string {
	if s.half {
		return notSubmitted
	}
	if c.typed != nil && !c.typed.pressed.IsZero() && c.typed.line == nil {
		return fmt.Sprintf("typed but not submitted: a message stands in its input (leadlight keys %s enter)", c.m.o.Agent)
	}
	return "unknown screen: its prompt is not recognized, so nothing is typed"
}

// showStuck shows that a message is not handed over, and tells the lead if that lasts. A
// program that does not read what was typed may be at work.
func (c *mailTyper) showStuck(ctx context.Context, msg teams.Batch, err error) {
	if c.stuck != msg.ID {
		c.stuck, c.stuckAt = msg.ID, time.Now()
	}
	since := c.stuckAt
	reason := fmt.Sprintf("a message from %s cannot be typed: %v", store.Shown(msg.From), err)
	unread := errors.Is(err, errUnread)
	if unread {
		since = later(since, c.m.host.Status().LastOutputAt)
		reason = fmt.Sprintf("it has not read the message from %s that was typed", store.Shown(msg.From))
	}
	long := time.Since(since) > c.screen.patient
	if !long && unread {
		c.m.show(api.StateActive, "", "")
		return
	}
	c.m.show(api.StateWaiting, "", reason)
	if long {
		c.tellStuck(ctx, msg.ID, reason)
	}
}

// awaitReader shows of an agent that reads its mail itself that it has not begun to, a while
// after its start, and tells the lead, once.
func (m *teammate) awaitReader(ctx context.Context, patient time.Duration) {
	for told := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(patient):
		}
		msgs, err := m.unread(ctx)
		if err != nil {
			continue // the next look may tell
		}
		deaf := slices.ContainsFunc(msgs, func(msg api.Message) bool {
			at, err := time.Parse(time.RFC3339, msg.Timestamp)
			return err == nil && at.Before(m.began)
		})
		switch {
		case !deaf && told:
			m.show(api.StateActive, "", "")
			return
		case !deaf:
			return
		}
		const reason = "it runs, and has not read its first message"
		m.show(api.StateWaiting, "", reason)
		if !told {
			m.tellIdle(ctx, teams.Idle{Question: reason})
		}
		told, patient = true, min(patient, restPause)
	}
}

// tellStuck tells the lead, once, of a message that is not handed over for long.
func (c *mailTyper) tellStuck(ctx context.Context, id, reason string) {
	if c.told != id {
		c.told = id
		c.m.tellIdle(ctx, teams.Idle{Question: reason})
	}
}

// question is what an agent asks the person at its pane.
type question struct {
	since time.Time // zero: it asks nothing
	told  bool      // the lead knows
}

// ask follows a question, and tells the lead, once, of one that nobody has answered
// for a moment.
func (c *mailTyper) ask(ctx context.Context, line string) {
	switch {
	case line == "":
		c.asks = question{}
	case c.asks.since.IsZero():
		c.asks.since = time.Now()
	case !c.asks.told && time.Since(c.asks.since) >= restPause:
		c.asks.told = true
		c.m.tellIdle(ctx, teams.Idle{Question: line})
	}
}

// tellIdle tells the lead that the agent has come to rest, or asks something.
func (m *teammate) tellIdle(ctx context.Context, idle teams.Idle) {
	if err := m.o.Service.TellIdle(ctx, m.o.Team, idle); err != nil && ctx.Err() == nil {
		m.warn("the lead could not be told", err)
	}
}

// warn says what went wrong: a worker on its pane, whose screen is no agent's.
func (m *teammate) warn(what string, err error) {
	if m.launch.Kind == profiles.Worker {
		m.print("%s: %v", what, err)
	} else {
		m.o.Log.Warn(what, "error", err)
	}
}

// completed returns the notice of an agent that has come to rest, with a task that it has
// completed and that is not among those known, the newest, if there is one. Then it is known.
func (m *teammate) completed(ctx context.Context, known map[string]bool) (idle teams.Idle) {
	tasks, _, err := m.o.Service.TaskList(ctx, m.o.Team, teams.TaskFilter{Owner: m.o.Agent, Status: store.Completed})
	if err != nil {
		m.o.Log.Warn("look at its tasks", "error", err)
	}
	for _, task := range tasks {
		if !known[task.ID] {
			known[task.ID], idle = true, teams.Idle{TaskID: task.ID, TaskStatus: resolved}
		}
	}
	return idle
}

// show keeps the state true between messages, and tells the lead, once, when an
// agent that was given something has come to rest.
func (c *mailTyper) show(ctx context.Context) {
	s := c.screen.observe(ctx)
	c.showState(ctx, s)
	if !s.free {
		c.objection = ""
		return
	}
	if s.rested && (c.worked || c.owes && c.changed) {
		worked := c.worked
		if worked && c.hooksObject(ctx, s.since) {
			return
		}
		idle := c.m.completed(ctx, c.done)
		c.worked, c.changed, c.owes = false, false, idle.TaskID == ""
		if worked || !c.owes {
			c.m.tellIdle(ctx, idle)
		}
		c.offers = offering{}
	}
	c.m.show(api.StateIdle, "", "")
	c.offers.look(ctx, c.m)
}

// mayIdle asks the hooks whether the agent may rest, and returns what they object.
func (m *teammate) mayIdle(ctx context.Context, before int) (feedback string) {
	feedback, err := m.o.Service.MayIdle(ctx, m.o.Team, before)
	if err != nil {
		m.warn("the hooks could not be asked", err)
	}
	return feedback
}

// hooksObject asks the hooks whether the agent may rest. What they object is typed into
// it like a message.
func (c *mailTyper) hooksObject(ctx context.Context, since time.Time) bool {
	id := fmt.Sprintf("objection-%d", c.kept)
	if !c.waits(id) && c.objection == "" { // else they have been asked
		if c.objection = c.m.mayIdle(ctx, c.kept); c.objection == "" {
			c.kept = 0
			return false
		}
	}
	switch err := c.enter(ctx, "[leadlight] not finished yet: "+teams.Quoted(c.objection), id, since); {
	case err == nil:
		c.kept++
		c.objection = ""
	case !errors.Is(err, fault.Rejected): // a person types: the next look tries again
		c.m.o.Log.Warn("type what a hook objects", "error", err)
	}
	return true
}
