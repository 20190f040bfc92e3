package mcp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// updates collects what a client is told of resources.
type updates struct {
	mu   sync.Mutex
	uris []string
}

func (u *updates) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.uris = append(u.uris, req.Params.URI)
	}}
}

func (u *updates) has(uri string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Contains(u.uris, uri)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

// again does something until a condition holds.
func again(t *testing.T, what string, ok func() bool, do func() error) {
	t.Helper()
	var next time.Time
	eventually(t, what, func() bool {
		if time.Now().After(next) {
			next = time.Now().Add(500 * time.Millisecond)
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		return ok()
	})
}

func TestM10_ResourcesTellOfChanges(t *testing.T) {
	d := newFixture(t)
	u := &updates{}
	lead := d.serve("", nil, u.options())
	do[teamCreateOut](t, lead, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	d.teammates("alpha", "bob", "研究")
	bob, _ := d.as("bob")
	const team, tasks, inbox = "leadlight://teams/alpha", "leadlight://teams/alpha/tasks", "leadlight://teams/alpha/inboxes/team-lead"
	for _, uri := range []string{team, tasks, inbox} {
		if err := lead.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	// The client does not wait until a subscription is in force: once more, until it is.
	again(t, "mail is told", func() bool { return u.has(inbox) }, func() error {
		_, err := bob.Send(t.Context(), "alpha", teams.SendSpec{To: "team-lead", Text: "three trends"})
		return err
	})
	if got := read(t, lead, inbox); !strings.Contains(got, "three trends") {
		t.Errorf("%s", got)
	}
	if got := do[inboxOut](t, lead, "ReadInbox", args{}).Messages; len(got) == 0 || got[0].Read {
		t.Errorf("reading the resource has marked it: %+v", got)
	}
	if u.has(tasks) {
		t.Error("the tasks have not changed")
	}
	again(t, "a task is told", func() bool { return u.has(tasks) }, func() error {
		_, err := bob.AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "look"})
		return err
	})
	d.stopped("alpha", "bob")
	eventually(t, "a member is told", func() bool { return u.has(team) })
	if err := lead.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: tasks}); err != nil {
		t.Error(err)
	}
	eventually(t, "a teammate's inbox is listed", func() bool {
		return slices.Contains(listed(t, lead), "leadlight://teams/alpha/inboxes/%E7%A0%94%E7%A9%B6")
	})
	if got := read(t, lead, "leadlight://teams/alpha/inboxes/%E7%A0%94%E7%A9%B6"); got != "[]" {
		t.Errorf("%s", got)
	}
	d.stopped("alpha", "研究")
	do[teamDeleteOut](t, lead, "TeamDelete", args{"team_name": "alpha"})
	eventually(t, "a deleted team is no longer listed", func() bool { return slices.Equal(listed(t, lead), []string{"leadlight://teams"}) })
}

func read(t *testing.T, c *sdk.ClientSession, uri string) string {
	t.Helper()
	res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	return res.Contents[0].Text
}

func listed(t *testing.T, c *sdk.ClientSession) []string {
	t.Helper()
	var uris []string
	for r, err := range c.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, r.URI)
	}
	return uris
}

// What is not there, or not the caller's to see, is not found; hostile URIs are only
// that.
func TestResourcesRefused(t *testing.T) {
	d := newFixture(t)
	lead := d.serve("", nil, nil)
	do[teamCreateOut](t, lead, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	d.teammates("alpha", "ann", "bob")
	bob := d.serve("bob", nil, nil)
	do[taskListOut](t, bob, "TaskList", args{})
	for _, uri := range []string{
		"leadlight://teams/alpha/inboxes/ann", "leadlight://teams/alpha/panes/ann", "leadlight://teams/nobody", "leadlight://teams/alpha/inboxes/nobody",
		"leadlight://teams/..%2F..%2Fetc", "leadlight://teams/alpha/inboxes/..%2Fx", "file:///etc/passwd", "leadlight://other/alpha", "leadlight://teams//", "x", "",
	} {
		if res, err := bob.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %+v", uri, res.Contents[0])
		}
	}
	if got := read(t, bob, "leadlight://teams/alpha/inboxes/bob"); got != "[]" {
		t.Errorf("%s", got)
	}
	delegate := d.serve("", func(o *Options) { o.Delegate = true }, nil)
	if _, err := delegate.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "leadlight://teams/alpha/panes/ann"}); err == nil {
		t.Error("delegate mode shows a pane")
	}
}

func FuzzPlace(f *testing.F) {
	for _, s := range []string{"leadlight://teams", "leadlight://teams/a", "leadlight://teams/a/tasks", "leadlight://teams/a/panes/%E7%A0%94", "leadlight://teams/a/b/c", "%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		p, ok := parsePlace(uri)
		if !ok {
			return
		}
		if again, ok := parsePlace(p.uri()); !ok || again != p {
			t.Errorf("%q is %+v, and %q is %+v", uri, p, p.uri(), again)
		}
	})
}

func FuzzDecode(f *testing.F) {
	schema := inputSchema[taskCreateIn](nil)
	for _, s := range []string{"", "null", "{}", `{"subject":"x"}`, `{"subject":7}`, `{"subject":"x","blockedBy":[1]}`, `{"metadata":{"a":null}}`, "[", `{"subject":"x","owner":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var in taskCreateIn
		if err := decode(schema, raw, &in); err != nil && (fault.CodeOf(err) != fault.InvalidArgument || fault.Of(err).Hint == "") {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

func TestM10_M11_WaitForEvents(t *testing.T) {
	d := newFixture(t)
	lead := d.serve("", nil, nil)
	do[teamCreateOut](t, lead, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	d.teammates("alpha", "ann", "bob")
	bob, _ := d.as("bob")
	if out := do[waitOut](t, lead, "WaitForEvents", args{"timeout_seconds": 0.05}); !out.TimedOut || len(out.Events) != 0 {
		t.Errorf("nothing has happened, but %+v", out)
	}
	said := make(chan error, 1)
	go func() {
		for _, to := range []string{"ann", "team-lead"} { // what others say to each other is not for the lead
			if _, err := bob.Send(context.Background(), "alpha", teams.SendSpec{To: to, Text: "hello"}); err != nil {
				said <- err
				return
			}
		}
		said <- nil
	}()
	out := do[waitOut](t, lead, "WaitForEvents", args{"timeout_seconds": 60})
	if err := <-said; err != nil || len(out.Events) != 1 || out.Events[0].Member != "bob" || out.Unread != 1 || out.Missed {
		t.Errorf("%+v (%v)", out, err)
	}
	// The same client is told once; from an earlier number it is told again.
	if again := do[waitOut](t, lead, "WaitForEvents", args{"timeout_seconds": 0.05}); !again.TimedOut || again.Next != out.Next {
		t.Errorf("%+v", again)
	}
	if again := do[waitOut](t, lead, "WaitForEvents", args{"timeout_seconds": 1, "after": 0, "types": []string{"team:message:sent"}}); len(again.Events) != 2 {
		t.Errorf("%+v", again)
	}
	// A client that comes later is told at once that mail waits for it.
	late := d.serve("ann", nil, nil)
	if out := do[waitOut](t, late, "WaitForEvents", args{"timeout_seconds": 0.05, "types": []string{"team:plan:requested"}}); !out.TimedOut || out.Unread != 1 {
		t.Errorf("mail that waits is no plan: %+v", out)
	}
	late = d.serve("ann", nil, nil)
	if out := do[waitOut](t, late, "WaitForEvents", args{"timeout_seconds": 60}); out.TimedOut || out.Unread != 1 {
		t.Errorf("%+v", out)
	}
	// A call that is cancelled ends.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := lead.CallTool(ctx, &sdk.CallToolParams{Name: "WaitForEvents", Arguments: args{"timeout_seconds": 300}}); err == nil {
		t.Error("it was not cancelled")
	}
}

// A slow reader of events is told that it has missed some.
func TestMissedEvents(t *testing.T) {
	tw := &teamWatch{news: make(chan struct{})}
	for range keptEvents + 5 {
		tw.keep([]events.Event{{Type: events.TeamCreated}})
	}
	if list, newest, missed, _ := tw.since(2); len(list) != keptEvents || newest != keptEvents+5 || !missed {
		t.Errorf("%d %d %v", len(list), newest, missed)
	}
	if list, _, missed, _ := tw.since(10); len(list) != keptEvents-5 || missed {
		t.Errorf("%d %v", len(list), missed)
	}
}
