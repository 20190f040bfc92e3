package teams_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// hook puts one command on an event, in the settings of the lead's folder.
func (d *desk) hook(event, command string) {
	d.t.Helper()
	line, err := json.Marshal(command)
	if err != nil {
		d.t.Fatal(err)
	}
	d.write(".claude/settings.json", `{"hooks":{"`+event+`":[{"hooks":[{"type":"command","command":`+string(line)+`}]}]}}`)
}

func (d *desk) add(spec teams.TaskSpec) string {
	d.t.Helper()
	task, err := d.as("").AddTask(d.t.Context(), "alpha", spec)
	if err != nil {
		d.t.Fatal(err)
	}
	return task.ID
}

// TestHK01_HK02_HK04_M18_AnObjectionKeepsATaskOpen goes through a task's life with
// a gate: the hook sees it in progress, it never was anything else, and whoever
// tries too often is told to stop.
func TestHK01_HK02_HK04_M18_AnObjectionKeepsATaskOpen(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	id, next := d.add(teams.TaskSpec{Subject: "Piece"}), ""
	next = d.add(teams.TaskSpec{Subject: "After it", BlockedBy: []string{id}})
	s, ctx := d.as("builder"), t.Context()
	if _, err := s.ClaimTask(ctx, "alpha", id); err != nil {
		t.Fatal(err)
	}
	seen := filepath.Join(d.base, "seen")
	d.hook("TaskCompleted", "cat ../tasks/alpha/"+id+".json >>"+seen+" 2>/dev/null || cat tasks/alpha/"+id+".json >>"+seen+"; cat >"+seen+".in; exit 2")
	for n := 1; n <= 4; n++ {
		_, err := s.CompleteTask(ctx, "alpha", id, "made")
		wantCode(t, err, fault.Rejected)
		no, objected := errors.AsType[teams.Objection](err)
		if !objected || !strings.Contains(no.Feedback, "no reason given") || !strings.Contains(no.Feedback, "TaskCompleted of task "+id) {
			t.Errorf("feedback %q", no.Feedback)
		}
		if stop := strings.Contains(fault.Of(err).Hint, "stop trying"); stop != (n >= 3) {
			t.Errorf("objection %d: %s", n, fault.Of(err).Hint)
		}
	}
	done := "completed"
	_, err := s.UpdateTask(ctx, "alpha", id, teams.TaskChange{Status: &done})
	wantCode(t, err, fault.Rejected)
	if task, _ := s.Task(ctx, "alpha", id); task.Status != store.InProgress || task.Owner != "builder" {
		t.Errorf("the task is %+v", task)
	}
	if task, _ := s.Task(ctx, "alpha", next); task.Status != store.Blocked {
		t.Errorf("what depends on it is %s", task.Status)
	}
	if data, _ := os.ReadFile(seen); strings.Contains(string(data), `"completed"`) || !strings.Contains(string(data), `"in_progress"`) {
		t.Errorf("the hook saw %s", data)
	}
	if data, _ := os.ReadFile(seen + ".in"); !strings.Contains(string(data), `"teammate_name":"builder"`) || !strings.Contains(string(data), `"task_subject":"Piece"`) {
		t.Errorf("the hook was told %s", data)
	}
	mail, err := d.as("").Inbox(ctx, "alpha", "", teams.InboxFilter{From: "builder"})
	if err != nil || len(mail) != 1 || !strings.Contains(mail[0].Text, "no reason given") {
		t.Errorf("the lead was told %+v %v", mail, err)
	}
	d.hook("TaskCompleted", "echo broken >&2; exit 1") // no answer is no objection
	task, err := s.CompleteTask(ctx, "alpha", id, "made")
	if err != nil || task.Status != store.Completed || task.Metadata["objections"] != nil {
		t.Errorf("got %+v %v", task, err)
	}
}

func TestAHookKeepsATaskFromBeingMade(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	first := d.add(teams.TaskSpec{Subject: "fine"})
	d.hook("TaskCreated", `grep -q '"task_subject":"bad"' || exit 0; echo say what is to be done >&2; exit 2`)
	_, err := d.as("").AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "bad", Blocks: []string{first}})
	wantCode(t, err, fault.Rejected)
	if !strings.Contains(err.Error(), "say what is to be done") {
		t.Errorf("no reason: %v", err)
	}
	good := d.add(teams.TaskSpec{Subject: "good"})
	list, _, err := d.as("").TaskList(t.Context(), "alpha", teams.TaskFilter{Ready: true})
	if err != nil || len(list) != 2 || list[1].ID != good || good != "3" || len(list[0].BlockedBy) != 0 {
		t.Errorf("got %+v %v; ids are never used twice", list, err)
	}
}

// While its hooks are asked a task is there, has not failed, and nobody can take it.
func TestATaskWaitsForItsHooks(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	pipe := func(name string) (*os.File, string) {
		path := filepath.Join(d.base, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f, path
	}
	asked, askedPath := pipe("asked")
	answer, answerPath := pipe("answer")
	d.hook("TaskCreated", "echo asked >'"+askedPath+"'; read line <'"+answerPath+"'")
	made := make(chan error, 1)
	go func() {
		_, err := d.as("").AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "Piece"})
		made <- err
	}()
	if _, err := asked.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if task, err := d.as("").Task(t.Context(), "alpha", "1"); err != nil || task.Status != store.Blocked || task.Failure != "" || task.Ready {
		t.Errorf("meanwhile: %+v %v", task, err)
	}
	_, err := d.as("builder").ClaimTask(t.Context(), "alpha", "1")
	wantCode(t, err, fault.TaskBlocked)
	if _, err := answer.WriteString("yes\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	if task, err := d.as("builder").ClaimTask(t.Context(), "alpha", "1"); err != nil || task.Metadata["awaitsHooks"] != nil {
		t.Errorf("afterwards: %+v %v", task, err)
	}
}

func TestHK02_M17_AnObjectionKeepsATeammateAwake(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	s := d.as("builder")
	if feedback, err := s.MayIdle(t.Context(), "alpha", 0); err != nil || feedback != "" {
		t.Errorf("without hooks: %q %v", feedback, err)
	}
	d.hook("TeammateIdle", `cat >in; echo run the tests >&2; exit 2`)
	for before := range 3 {
		feedback, err := s.MayIdle(t.Context(), "alpha", before)
		if err != nil || strings.Contains(feedback, "run the tests") != (before < 2) {
			t.Errorf("after %d: %q %v", before, feedback, err)
		}
	}
	in, _ := os.ReadFile(filepath.Join(d.base, "in"))
	for _, part := range []string{`"hook_event_name":"TeammateIdle"`, `"teammate_name":"builder"`, `"team_name":"alpha"`, `"permission_mode":"default"`} {
		if !strings.Contains(string(in), part) {
			t.Errorf("the hook was told %s, not %s", in, part)
		}
	}
	mail, err := d.as("").Inbox(t.Context(), "alpha", "", teams.InboxFilter{From: "builder"})
	if err != nil || len(mail) != 1 || !strings.Contains(mail[0].Text, "run the tests") {
		t.Errorf("the lead was told %+v %v", mail, err)
	}
}

// TestHK01_M17_M18_EveryEventFromEveryPlace: the hooks of each event stand in any of
// Claude Code's settings, get what it gives them and nothing else, and their reason
// reaches whoever was refused.
func TestHK01_M17_M18_EveryEventFromEveryPlace(t *testing.T) {
	common := []string{"cwd", "hook_event_name", "session_id", "team_name", "transcript_path"}
	task := append([]string{"task_description", "task_id", "task_subject"}, common...)
	teammate := []string{"agent_type", "teammate_name"}
	for _, place := range []string{"home/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
		d := newDesk(t)
		typed := running("builder")
		typed.AgentType = "general-purpose"
		d.team("alpha", typed)
		id := d.add(teams.TaskSpec{Subject: "Piece", Description: "all of it"})
		as := func(name string) *teams.Service {
			return d.as(name).WithEnviron(d.base, []string{"HOME=" + filepath.Join(d.base, "home"), "PATH=" + os.Getenv("PATH")}, nil)
		}
		for _, tc := range []struct {
			event string
			try   func() error
			keys  []string
		}{
			{"TeammateIdle", func() error {
				feedback, err := as("builder").MayIdle(t.Context(), "alpha", 0)
				return errors.Join(err, errors.New(feedback))
			}, slices.Concat(common, teammate, []string{"permission_mode"})},
			{"TaskCompleted", func() error {
				_, err := as("builder").CompleteTask(t.Context(), "alpha", id, "made")
				return err
			}, slices.Concat(task, teammate)},
			{"TaskCompleted", func() error {
				_, err := as("").CompleteTask(t.Context(), "alpha", id, "made")
				return err
			}, task},
			{"TaskCreated", func() error {
				_, err := as("").AddTask(t.Context(), "alpha", teams.TaskSpec{Subject: "x", Description: "y"})
				return err
			}, task},
		} {
			line, _ := json.Marshal("cat >seen; echo not like this >&2; exit 2")
			d.write(place, `{"hooks":{"`+tc.event+`":[{"hooks":[{"type":"command","command":`+string(line)+`}]}]}}`)
			if err := tc.try(); err == nil || !strings.Contains(err.Error(), "not like this") || !strings.Contains(err.Error(), tc.event) {
				t.Errorf("%s in %s: %v", tc.event, place, err)
			}
			var in map[string]any
			data, _ := os.ReadFile(filepath.Join(d.base, "seen"))
			if err := json.Unmarshal(data, &in); err != nil {
				t.Fatalf("%s in %s: %q: %v", tc.event, place, data, err)
			}
			slices.Sort(tc.keys)
			if got := slices.Sorted(maps.Keys(in)); !slices.Equal(got, tc.keys) || in["hook_event_name"] != tc.event {
				t.Errorf("%s in %s gets %q, want %q", tc.event, place, got, tc.keys)
			}
		}
	}
}

// TestHK02_HooksOfTheTeamFileForAClient: who asks for a client is told the feedback, and
// no objection goes on for ever; the task is not touched, since the client may hold it.
func TestHK02_HooksOfTheTeamFileForAClient(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	id := d.add(teams.TaskSpec{Subject: "Piece"})
	d.write("leadlight/alpha/launch/.hooks.json", `[
		{"event":"TeammateIdle","command":"[ -e agree ] || { cat >seen; echo look again >&2; exit 2; }"},
		{"event":"TaskCompleted","command":"[ -e agree ] || { cat >seen; echo not yet >&2; exit 2; }"}]`)
	d.hook("TaskCompleted", "echo the client asks this itself >&2; exit 2")
	before, _ := d.as("").Task(t.Context(), "alpha", id)
	ask := func(in hooks.Input) string {
		t.Helper()
		feedback, err := d.as("builder").AskKept(t.Context(), "alpha", in)
		if err != nil {
			t.Fatal(err)
		}
		return feedback
	}
	idle := hooks.Input{HookEventName: "TeammateIdle", SessionID: "own", TranscriptPath: "/t"}
	done := hooks.Input{HookEventName: "TaskCompleted", TaskID: id, TaskSubject: "Piece"}
	for n := 1; n <= 8; n++ {
		if got := ask(idle); (n%3 == 0) != (got == "") || got != "" && !strings.Contains(got, "look again") {
			t.Errorf("idle, %d: %q", n, got)
		}
		if got := ask(done); !strings.Contains(got, "not yet") || strings.Contains(got, "itself") || strings.Contains(got, "stop trying") != (n >= 3) {
			t.Errorf("done, %d: %q", n, got)
		}
	}
	if got := ask(hooks.Input{HookEventName: "TaskCreated", TaskID: "9"}); got != "" {
		t.Errorf("without a hook: %q", got)
	}
	d.write("agree", "")
	if ask(idle) != "" || ask(done) != "" {
		t.Error("an agreement is none")
	}
	if err := os.Remove(filepath.Join(d.base, "agree")); err != nil {
		t.Fatal(err)
	}
	if got := ask(done); strings.Contains(got, "stop trying") {
		t.Errorf("an agreement does not end the row: %q", got)
	}
	if data, _ := os.ReadFile(filepath.Join(d.base, "seen")); !strings.Contains(string(data), `"teammate_name":"builder"`) || !strings.Contains(string(data), `"task_subject":"Piece"`) {
		t.Errorf("the hook was told %s", data)
	}
	if after, _ := d.as("").Task(t.Context(), "alpha", id); len(after.Metadata) != len(before.Metadata) {
		t.Errorf("the task is now %+v", after)
	}
	mail, err := d.as("").Inbox(t.Context(), "alpha", "", teams.InboxFilter{From: "builder"})
	if err != nil || len(mail) != 3 { // twice kept from resting, once from completing
		t.Errorf("the lead was told %+v %v", mail, err)
	}
}

// TestXH01_LostHooksAreNoOpenGate: whatever becomes of the record of a team file's hooks,
// what they might object to is refused, by us and for a client.
func TestXH01_LostHooksAreNoOpenGate(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	id := d.add(teams.TaskSpec{Subject: "Piece"})
	if err := d.as("").KeepHooks(t.Context(), "alpha", []hooks.Hook{{Event: hooks.TaskCompleted, Command: "true"}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", "null", "[]", `[{"event":"TaskCompleted"`, `[null]`, "gone"} {
		d.write("leadlight/alpha/launch/.hooks.json", text)
		if text == "gone" {
			if err := os.Remove(filepath.Join(d.base, "leadlight/alpha/launch/.hooks.json")); err != nil {
				t.Fatal(err)
			}
		}
		_, err := d.as("builder").CompleteTask(t.Context(), "alpha", id, "")
		wantCode(t, err, fault.CorruptFile)
		feedback, err := d.as("builder").AskKept(t.Context(), "alpha", hooks.Input{HookEventName: hooks.TaskCompleted, TaskID: id})
		if err != nil || !strings.Contains(feedback, "hooks of team alpha") {
			t.Errorf("%q: a client is told %q: %v", text, feedback, err)
		}
		if feedback, _ := d.as("builder").AskKept(t.Context(), "alpha", hooks.Input{HookEventName: hooks.TeammateIdle}); feedback != "" {
			t.Errorf("%q: nobody may rest: %s", text, feedback)
		}
	}
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	file := filepath.Join(d.base, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

// TestATaskNamesNoHook: what is in a task or in the roster is nobody's command.
func TestATaskNamesNoHook(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	mark := filepath.Join(d.base, "ran")
	id := d.add(teams.TaskSpec{Subject: "$(touch " + mark + ")", Metadata: map[string]json.RawMessage{
		"hooks": json.RawMessage(`{"TaskCompleted":[{"type":"command","command":"touch ` + mark + `"}]}`)}})
	err := d.fs.Roster().Update(t.Context(), "alpha", func(team *store.Team) error {
		team.Metadata = map[string]json.RawMessage{"hooks": json.RawMessage(`{"TaskCompleted":[{"hooks":[{"type":"command","command":"touch ` + mark + `"}]}]}`)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d.hook("TaskCompleted", "cat >/dev/null")
	if _, err := d.as("builder").CompleteTask(t.Context(), "alpha", id, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a task ran a program")
	}
}

// TestXF08_AChildOfAnAgentIsNoTeammate: what a native agent's own child does is neither
// asked nor counted as the teammate's.
func TestXF08_AChildOfAnAgentIsNoTeammate(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	id := d.add(teams.TaskSpec{Subject: "Piece"})
	d.write("leadlight/alpha/launch/.hooks.json", `[
		{"event":"TeammateIdle","command":"echo look again >&2; exit 2"},
		{"event":"TaskCompleted","command":"cat >seen; echo not yet >&2; exit 2"}]`)
	ask := func(in hooks.Input) string {
		t.Helper()
		feedback, err := d.as("builder").AskKept(t.Context(), "alpha", in)
		if err != nil {
			t.Fatal(err)
		}
		return feedback
	}
	if got := ask(hooks.Input{HookEventName: "TeammateIdle", AgentID: "a6a53b3", AgentType: "Explore"}); got != "" {
		t.Errorf("a child may not rest: %q", got)
	}
	child := hooks.Input{HookEventName: "TaskCompleted", TaskID: id, AgentID: "a6a53b3", AgentType: "Explore"}
	for range 3 {
		if got := ask(child); !strings.Contains(got, "not yet") {
			t.Errorf("the gate is open for a child: %q", got)
		}
	}
	if got := ask(hooks.Input{HookEventName: "TeammateIdle", AgentID: "builder@alpha"}); !strings.Contains(got, "look again") {
		t.Errorf("who is named by its own address is taken for a child: %q", got)
	}
	data, _ := os.ReadFile(filepath.Join(d.base, "seen"))
	if s := string(data); strings.Contains(s, "teammate_name") || !strings.Contains(s, `"agent_id":"a6a53b3"`) || !strings.Contains(s, `"agent_type":"Explore"`) {
		t.Errorf("the hook was told %s", data)
	}
	if got := ask(hooks.Input{HookEventName: "TaskCompleted", TaskID: id}); strings.Contains(got, "stop trying") {
		t.Errorf("the child's objections are counted as the teammate's: %q", got)
	}
}
