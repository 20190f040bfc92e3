package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/store"
)

type waitIn struct {
	inTeam
	Types   []string `json:"types,omitempty" jsonschema:"only events of these types, such as team:message:sent or team:task:completed; left out: what others did that concerns you"`
	Timeout float64  `json:"timeout_seconds,omitempty" jsonschema:"how long to wait, at most 300 (default 30)"`
	After   *uint64  `json:"after,omitempty" jsonschema:"only events after this number (next of an earlier answer); left out: since your last call"`
}

type waitOut struct {
	Events   []events.Event `json:"events" jsonschema:"what happened, oldest first"`
	Next     uint64         `json:"next" jsonschema:"number to go on after"`
	TimedOut bool           `json:"timedOut" jsonschema:"nothing happened in that time"`
	Missed   bool           `json:"missed" jsonschema:"older events are no longer kept: look at TeamStatus, TaskList and ReadInbox"`
	Unread   int            `json:"unread" jsonschema:"how many messages wait in your inbox"`
}

func waitForEvents(s *Server) tool {
	return define("WaitForEvents", "Wait until something happens in the team that concerns you (mail, teammates that are idle, wait or end, tasks that were taken, completed or failed, plans) and tell what. "+
		"Returns at once if something has happened since your last call, or if mail waited before the first (unless types leaves mail out). ReadInbox then has the mail itself.", forTeam(s, s.wait), nil).readsOnly()
}

// defaultWait is how long WaitForEvents waits if it is not told.
const defaultWait = 30 * time.Second

func (s *Server) wait(ctx context.Context, c *call, team string, in waitIn) (waitOut, string, error) {
	limit, err := span("timeout_seconds", in.Timeout, defaultWait)
	if err != nil {
		return waitOut{}, "", err
	}
	for _, t := range in.Types {
		if !slices.Contains(events.Types(), events.Type(t)) {
			return waitOut{}, "", fault.New(fault.InvalidArgument, "there is no event %q", store.Shown(t)).WithHint("the events are: %s", strings.Join(events.Names(), ", "))
		}
	}
	t := s.watch.get(team)
	if t == nil {
		return waitOut{}, "", fault.New(fault.TeamNotFound, "team %s is gone", team)
	}
	roster, err := s.svc.Team(ctx, team)
	if err != nil {
		return waitOut{}, "", err
	}
	me := s.me(roster)
	at := position{c.req.Session, team}
	after, firstTime := s.position(at, in.After)
	mail := len(in.Types) == 0 || slices.Contains(in.Types, string(events.MessageSent))
	out, err := s.await(ctx, t, after, limit, firstTime && mail, func(e events.Event) bool { return s.concerns(e, me, in.Types) })
	if err != nil {
		return waitOut{}, "", err
	}
	s.stay(at, out.Next)
	out.Unread = s.unread(ctx, team)
	return out, waitText(out), nil
}

// position is a client's place in the events of a team.
type position struct {
	client *sdk.ServerSession
	team   string
}

// stay notes how far a client has come, and forgets clients that have gone.
func (s *Server) stay(at position, next uint64) {
	there := slices.Collect(s.sdk.Sessions())
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.positions, func(p position, _ uint64) bool { return !slices.Contains(there, p.client) })
	s.positions[at] = next
}

// position is where a client goes on, and whether it asks for the first time.
func (s *Server) position(key position, given *uint64) (after uint64, first bool) {
	if given != nil {
		return *given, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	after, known := s.positions[key]
	return after, !known
}

// await waits for events that are wanted.
func (s *Server) await(ctx context.Context, t *teamWatch, after uint64, limit time.Duration, first bool, wanted func(events.Event) bool) (waitOut, error) {
	defer t.await()()
	late := time.After(limit)
	out := waitOut{Events: []events.Event{}}
	for gone := false; ; {
		list, newest, missed, more := t.since(after)
		out.Next, out.Missed = newest, missed
		for _, e := range list {
			if wanted(e) {
				out.Events = append(out.Events, e)
			}
		}
		if len(out.Events) > 0 || missed || first && s.unread(ctx, t.Name) > 0 {
			return out, nil
		}
		if gone {
			return out, fault.New(fault.TeamNotFound, "team %s is gone", t.Name)
		}
		first, after = false, newest
		select {
		case <-more:
		case <-late:
			out.TimedOut = true
			return out, nil
		case <-t.ctx.Done():
			gone = true // its end is an event, too
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

func (s *Server) unread(ctx context.Context, team string) int {
	msgs, err := s.svc.Inbox(ctx, team, "", teams.InboxFilter{Unread: true})
	if err != nil {
		return 0
	}
	return len(msgs)
}

// concerns tells whether an event is wanted: one of the types, or, if none are named,
// what others did that the caller has to know.
func (s *Server) concerns(e events.Event, me string, types []string) bool {
	if len(types) > 0 {
		return slices.Contains(types, string(e.Type))
	}
	switch e.Type {
	case events.MessageReceived:
		return false
	case events.MessageSent:
		m, ok := e.Data.(*events.Message)
		return ok && store.SameName(m.To, me) && !store.SameName(m.From, me)
	case events.ShutdownRequested, events.PlanResolved:
		return store.SameName(e.Member, me)
	case events.ShutdownResponse, events.PlanRequested, events.MemberActive, events.MemberWaiting, events.MemberIdle,
		events.MemberShutdown, events.MemberFailed, events.MemberLost, events.TaskClaimed, events.TaskFailed:
		return !s.o.Caller.Teammate
	case events.TaskCreated, events.TaskUpdated:
		return s.o.Caller.Teammate
	}
	return e.Type == events.TaskCompleted || e.Type == events.TeamDeleted
}

func waitText(out waitOut) string {
	var b strings.Builder
	if out.TimedOut {
		b.WriteString("Nothing has happened.")
	}
	for _, e := range out.Events {
		fmt.Fprintf(&b, "%s %s\n", e.Type, e.Member)
	}
	if out.Missed {
		b.WriteString("More has happened than is kept: look at TeamStatus, TaskList and ReadInbox.\n")
	}
	if out.Unread > 0 {
		fmt.Fprintf(&b, "%d unread messages: ReadInbox.", out.Unread)
	}
	return strings.TrimSpace(b.String())
}
