package changes

import (
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// TestBetween: two looks at a team, and what happened between them.
func TestBetween(t *testing.T) {
	at := func(n int64) *api.Time { return api.At(time.Unix(n, 0)) }
	member := func(name, state string) api.Member { return api.Member{Name: name, State: state, StartedAt: at(1)} }
	team := func(members []api.Member, tasks ...api.Task) Team {
		return Team{Name: "a", Lead: "team-lead", CreatedAt: at(1), Members: members, Tasks: tasks, Boxes: map[string][]api.Message{}}
	}
	mailed := func(list ...api.Message) Team {
		x := team(nil)
		x.Boxes["bob"] = list
		return x
	}
	again := member("bob", api.StateActive)
	again.StartedAt = at(2)
	other := team(nil)
	other.CreatedAt = at(9)
	one := func(state string) []api.Member { return []api.Member{member("bob", state)} }
	for name, tc := range map[string]struct {
		old, now Team
		want     string
	}{
		"nothing":                {Team{}, Team{}, ""},
		"no change":              {team(one(api.StateIdle)), team(one(api.StateIdle)), ""},
		"a team":                 {Team{}, team(one(api.StateActive)), "team:created team:member:joined team:member:active"},
		"gone":                   {team(nil), Team{}, "team:deleted"},
		"another of that name":   {team(nil), other, "team:deleted team:created"},
		"started again":          {team(one(api.StateFailed)), team([]api.Member{again}), "team:member:joined team:member:active"},
		"failed":                 {team(one(api.StateActive)), team(one(api.StateFailed)), "team:member:failed"},
		"lost":                   {team(one(api.StateActive)), team(one(api.StateLost)), "team:member:lost"},
		"waits":                  {team(one(api.StateActive)), team(one(api.StateWaiting)), "team:member:waiting"},
		"left the roster":        {team(one(api.StateActive)), team(nil), "team:member:shutdown"},
		"ended, then left":       {team(one(api.StateStopped)), team(nil), ""},
		"a task":                 {team(nil), team(nil, api.Task{ID: "1", Status: "pending"}), "team:task:created"},
		"a task that is done":    {team(nil), team(nil, api.Task{ID: "1", Status: "completed"}), "team:task:created team:task:completed"},
		"claimed":                {team(nil, api.Task{ID: "1", Status: "pending"}), team(nil, api.Task{ID: "1", Status: "in_progress", Owner: "bob"}), "team:task:claimed"},
		"handed over":            {team(nil, api.Task{ID: "1", Status: "in_progress", Owner: "ann"}), team(nil, api.Task{ID: "1", Status: "in_progress", Owner: "bob"}), "team:task:claimed"},
		"task failed":            {team(nil, api.Task{ID: "1", Status: "in_progress"}), team(nil, api.Task{ID: "1", Status: "failed"}), "team:task:failed"},
		"renamed":                {team(nil, api.Task{ID: "1", Subject: "x"}), team(nil, api.Task{ID: "1", Subject: "y"}), "team:task:updated"},
		"removed":                {team(nil, api.Task{ID: "1"}), team(nil), "team:task:updated"},
		"mail":                   {mailed(), mailed(api.Message{ID: "1", From: "ann", Text: "hello"}), "team:message:sent"},
		"mail that was read":     {mailed(api.Message{ID: "1"}), mailed(api.Message{ID: "1", From: "ann", Text: "hello", Read: true}), "team:message:received"},
		"mail that was archived": {mailed(api.Message{ID: "1", Read: true}), mailed(), ""},
		"asked to end":           {mailed(), mailed(api.Message{ID: "1", From: "team-lead", Text: `{"type":"shutdown_request","requestId":"r"}`}), "team:shutdown:requested"},
	} {
		var got []string
		for _, e := range Between(tc.old, tc.now, time.Unix(5, 0)) {
			if e.Team != "a" || !e.At.Equal(time.Unix(5, 0)) || e.Data == nil {
				t.Errorf("%s: %+v", name, e)
			}
			got = append(got, string(e.Type))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %s", name, got, tc.want)
		}
	}
}

// TestKnown: not to see somebody is not an event.
func TestKnown(t *testing.T) {
	old := []api.Member{{Name: "bob", State: api.StateIdle}}
	got := Known(old, []api.Member{{Name: "bob", State: api.StateUnknown}, {Name: "ann", State: api.StateUnknown}})
	if got[0].State != api.StateIdle || got[1].State != api.StateUnknown {
		t.Errorf("%+v", got)
	}
}

// TestXH06_AnswersAreEvents: an answer is an event in every spelling, and a yes only if no
// spelling says no.
func TestXH06_AnswersAreEvents(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"shutdown_approved","requestId":"r"}`:                                      true,
		`{"type":"shutdown_approved","requestId":"r","approve":false}`:                      false,
		`{"type":"shutdown_rejected","requestId":"r","approved":true}`:                      false,
		`{"type":"shutdown_response","request_id":"r","approve":true}`:                      true,
		`{"type":"shutdown_response","request_id":"r","approve":true,"approved":false}`:     false,
		`{"type":"shutdown_response","request_id":"r"}`:                                     false,
		`{"type":"shutdown_approved","requestId":"r","approved":"false"}`:                   false,
		`{"type":"shutdown_response","requestID":"r","approve":"true"}`:                     true,
		`{"type":"plan_approval_response","request_id":"r","approved":true}`:                true,
		`{"type":"plan_approval_response","requestId":"r","approved":false,"approve":true}`: false,
	} {
		box := func(list ...api.Message) Team {
			return Team{Name: "a", Lead: "team-lead", Boxes: map[string][]api.Message{"team-lead": list}}
		}
		var answered bool
		for _, e := range Between(box(), box(api.Message{ID: "1", From: "bob", Text: text}), time.Unix(5, 0)) {
			switch a := e.Data.(type) {
			case *events.ShutdownAnswer:
				answered = true
				if a.Approved != want || a.RequestID != "r" {
					t.Errorf("%s: %+v", text, a)
				}
			case *events.PlanAnswer:
				answered = true
				if a.Approved != want || a.RequestID != "r" {
					t.Errorf("%s: %+v", text, a)
				}
			}
		}
		if !answered {
			t.Errorf("%s is no answer", text)
		}
	}
	for _, text := range []string{ // it answers neither of the two: it is a message
		`{"type":"shutdown_approved","requestId":"r","request_id":"s"}`,
		`{"type":"plan_approval_response","requestID":"s","requestId":"r","approved":true}`,
		`{"type":"shutdown_response","request_id":"r","request_id":"s","approve":true}`,
	} {
		now := Team{Name: "a", Lead: "team-lead", Boxes: map[string][]api.Message{"team-lead": {{ID: "1", From: "bob", Text: text}}}}
		told := Between(Team{Name: "a", Lead: "team-lead", Boxes: map[string][]api.Message{}}, now, time.Unix(5, 0))
		if len(told) != 1 || told[0].Type != events.MessageSent {
			t.Errorf("%s: %+v", text, told)
		}
	}
}
