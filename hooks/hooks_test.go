package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
)

func completed(t *testing.T) hooks.Input {
	return hooks.Input{
		SessionID: "s", Cwd: t.TempDir(), HookEventName: hooks.TaskCompleted, TaskID: "3", TaskSubject: "Piece 3",
		TaskDescription: "d", TeammateName: "builder", TeamName: "alpha",
	}
}

func ask(t *testing.T, in hooks.Input, all ...hooks.Hook) hooks.Answer {
	t.Helper()
	for i := range all {
		if all[i].Event == "" {
			all[i].Event = in.HookEventName
		}
	}
	a, err := hooks.Ask(t.Context(), all, in, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHK01_ExitTwoObjects(t *testing.T) {
	in := completed(t)
	a := ask(t, in,
		hooks.Hook{Command: "cat >got.json; echo tests fail >&2; exit 2"},
		hooks.Hook{Command: "echo fine; exit 0"},
		hooks.Hook{Command: "echo broken >&2; exit 1"},
		hooks.Hook{Command: "exit 2", Event: hooks.TaskCreated},
	)
	if len(a.Objections) != 1 || a.Objections[0].Reason != "tests fail" || !a.Objects() {
		t.Errorf("objections %+v", a.Objections)
	}
	if len(a.Failures) != 1 || !strings.Contains(a.Failures[0].String(), "exit status 1: broken") {
		t.Errorf("failures %+v", a.Failures)
	}
	data, err := os.ReadFile(filepath.Join(in.Cwd, "got.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := hooks.ParseInput(data)
	if err != nil || got != in {
		t.Errorf("the hook got %s: %v", data, err)
	}
	var names map[string]any
	if err := json.Unmarshal(data, &names); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"session_id", "transcript_path", "cwd", "hook_event_name", "task_id", "task_subject", "task_description", "teammate_name", "team_name"} {
		if _, ok := names[name]; !ok {
			t.Errorf("the input has no %s: %s", name, data)
		}
	}
}

func TestHK04_SilentObjection(t *testing.T) {
	in := completed(t)
	said := ask(t, in, hooks.Hook{Command: "exit 2 # quietly"}).Feedback(in)
	for _, part := range []string{"exit 2 # quietly", hooks.TaskCompleted, "task 3", "no reason given"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q does not say %q", said, part)
		}
	}
}

func TestHK06_InputsWithMissingFields(t *testing.T) {
	for file, want := range map[string]hooks.Input{
		"h01-idle.json":           {SessionID: "S2", TranscriptPath: "/h/x.jsonl", Cwd: "/srv/demo", PermissionMode: "default", HookEventName: hooks.TeammateIdle, TeammateName: "builder", TeamName: "alpha"},
		"h02-idle-no-team.json":   {SessionID: "S2", Cwd: "/srv/demo", HookEventName: hooks.TeammateIdle, TeammateName: "builder"},
		"h03-completed.json":      {SessionID: "S2", Cwd: "/srv/demo", HookEventName: hooks.TaskCompleted, TaskID: "3", TaskSubject: "Piece 3", TaskDescription: "d", TeammateName: "builder", TeamName: "alpha"},
		"h04-completed-bare.json": {SessionID: "S1", HookEventName: hooks.TaskCompleted, TaskID: "3", TaskSubject: "Piece 3"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := hooks.ParseInput(data); err != nil || got != want {
			t.Errorf("%s: %+v %v", file, got, err)
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"hook_event_name":7}`, `{"hook_event_name":"TeammateIdle"`} {
		if _, err := hooks.ParseInput([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// TestAHookThatHangsIsEnded proves the limit, for the hook and what it started:
// children, a child that ignores SIGTERM, and an orphan in its group.
func TestAHookThatHangsIsEnded(t *testing.T) {
	in := completed(t)
	began := time.Now()
	a := ask(t, in, hooks.Hook{Timeout: 300 * time.Millisecond, Command: `
		sleep 300 & echo $! >>pids
		sh -c 'trap "" TERM; sleep 301 & echo $! >>pids; wait' &
		(sleep 302 & echo $! >>pids)
		echo started >&2; wait; sleep 303`})
	if len(a.Failures) != 1 || a.Objects() || !strings.Contains(a.Failures[0].Why, "longer than 300ms") || !strings.Contains(a.Failures[0].Why, "started") {
		t.Fatalf("got %+v", a)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	data, err := os.ReadFile(filepath.Join(in.Cwd, "pids"))
	if err != nil || len(strings.Fields(string(data))) != 3 {
		t.Fatalf("pids %q: %v", data, err)
	}
	for _, word := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(5 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("process %d is left", pid)
				break
			}
		}
	}
}

func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestAHookThatLeavesSomethingBehindHasAnswered(t *testing.T) {
	in := completed(t)
	began := time.Now()
	a := ask(t, in, hooks.Hook{Command: "sleep 20 & echo $! >pid; exit 2"})
	if !a.Objects() || len(a.Failures) > 0 {
		t.Errorf("got %+v", a)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("waited %s for what it left", took)
	}
	data, _ := os.ReadFile(filepath.Join(in.Cwd, "pid"))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestAHookAlwaysHasALimit(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: hooks.DefaultTimeout, -time.Second: hooks.DefaultTimeout, time.Second: time.Second, 100 * time.Hour: hooks.MaxTimeout,
	} {
		if got := (hooks.Hook{Timeout: given}).Limit(); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestHooksThatCannotRunAreFailures(t *testing.T) {
	in := completed(t)
	a := ask(t, in, hooks.Hook{Command: "/no/such/program"}, hooks.Hook{Command: "true", Dir: "/no/such/folder"}, hooks.Hook{Command: "kill -9 $$"})
	if len(a.Failures) != 3 || a.Objects() {
		t.Errorf("got %+v", a)
	}
	big := ask(t, in, hooks.Hook{Command: "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 2"})
	if !big.Objects() || len(big.Objections[0].Reason) > 16<<10 {
		t.Errorf("a loud hook: %v, %d bytes", big.Objects(), len(big.Feedback(in)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hooks.Ask(ctx, []hooks.Hook{{Event: in.HookEventName, Command: "sleep 60"}}, in, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted question: %v", err)
	}
}

const settings = `{"model":"x","unknown":{"a":[1]},"hooks":{
 "PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"no"}]}],
 "TaskCompleted":[{"matcher":"*","hooks":[{"type":"command","command":"./verify","timeout":5},{"type":"prompt","prompt":"?"},{"type":"command"}, 7]}, 3, {"hooks":{}}],
 "TeammateIdle":[{"hooks":[{"type":"command","command":"idle","timeout":"soon"},{"type":"command","command":"idle2","timeout":1e12}]}],
 "TaskCreated":{"hooks":[]}}}`

func TestSettingsOfClaudeCode(t *testing.T) {
	got, off := hooks.ParseSettings([]byte(settings), "s.json")
	if off || len(got) != 3 || got[0].Limit() != hooks.DefaultTimeout || got[1].Limit() != hooks.MaxTimeout || got[2].Command != "./verify" || got[2].Timeout != 5*time.Second {
		t.Errorf("got %+v", got)
	}
	home, project := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	paths := hooks.SettingsFiles(getenv, project)
	write := func(i int, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(paths[i]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(paths) != 3 {
		t.Fatalf("paths %q", paths)
	}
	write(0, settings)
	write(1, `not json`)
	write(2, strings.Replace(settings, "./verify", "./local", 1))
	all := hooks.ReadSettings(paths...)
	if cs := hooks.Of(all, hooks.TaskCompleted); len(cs) != 2 || cs[0].Command != "./verify" || cs[1].Command != "./local" || cs[1].Source != paths[2] {
		t.Errorf("got %+v", all)
	}
	if twice := hooks.Of(append(all, all...), hooks.TaskCompleted); len(twice) != 2 {
		t.Errorf("a command is asked twice: %+v", twice)
	}
	write(1, `{"disableAllHooks":true}`)
	if all := hooks.ReadSettings(paths...); len(all) != 0 {
		t.Errorf("hooks are off, got %+v", all)
	}
}

// Settings that are made are read as what they were made of.
func TestSettingsForAClient(t *testing.T) {
	all := []hooks.Hook{
		{Event: hooks.TaskCompleted, Command: "a", Timeout: 2 * time.Minute}, {Event: hooks.TaskCompleted, Command: "b"}, {Event: hooks.TaskCreated, Command: "c"},
	}
	for _, tc := range []struct{ events, want []string }{
		{hooks.Events(), []string{hooks.TaskCompleted, hooks.TaskCreated}}, {[]string{hooks.TeammateIdle, hooks.TaskCompleted}, []string{hooks.TaskCompleted}},
	} {
		data, err := json.Marshal(hooks.SettingsOf(all, tc.events, "'/x y' hook", 15*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		found, off := hooks.ParseSettings(data, "x")
		var events []string
		for _, h := range found {
			events = append(events, h.Event)
			if h.Command != "'/x y' hook" || h.Event == hooks.TaskCompleted && h.Timeout != 135*time.Second || h.Event == hooks.TaskCreated && h.Timeout != 75*time.Second {
				t.Errorf("%s: %+v", data, h)
			}
		}
		if !slices.Equal(events, tc.want) || off {
			t.Errorf("%s: %q", data, events)
		}
	}
}

func FuzzParseSettings(f *testing.F) {
	f.Add([]byte(settings))
	f.Add([]byte(`{"hooks":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, off := hooks.ParseSettings(data, "x")
		for _, h := range found {
			if off || h.Command == "" || h.Limit() <= 0 || h.Limit() > hooks.MaxTimeout {
				t.Errorf("%q: %+v", data, h)
			}
		}
	})
}

func FuzzParseInput(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"TeammateIdle","team_name":"a"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if in, err := hooks.ParseInput(data); err == nil && in.HookEventName == "" {
			t.Errorf("%q: no event", data)
		}
	})
}
