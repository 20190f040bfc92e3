package teams_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// request waits until a member was asked to stop, and returns the id of the request.
func (d *desk) request(name string) string {
	d.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		msgs, err := d.fs.Mail(nil).List(d.t.Context(), "alpha", name)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, m := range msgs {
			if f, ok := store.ParseFrame(m.Text); ok && f.Type == store.ShutdownRequest && !m.Read {
				return f.RequestID
			}
		}
	}
	d.t.Fatalf("%s was not asked to stop", name)
	return ""
}

// TestXH06_TheNewestAnswerCounts: who agreed may still refuse, in every spelling that
// clients use; what does not say yes is no approval.
func TestXH06_TheNewestAnswerCounts(t *testing.T) {
	for name, answers := range map[string][]string{
		"refused after all":                  {`{"type":"shutdown_approved","requestId":%q}`, `{"type":"shutdown_rejected","requestId":%q,"reason":"not yet"}`},
		"the other spelling":                 {`{"type":"shutdown_approved","requestId":%q}`, `{"type":"shutdown_rejected","request_id":%q,"reason":"not yet"}`},
		"a third spelling":                   {`{"type":"shutdown_approved","request_id":%q}`, `{"type":"shutdown_rejected","requestID":%q,"reason":"not yet"}`},
		"as the tool is called":              {`{"type":"shutdown_approved","requestId":%q}`, `{"type":"shutdown_response","request_id":%q,"approve":false,"reason":"not yet"}`},
		"as the tool is called, 2":           {`{"type":"shutdown_response","request_id":%q,"approve":true}`, `{"type":"shutdown_response","requestId":%q,"approved":false,"reason":"not yet"}`},
		"an answer that says no yes":         {`{"type":"shutdown_response","request_id":%q,"reason":"not yet"}`},
		"a no beside a yes":                  {`{"type":"shutdown_response","request_id":%q,"approve":true,"approved":false,"reason":"not yet"}`},
		"an approval that says no":           {`{"type":"shutdown_approved","requestId":%q,"approve":false,"reason":"not yet"}`},
		"a yes that is a text":               {`{"type":"shutdown_response","requestId":%q,"approve":"false","reason":"not yet"}`},
		"an approval that says no in a text": {`{"type":"shutdown_approved","requestId":%q,"approved":"false","reason":"not yet"}`},
		"a no in a text beside a yes":        {`{"type":"shutdown_response","requestId":%q,"approve":true,"approved":"no","reason":"not yet"}`},
		"a no that is a number":              {`{"type":"shutdown_approved","requestId":%q,"approve":0,"reason":"not yet"}`},
		"with blanks before it":              {`{"type":"shutdown_approved","requestId":%q}`, "\n {\"type\":\"shutdown_rejected\",\"requestId\":%q,\"reason\":\"not yet\"} "},
		"a no that names two requests":       {`{"type":"shutdown_approved","requestId":%q}`, `{"type":"shutdown_rejected","requestId":"another","request_id":%q,"reason":"not yet"}`},
		"a no beside a yes under one key":    {`{"type":"shutdown_response","requestId":%q,"approve":false,"approve":true,"reason":"not yet"}`},
		"with feedback":                      {`{"type":"shutdown_response","requestId":%q,"approve":false,"feedback":"not yet"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			bob := running("bob")
			bob.Leadlight.Kind = "native"
			d.team("alpha", bob)
			ended := make(chan api.Endings, 1)
			go func() {
				got, err := d.as("").Stop(t.Context(), "alpha", []string{"bob"}, teams.StopOptions{Ask: time.Minute})
				if err != nil {
					t.Error(err)
				}
				ended <- got
			}()
			id := d.request("bob")
			for _, text := range answers {
				d.put(store.Lead, "bob", fmt.Sprintf(text, id))
			}
			got := <-ended
			if e := got.Members[0]; e.Outcome != state.Rejected || e.Reason != "not yet" || got.OK {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// TestXH06_AYesToTwoRequestsIsNone: whoever agrees and names two requests, in two spellings
// or one, has agreed to neither; who waits is told, and a clear answer counts after it.
func TestXH06_AYesToTwoRequestsIsNone(t *testing.T) {
	for _, text := range []string{
		`{"type":"shutdown_approved","requestId":%q,"request_id":"another"}`,
		`{"type":"shutdown_approved","requestId":"another","requestID":%q}`,
		`{"type":"shutdown_response","request_id":"another","request_id":%q,"approve":true}`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			bob := running("bob")
			bob.Leadlight.Kind = "native"
			d.team("alpha", bob)
			said := make(chan string, 10)
			ended := make(chan api.Endings, 1)
			go func() {
				got, err := d.as("").Stop(t.Context(), "alpha", []string{"bob"}, teams.StopOptions{Ask: time.Minute, Progress: func(_, what string) { said <- what }})
				if err != nil {
					t.Error(err)
				}
				ended <- got
			}()
			id := d.request("bob")
			d.put(store.Lead, "bob", fmt.Sprintf(text, id))
			for what := range said {
				if what == "agrees, but names more than one request: that counts for none" {
					break
				}
			}
			inbox, err := d.as("").Inbox(t.Context(), "alpha", "", teams.InboxFilter{})
			if err != nil || len(inbox) != 1 || inbox[0].Note != "names more than one request" {
				t.Errorf("the lead's inbox: %+v, %v", inbox, err)
			}
			d.put(store.Lead, "bob", fmt.Sprintf(`{"type":"shutdown_rejected","requestId":%q,"reason":"not yet"}`, id))
			if e := (<-ended).Members[0]; e.Outcome != state.Rejected || e.Reason != "not yet" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// TestXH06_OnlyTheNewestAgreementCounts: a teammate inside its lead that agreed to an
// earlier request and refused a later one lives, and so does one whose name somebody had
// who agreed.
func TestXH06_OnlyTheNewestAgreementCounts(t *testing.T) {
	yes, no := `{"type":"shutdown_approved","requestId":"one"}`, `{"type":"shutdown_rejected","requestId":"two","reason":"not yet"}`
	for name, tc := range map[string]struct {
		joined time.Duration
		says   []string
		stops  bool
	}{
		"agreed":                      {-time.Hour, []string{yes}, true},
		"refused":                     {-time.Hour, []string{no}, false},
		"refused a later request":     {-time.Hour, []string{yes, no}, false},
		"agreed to a later request":   {-time.Hour, []string{no, yes}, true},
		"one of that name had agreed": {time.Hour, []string{yes}, false},
	} {
		d := newDesk(t)
		ann := store.Member{Name: "ann", AgentID: "ann@alpha", TmuxPaneID: teams.InProcess, BackendType: teams.InProcess, JoinedAt: time.Now().Add(tc.joined)}
		d.led("alpha", os.Getpid(), nil, ann)
		for _, text := range tc.says {
			d.put(store.Lead, "ann", text)
		}
		seen, _, err := d.as("").Members(t.Context(), "alpha", true)
		i := slices.IndexFunc(seen, func(m api.Member) bool { return m.Name == "ann" })
		if err != nil || i < 0 || (seen[i].State == api.StateStopped) != tc.stops {
			t.Errorf("%s: %+v, %v", name, seen, err)
		}
	}
}

// TestXD04_XF13_AnInterruptedRequestIsTakenBack: it cannot end the teammate minutes later. Who
// is named twice is asked once.
func TestXD04_XF13_AnInterruptedRequestIsTakenBack(t *testing.T) {
	d := newDesk(t)
	bob := running("bob")
	bob.Leadlight.Kind = "native"
	d.team("alpha", bob)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan api.Endings, 1)
	go func() {
		got, _ := d.as("").Stop(ctx, "alpha", []string{"bob", "bob"}, teams.StopOptions{Ask: time.Minute})
		ended <- got
	}()
	id := d.request("bob")
	interrupt()
	if e := (<-ended).Members[0]; e.Outcome != state.Unproven || e.Reason != "interrupted: the request is taken back, and it runs on" {
		t.Errorf("got %+v", e)
	}
	msgs, err := d.fs.Mail(nil).List(t.Context(), "alpha", "bob")
	if err != nil || len(msgs) != 1 || !msgs[0].Read {
		t.Errorf("the request waits still: %+v, %v", msgs, err)
	}
	if _, err := d.as("bob").AnswerShutdown(t.Context(), "alpha", id, true, ""); err == nil {
		t.Error("it could still be agreed to")
	}
}

// TestXF13_WhatNobodyWaitsForIsTakenBack: a request of a lead that is gone ends nobody later.
func TestXF13_WhatNobodyWaitsForIsTakenBack(t *testing.T) {
	d := newDesk(t)
	bob := running("bob")
	bob.Leadlight.Kind = "native"
	d.team("alpha", bob)
	d.put("bob", store.Lead, `{"type":"shutdown_request","requestId":"shutdown-1@bob","from":"team-lead"}`)
	d.put("bob", store.Lead, `{"type":"permission_response","request_id":"p","subtype":"success"}`)
	if _, err := d.as("").Takeover(t.Context(), "alpha", teams.TakeoverSpec{}); err != nil {
		t.Fatal(err)
	}
	msgs, err := d.fs.Mail(nil).List(t.Context(), "alpha", "bob")
	if err != nil || len(msgs) != 2 || !msgs[0].Read || msgs[1].Read {
		t.Fatalf("the request waits still, or more was taken back: %+v, %v", msgs, err)
	}
	for _, id := range []string{"", "shutdown-1@bob"} {
		_, err := d.as("bob").AnswerShutdown(t.Context(), "alpha", id, true, "")
		wantCode(t, err, fault.RequestNotFound)
	}
}

// fullRoster reads, and has no room to write.
type fullRoster struct{ store.Roster }

func (fullRoster) Update(context.Context, string, func(*store.Team) error) error {
	return fault.New(fault.DiskFull, "no space left on device")
}

// Who has ended is not called unproven because that could not be written down.
func TestAnEndThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.team("alpha", running("bob"))
	d.roster = fullRoster{d.fs.Roster()}
	e, err := d.as("").Stop(t.Context(), "alpha", []string{"bob"}, teams.StopOptions{})
	if err != nil || e.OK || len(e.Members) != 1 || e.Members[0].Outcome == state.Unproven {
		t.Errorf("got %+v, %v", e, err)
	}
	wantCode(t, teams.Verdict(e), fault.DiskFull)
	of := func(name, why string) api.Ending {
		return api.Ending{Name: name, Outcome: api.AlreadyStopped, Code: string(fault.DiskFull), Reason: why}
	}
	all := api.Endings{Members: []api.Ending{of("a", "x"), of("b", "x"), of("c", "y"), of("d", "x")}}
	if said := teams.Verdict(all).Error(); said != "a, b: x; c: y; d: x" {
		t.Errorf("one reason is said for each: %s", said)
	}
}
