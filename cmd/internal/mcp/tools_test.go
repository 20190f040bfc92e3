package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

func toolNames(t *testing.T, c *sdk.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// Without the variable the tools do not exist; a teammate never gets those of the
// lead; delegate mode leaves those that coordinate.
func TestR06_R07_M20_WhoGetsWhichTools(t *testing.T) {
	d := newFixture(t)
	lead := []string{"CapturePane", "ReadInbox", "SendMessage", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TeamCreate", "TeamDelete", "TeamStatus", "WaitForEvents"}
	teammate := []string{"ReadInbox", "SendMessage", "SubmitPlan", "TaskClaim", "TaskGet", "TaskList", "TaskUpdate", "WaitForEvents"}
	for _, tc := range []struct {
		name string
		who  string
		set  func(*Options)
		want []string
	}{
		{"lead", "", nil, lead},
		{"teammate", "bob", nil, teammate},
		{"delegate", "", func(o *Options) { o.Delegate = true }, lead[1:]},
		{"not enabled", "", func(o *Options) { o.Enabled = false }, nil},
		{"not enabled for a teammate", "bob", func(o *Options) { o.Enabled = false }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := d.serve(tc.who, tc.set, nil)
			if got := toolNames(t, c); !slices.Equal(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
			if tc.want == nil {
				if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "TeamCreate", Arguments: args{"team_name": "x-y", "description": "x"}}); err == nil {
					t.Error("a tool that does not exist answers")
				}
				if r := c.InitializeResult(); r.Instructions != "" || r.Capabilities.Resources != nil {
					t.Errorf("the teams are visible: %+v", r)
				}
			}
		})
	}
}

// Every tool has a schema that a model can use, and takes any input without falling
// over: wrong types, nothing, too much, too large.
func TestHostileInput(t *testing.T) {
	d := newFixture(t)
	lead := d.serve("", nil, nil)
	do[teamCreateOut](t, lead, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	d.teammates("alpha", "bob")
	huge := strings.Repeat("x", store.MaxMessage+1)
	tried := map[string]bool{}
	for _, c := range []*sdk.ClientSession{lead, d.serve("bob", nil, nil)} {
		for tool, err := range c.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := json.Marshal(tool.InputSchema)
			var schema struct {
				Type       string
				Properties map[string]struct{ Type, Description string }
				Required   []string
			}
			if err := json.Unmarshal(raw, &schema); err != nil || schema.Type != "object" || tool.Description == "" || tool.OutputSchema == nil {
				t.Errorf("%s: %v %s", tool.Name, err, raw)
			}
			for _, in := range []any{"text", []int{1}, 7, args{"no_such": 1}, args{"__proto__": args{}}, json.RawMessage(`{"team_name":"a","team_name":7}`)} {
				checkSurvives(t, c, tool.Name, in)
			}
			again := tried[tool.Name]
			tried[tool.Name] = true
			large := true // once for a tool
			for name, p := range schema.Properties {
				if p.Type == "" || p.Description == "" {
					t.Errorf("%s: the parameter %s is %+v", tool.Name, name, p)
				}
				if again { // the lead has tried it
					continue
				}
				wrong := map[string]any{}
				for _, r := range schema.Required {
					wrong[r] = "alpha"
				}
				values := []any{nil, 7, 7.5, -1, 1e300, true, "", "\x00", "../../../etc/passwd", "\u202egnp\x1b[2J", []any{}, args{}, []string{"../x"}}
				if p.Type == "string" && large {
					large = false
					values = append(values, huge)
				}
				if name == "timeout_seconds" || name == "wait_seconds" {
					values = []any{-1, 1e300, "x", 0.01}
				}
				for _, v := range values {
					if wrong[name] = v; tool.Name == "WaitForEvents" && name != "timeout_seconds" {
						wrong["timeout_seconds"] = 0.01
					}
					checkSurvives(t, c, tool.Name, wrong)
				}
			}
		}
	}
	if _, err := os.Stat(filepath.Join(d.base, "teams/alpha/config.json")); err != nil {
		t.Error("the team did not survive:", err)
	}
}

func checkSurvives(t *testing.T, c *sdk.ClientSession, name string, in any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		t.Fatalf("%s %.100v: %v", name, in, err)
	}
	var out failure
	into(t, res, &out)
	if res.IsError && (out.Error.Code == "" || out.Error.Message == "") {
		t.Errorf("%s %.100v: %+v", name, in, out)
	}
}

func TestWrongTypesAreNamed(t *testing.T) {
	c := newFixture(t).serve("", nil, nil)
	for _, tc := range []struct {
		in   any
		want string
	}{
		{args{"team_name": 7, "description": "x"}, "team_name is of type integer"},
		{args{"team_name": "alpha"}, "description is missing"},
		{args{"team_name": nil, "description": "x"}, "team_name is of type null"},
		{args{"team_name": "alpha", "description": "x", "lead": "me"}, `no parameter "lead"`},
		{[]int{}, "no JSON object"},
	} {
		e := refused(t, c, "TeamCreate", tc.in, fault.InvalidArgument)
		if !strings.Contains(e.Message, tc.want) || !strings.Contains(e.Hint, "team_name") && !strings.Contains(e.Hint, "string") {
			t.Errorf("%v: %+v", tc.in, e)
		}
	}
	e := refused(t, c, "TaskUpdate", args{"taskId": "1", "addBlockedBy": []any{"1", 2}}, fault.InvalidArgument)
	if e.Message != "the parameter addBlockedBy holds a value of type integer" || !strings.Contains(e.Hint, "values of type string") {
		t.Errorf("%+v", e)
	}
	// What may be left out may be null.
	do[teamStatusOut](t, c, "TeamStatus", args{"team_name": nil})
}

// A session leads one team; a lead in delegate mode takes no work for itself, however
// the mode was turned on.
func TestM05_M14_R06_OneTeamAndNoWork(t *testing.T) {
	d := newFixture(t)
	c := d.serve("", nil, nil)
	do[teamCreateOut](t, c, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	refused(t, c, "TeamCreate", args{"team_name": "beta", "description": "x"}, fault.LimitReached)
	task := do[taskOut](t, c, "TaskCreate", args{"subject": "look"})
	svc, _ := d.as("")
	if err := svc.SetDelegate(t.Context(), "alpha", true); err != nil {
		t.Fatal(err)
	}
	d.teammates("alpha", "bob")
	refused(t, c, "CapturePane", args{"name": "bob"}, fault.Rejected)
	refused(t, c, "TaskUpdate", args{"taskId": task.Task.ID, "status": "in_progress"}, fault.Rejected)
	refused(t, c, "TaskUpdate", args{"taskId": task.Task.ID, "owner": "team-lead"}, fault.Rejected)
	do[taskOut](t, c, "TaskUpdate", args{"taskId": task.Task.ID, "owner": "bob"})
	if !do[teamStatusOut](t, c, "TeamStatus", args{}).Delegate {
		t.Error("the mode is not shown")
	}
}

// The mail that the tools write and read.
func TestA07_A08_A10_A11_A15_XS15_Mail(t *testing.T) {
	d := newFixture(t)
	lead := d.serve("", nil, nil)
	do[teamCreateOut](t, lead, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	d.teammates("alpha", "ann", "bob")
	bob, ann := d.serve("bob", nil, nil), d.serve("ann", nil, nil)
	do[sendOut](t, lead, "SendMessage", args{"type": "message", "team_name": "alpha", "recipient": "bob", "content": "look at it", "summary": "look"})
	all := do[sendOut](t, bob, "SendMessage", args{"type": "broadcast", "team_name": "alpha", "content": "hello", "summary": "hi"})
	if len(all.Sent) != 2 {
		t.Errorf("A-08: %+v", all)
	}
	got := do[inboxOut](t, bob, "ReadInbox", args{"from": "team-lead"}).Messages
	if len(got) != 1 || got[0].Text != "look at it" || got[0].Summary != "look" || got[0].Color == "" || got[0].Read {
		t.Errorf("A-07: %+v", got)
	}
	if again := do[inboxOut](t, bob, "ReadInbox", args{}).Messages; len(again) != 0 {
		t.Errorf("read twice: %+v", again)
	}
	if again := do[inboxOut](t, bob, "ReadInbox", args{"all": true, "since_seconds": 3600}).Messages; len(again) != 1 || !again[0].Read {
		t.Errorf("A-15: %+v", again)
	}
	if peek := do[inboxOut](t, lead, "ReadInbox", args{"name": "ann"}).Messages; len(peek) != 1 {
		t.Errorf("the lead sees %+v", peek)
	}
	if own := do[inboxOut](t, ann, "ReadInbox", args{}).Messages; len(own) != 1 || own[0].From != "bob" || own[0].Color != "blue" {
		t.Errorf("looking has changed it: %+v", own)
	}
	refused(t, bob, "ReadInbox", args{"name": "ann"}, fault.InvalidArgument)
	refused(t, bob, "SendMessage", args{"type": "shutdown_request", "team_name": "alpha", "recipient": "ann", "content": "go"}, fault.InvalidType)
	refused(t, bob, "SendMessage", args{"type": "shutdown_response", "request_id": "no", "approve": true}, fault.RequestNotFound)

	plan := do[planOut](t, bob, "SubmitPlan", args{"plan": "1. read"})
	if st := do[teamStatusOut](t, lead, "TeamStatus", args{}); len(st.Plans) != 1 || st.Plans[0].ID != plan.RequestID {
		t.Errorf("A-11: %+v", st.Plans)
	}
	do[sendOut](t, lead, "SendMessage", args{"type": "plan_approval_response", "request_id": plan.RequestID, "approve": false})
	mail := do[inboxOut](t, bob, "ReadInbox", args{}).Messages
	if len(mail) != 1 || mail[0].Type != "plan_approval_response" || !strings.Contains(mail[0].Text, noReason) {
		t.Errorf("A-11: %+v", mail)
	}
	refused(t, lead, "SendMessage", args{"type": "plan_approval_response", "request_id": plan.RequestID, "approve": true}, fault.Rejected)
}

func TestM08_M09_R01_Tasks(t *testing.T) {
	d := newFixture(t)
	lead := d.serve("", nil, nil)
	do[teamCreateOut](t, lead, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	d.teammates("alpha", "ann", "bob")
	bob, ann := d.serve("bob", nil, nil), d.serve("ann", nil, nil)
	do[taskOut](t, lead, "TaskCreate", args{"subject": "one", "description": "first", "metadata": args{"size": 3}})
	do[taskOut](t, lead, "TaskCreate", args{"subject": "two", "blockedBy": []string{"#1"}})
	refused(t, bob, "TaskClaim", args{"taskId": "2"}, fault.TaskBlocked)
	if got := do[taskOut](t, bob, "TaskClaim", args{}); got.Task.ID != "1" || got.Task.Owner != "bob" || string(got.Task.Metadata["size"]) != "3" {
		t.Errorf("%+v", got)
	}
	refused(t, ann, "TaskClaim", args{"taskId": "1"}, fault.TaskClaimed)
	refused(t, ann, "TaskClaim", args{"wait_seconds": 0.05}, fault.NoTaskReady)
	refused(t, ann, "TaskUpdate", args{"taskId": "1", "subject": "mine"}, fault.TaskClaimed)
	refused(t, bob, "TaskUpdate", args{"taskId": "1", "result": "x"}, fault.InvalidArgument)
	if got := do[taskOut](t, bob, "TaskUpdate", args{"taskId": "1", "status": "completed", "result": "done well", "description": "read"}); got.Task.Result != "done well" || got.Task.Description != "read" {
		t.Errorf("%+v", got)
	}
	if got := do[taskOut](t, ann, "TaskClaim", args{"taskId": "2"}); got.Task.Status != "in_progress" {
		t.Errorf("%+v", got)
	}
	if got := do[taskOut](t, ann, "TaskUpdate", args{"taskId": "2", "status": "failed", "reason": "no disk"}); got.Task.Failure != "no disk" {
		t.Errorf("%+v", got)
	}
	if got := do[taskListOut](t, lead, "TaskList", args{"status": "failed"}); len(got.Tasks) != 1 {
		t.Errorf("%+v", got)
	}
	do[taskOut](t, lead, "TaskUpdate", args{"taskId": "2", "status": "deleted"})
	refused(t, lead, "TaskGet", args{"taskId": "2"}, fault.TaskNotFound)
}

// What is kept with a task is kept as it was given: no number loses digits, on the way
// in, in the file, and on the way back. (A client that decodes numbers as most do would
// lose them itself, so the answer is looked at as it is sent.)
func TestMetadataKeepsEveryDigit(t *testing.T) {
	d := newFixture(t)
	svc, who := d.as("")
	s := New(Options{Source: watch.Source{Service: svc, Roster: d.fs.Roster()}, Caller: who, Enabled: true})
	call := func(name, params string) string {
		t.Helper()
		for _, tool := range s.tools() {
			if tool.name == name {
				res, err := s.handler(tool)(t.Context(), &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: name, Arguments: json.RawMessage(params)}})
				raw, merr := json.Marshal(res)
				if err != nil || merr != nil || res.IsError {
					t.Fatalf("%s: %v %v %s", name, err, merr, raw)
				}
				return string(raw)
			}
		}
		t.Fatalf("no tool %s", name)
		return ""
	}
	call("TeamCreate", `{"team_name": "alpha", "description": "x"}`)
	call("TaskCreate", `{"subject": "one", "metadata": {"big": 9007199254740993, "deep": [{"n": -9007199254740995}], "nothing": null}}`)
	call("TaskUpdate", `{"taskId": "1", "metadata": {"small": 0.1000000000000000055511151231257827, "nothing": null}}`)
	file, err := os.ReadFile(filepath.Join(d.base, "tasks/alpha/1.json"))
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"the file": string(file), "the answer": call("TaskGet", `{"taskId": "1"}`)} {
		for _, digits := range []string{"9007199254740993", "-9007199254740995", "0.1000000000000000055511151231257827"} {
			if !strings.Contains(text, digits) {
				t.Errorf("%s lacks %s: %s", where, digits, text)
			}
		}
		if strings.Contains(text, "nothing") {
			t.Errorf("null deletes a field: %s", text)
		}
	}
}
