package integration_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// model is a model at its tools: a client of leadlight mcp, over its streams.
type model struct {
	*sdk.ClientSession
	r *rig

	mu   sync.Mutex
	told []string // progress
}

// params are the parameters of a call.
type params = map[string]any

// mcp starts leadlight mcp and a client of it. env comes over the rig's own.
func (r *rig) mcp(env []string, args ...string) *model {
	r.t.Helper()
	cmd := exec.Command(r.bin, append([]string{"mcp"}, args...)...)
	cmd.Dir, cmd.Env = r.path("work"), append(append([]string{}, r.env...), env...)
	return r.client(cmd)
}

// client starts a server and returns a client of it.
func (r *rig) client(cmd *exec.Cmd) *model {
	r.t.Helper()
	cmd.Stderr = &strings.Builder{}
	m := &model{r: r}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.told = append(m.told, req.Params.Message)
		},
	})
	var err error
	if m.ClientSession, err = client.Connect(r.t.Context(), &sdk.CommandTransport{Command: cmd}, nil); err != nil {
		r.t.Fatalf("leadlight mcp: %v\n%s", err, cmd.Stderr)
	}
	r.t.Cleanup(func() { _ = m.Close() })
	return m
}

// toolCall calls a tool and decodes what it answers; code is that of the error.
func toolCall[T any](m *model, name string, in params) (v T, code string) {
	m.r.t.Helper()
	p := &sdk.CallToolParams{Name: name, Arguments: in}
	p.SetProgressToken(name)
	res, err := m.CallTool(m.r.t.Context(), p)
	if err != nil {
		m.r.t.Errorf("%s %v: %v", name, in, err)
		return v, "BROKEN"
	}
	raw, _ := json.Marshal(res.StructuredContent)
	var failed struct{ Error fault.Error }
	if err := json.Unmarshal(raw, &failed); err != nil {
		m.r.t.Errorf("%s: %v", raw, err)
	}
	if failed.Error.Code == "" {
		err = json.Unmarshal(raw, &v)
	} else if failed.Error.Hint == "" {
		m.r.t.Errorf("%s %v: %s without a hint", name, in, failed.Error.Code)
	}
	if err != nil {
		m.r.t.Errorf("%s: %v", raw, err)
	}
	return v, string(failed.Error.Code)
}

// tool calls a tool that has to succeed.
func tool[T any](m *model, name string, in params) T {
	m.r.t.Helper()
	v, code := toolCall[T](m, name, in)
	if code != "" {
		m.r.t.Fatalf("%s %v: %s", name, in, code)
	}
	return v
}

// waitFor waits for an event.
func (m *model) waitFor(kind, member string) {
	m.r.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		for _, e := range tool[waited](m, "WaitForEvents", params{"timeout_seconds": 5}).Events {
			if e.Type == kind && e.Member == member {
				return
			}
		}
	}
	m.r.t.Fatalf("no %s of %s", kind, member)
}

type waited struct {
	Events []struct{ Type, Member string }
	Unread int
}

type mail struct{ Messages []api.Message }

// claudeStub puts a program claude before all others: it writes down how it was
// started and lives on as a stub agent.
func (r *rig) claudeStub(mode string) (env []string) {
	r.t.Helper()
	for _, d := range []string{"stubs", "argv"} {
		if err := os.Mkdir(r.path(d), 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
	text := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + r.path("argv") + "/$LEADLIGHT_AGENT\nexec '" + strings.Join(r.stub(mode), "' '") + "'\n"
	if err := exetest.Write(r.path("stubs", "claude"), []byte(text)); err != nil {
		r.t.Fatal(err)
	}
	return []string{"PATH=" + r.path("stubs") + ":" + os.Getenv("PATH"), "CLAUDE_CONFIG_DIR=" + r.path("base"), "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1"}
}

// TestXD04_XS15_MCPWholeLife: the whole life of a team by tools alone, up to ends that are true, in
// tmux panes and without a terminal.
func TestXD04_XS15_MCPWholeLife(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]string{"tmux": "200x50", "headless": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, size)
			args := []string{}
			if size == "" {
				args = append(args, "--backend", "headless")
			}
			wholeLife(t, r, r.mcp(r.claudeStub("approve"), args...))
		})
	}
}

func wholeLife(t *testing.T, r *rig, lead *model) {
	const team = "research-team"
	made := tool[struct {
		Success              bool
		TeamPath, ConfigPath string
	}](lead, "TeamCreate", params{"team_name": team, "description": "Q4 sales analysis team"})
	if !made.Success || made.TeamPath != r.path("base", "teams", team) || made.ConfigPath != filepath.Join(made.TeamPath, "config.json") {
		t.Errorf("A-01: %+v", made)
	}
	tool[any](lead, "TaskCreate", params{"subject": "read the figures"})
	tool[any](lead, "TaskCreate", params{"subject": "write it down", "blockedBy": []string{"1"}})
	for i, name := range []string{"ann", "bob", "eve"} {
		got := tool[struct{ Member api.Member }](lead, "Task", params{
			"team_name": team, "name": name, "model": "haiku", "prompt": "You are a data analyst.", "subagent_type": "general-purpose", "run_in_background": i == 2,
		})
		if m := got.Member; m.Name != name || m.AgentID != name+"@"+team || m.Kind != "native" || i < 2 && m.State != "active" || m.TmuxPaneID == "" {
			t.Errorf("A-03, D-14: %+v", m)
		}
	}
	r.eventually("the command line is written down", func() bool {
		b, err := os.ReadFile(r.path("argv", "ann"))
		line := strings.ReplaceAll(string(b), "\n", " ")
		return err == nil && strings.HasPrefix(line, "--agent-id ann@"+team+" --agent-name ann --team-name "+team+" --agent-color ") &&
			strings.Contains(line, " --parent-session-id ") && strings.Contains(line, " --agent-type general-purpose ") && strings.Contains(line, " --model haiku ")
	})
	if first := tool[mail](lead, "ReadInbox", params{"name": "ann"}).Messages; len(first) != 1 || first[0].From != "team-lead" || first[0].Text != "You are a data analyst." || first[0].Read ||
		first[0].Summary == "" || first[0].Color == "" {
		t.Errorf("A-05, D-15: %+v", first)
	}
	if !slices.ContainsFunc(lead.progress(), func(s string) bool { return strings.HasPrefix(s, "ann has the pane ") }) {
		t.Errorf("no progress: %q", lead.progress())
	}
	if _, code := toolCall[any](lead, "TeamDelete", params{"team_name": team}); code != "ACTIVE_MEMBERS" {
		t.Errorf("A-13: %s", code)
	}
	r.eventually("the pane shows it", func() bool {
		return strings.Contains(tool[struct{ Text string }](lead, "CapturePane", params{"name": "ann"}).Text, "stub: ready")
	})
	ann := r.mcp([]string{"LEADLIGHT_AGENT=ann", "LEADLIGHT_TEAM=" + team}, "--enable-teams")
	mailAndPlan(t, lead, ann, team)
	for _, name := range []string{"ann", "bob", "eve"} {
		out := tool[struct{ RequestID, Outcome, Type, PaneID, BackendType string }](lead, "SendMessage", params{"type": "shutdown_request", "team_name": team, "recipient": name, "content": "Analysis complete."})
		if out.Outcome != "approved" || out.RequestID == "" || out.Type != "shutdown_approved" || out.PaneID == "" || out.BackendType == "" {
			t.Errorf("A-09: %s: %+v", name, out)
		}
	}
	lead.waitFor("team:member:shutdown", "eve")
	if _, code := toolCall[any](lead, "SendMessage", params{"type": "shutdown_request", "team_name": team, "recipient": "bob", "content": "again"}); code != "RECIPIENT_INACTIVE" {
		t.Errorf("A-12: %s", code)
	}
	var roster struct {
		Members []struct {
			Name     string
			IsActive *bool
		}
	}
	raw, err := os.ReadFile(made.ConfigPath)
	if err != nil || json.Unmarshal(raw, &roster) != nil || len(roster.Members) != 4 || *roster.Members[1].IsActive {
		t.Errorf("A-09: the roster is %s (%v)", raw, err)
	}
	tool[any](lead, "TeamDelete", params{"team_name": team})
	for _, p := range []string{"teams", "tasks"} {
		if _, err := os.Stat(r.path("base", p, team)); !os.IsNotExist(err) {
			t.Errorf("A-13: %s is there: %v", p, err)
		}
	}
}

// mailAndPlan: mail, tasks and a plan between the lead and a teammate.
func mailAndPlan(t *testing.T, lead, ann *model, team string) {
	tool[any](lead, "SendMessage", params{"type": "broadcast", "team_name": team, "content": "begin, please", "summary": "begin"})
	if got := tool[mail](ann, "ReadInbox", params{}).Messages; len(got) != 2 || got[1].Text != "begin, please" {
		t.Errorf("A-08: %+v", got)
	}
	tool[any](ann, "SendMessage", params{"type": "message", "team_name": team, "recipient": "team-lead", "content": "three trends", "summary": "trends"})
	lead.waitFor("team:message:sent", "ann")
	if got := tool[mail](lead, "ReadInbox", params{"from": "ann"}).Messages; len(got) != 1 || got[0].Text != "three trends" {
		t.Errorf("A-07: %+v", got)
	}
	plan := tool[struct{ RequestID string }](ann, "SubmitPlan", params{"plan": "1. read 2. write"})
	lead.waitFor("team:plan:requested", "ann")
	tool[any](lead, "SendMessage", params{"type": "plan_approval_response", "request_id": plan.RequestID, "approve": true, "feedback": "go"})
	ann.waitFor("team:plan:resolved", "ann")
	task := tool[struct{ Task api.Task }](ann, "TaskClaim", params{}).Task
	tool[any](ann, "TaskUpdate", params{"taskId": task.ID, "status": "completed", "result": "read"})
	lead.waitFor("team:task:completed", "ann")
	if list := tool[struct{ Tasks []api.Task }](lead, "TaskList", params{"ready": true}).Tasks; len(list) != 1 || list[0].ID != "2" {
		t.Errorf("M-08: %+v", list)
	}
	if _, code := toolCall[any](ann, "TaskGet", params{"taskId": "9"}); code != "TASK_NOT_FOUND" {
		t.Errorf("%s", code)
	}
}

func (m *model) progress() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.told)
}

// A teammate that refuses stays; its reason is told.
func TestA10_MCPRefusedShutdown(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	lead := r.mcp(r.claudeStub("refuse"), "--backend", "headless")
	tool[any](lead, "TeamCreate", params{"team_name": "alpha", "description": "x"})
	tool[any](lead, "Task", params{"team_name": "alpha", "name": "bob", "model": "sonnet", "prompt": "x", "subagent_type": "general-purpose"})
	res, err := lead.CallTool(t.Context(), &sdk.CallToolParams{Name: "SendMessage", Arguments: params{"type": "shutdown_request", "team_name": "alpha", "recipient": "bob", "content": "go"}})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, "REJECTED: refused to stop: bob: not finished") {
		t.Errorf("%v %+v", err, res)
	}
	if st := tool[struct{ Team api.Team }](lead, "TeamStatus", params{}); st.Team.Members[1].State != "active" {
		t.Errorf("%+v", st.Team.Members)
	}
}

// A spawn whose call is cancelled leaves nothing that runs, whether it was on its way or
// runs already.
func TestMCPCancelledSpawn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	lead := r.mcp(r.claudeStub("approve"), "--backend", "headless")
	tool[any](lead, "TeamCreate", params{"team_name": "alpha", "description": "x"})
	for name, at := range map[string]string{"amy": "starting amy", "bob": "bob has the pane ", "eve": "eve is "} {
		ctx, cancel := context.WithCancel(t.Context())
		p := &sdk.CallToolParams{Name: "Task", Arguments: params{"team_name": "alpha", "name": name, "model": "sonnet", "prompt": "x", "subagent_type": "general-purpose"}}
		p.SetProgressToken(name)
		done := make(chan error, 1)
		go func() {
			_, err := lead.CallTool(ctx, p)
			done <- err
		}()
		r.eventually(at, func() bool {
			return slices.ContainsFunc(lead.progress(), func(s string) bool { return strings.HasPrefix(s, at) })
		})
		cancel()
		if err := <-done; err == nil && name == "amy" {
			t.Error("the call was not cancelled")
		}
	}
	asked := map[string]bool{}
	r.eventually("nothing of them is left", func() bool { // one may still have been on its way
		for _, name := range []string{"bob", "eve"} { // who had started before the word came stays
			started := slices.ContainsFunc(lead.progress(), func(s string) bool { return strings.HasPrefix(s, name+" is ") })
			if started && !asked[name] {
				asked[name] = true
				_, _ = toolCall[any](lead, "SendMessage", params{"type": "shutdown_request", "team_name": "alpha", "recipient": name, "content": "it was faster"})
			}
		}
		_, code := toolCall[any](lead, "TeamDelete", params{"team_name": "alpha"})
		return code == ""
	})
}

// When the client goes, its teammates go on, or end, as is set.
func TestMCPClientGoes(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{"keep": "active", "shutdown": "stopped"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "")
			conf := r.path("home", "leadlight")
			if err := os.MkdirAll(conf, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(conf, "config.yaml"), []byte("lifecycle: {onLeadExit: "+policy+", ask: 5s}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			lead := r.mcp(r.claudeStub("approve"), "--backend", "headless")
			tool[any](lead, "TeamCreate", params{"team_name": "alpha", "description": "x"})
			tool[any](lead, "Task", params{"team_name": "alpha", "name": "bob", "model": "sonnet", "prompt": "x", "subagent_type": "general-purpose"})
			go func() {
				_, _ = lead.CallTool(t.Context(), &sdk.CallToolParams{Name: "WaitForEvents", Arguments: params{"timeout_seconds": 300}})
			}()
			r.eventually("it waits", func() bool { return r.member("bob").State == "active" })
			_ = lead.Close()
			r.eventually("bob is "+want, func() bool { return r.member("bob").State == want })
		})
	}
}

// Eight clients at once on one team: no task is taken twice, no message lost.
func TestR01_M07_MCPEightClients(t *testing.T) {
	t.Parallel()
	const clients, tasks = 8, 24
	r := newRig(t, "")
	lead := r.mcp(nil, "--enable-teams", "--backend", "headless")
	tool[any](lead, "TeamCreate", params{"team_name": "alpha", "description": "x"})
	for range tasks {
		tool[any](lead, "TaskCreate", params{"subject": "one of many"})
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	owner := map[string]string{}
	for i := range clients {
		name := "w" + string(rune('a'+i))
		m := r.mcp(nil, "--enable-teams", "--role", "teammate", "--as", name)
		wg.Go(func() {
			for {
				got, code := toolCall[struct{ Task api.Task }](m, "TaskClaim", params{})
				if code != "" {
					if code != "NO_TASK_READY" {
						t.Errorf("%s: %s", name, code)
					}
					return
				}
				mu.Lock()
				if was, twice := owner[got.Task.ID]; twice {
					t.Errorf("task %s went to %s and %s", got.Task.ID, was, name)
				}
				owner[got.Task.ID] = name
				mu.Unlock()
				if _, code := toolCall[any](m, "TaskUpdate", params{"taskId": got.Task.ID, "metadata": params{name: true}}); code != "" {
					t.Errorf("%s: %s", name, code)
				}
				if _, code := toolCall[any](m, "TaskUpdate", params{"taskId": "1", "addBlocks": []string{}, "metadata": params{"x": 1}}); code != "" && code != "TASK_CLAIMED" {
					t.Errorf("%s: %s", name, code)
				}
			}
		})
	}
	wg.Wait()
	list := tool[struct{ Tasks []api.Task }](lead, "TaskList", params{"status": "in_progress"}).Tasks
	for _, task := range list {
		if owner[task.ID] != task.Owner || string(task.Metadata[task.Owner]) != "true" {
			t.Errorf("lost: %+v, claimed by %s", task, owner[task.ID])
		}
	}
	if len(list) != tasks {
		t.Errorf("%d of %d tasks were taken", len(list), tasks)
	}
}

// The variable opens the gate, and nothing but 1 does.
func TestR07_M20_MCPGate(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	for value, want := range map[string]int{"": 0, "0": 0, "1": 12} {
		m := r.mcp([]string{"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=" + value})
		list, err := m.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != want {
			t.Errorf("%q: %v, %+v", value, err, list)
		}
	}
}
