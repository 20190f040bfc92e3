package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
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
	if len(a.Objections) != 1 || a.Objections[0].Reason != "tests fail" || !a.Objects() || a.WayOut("ask") != "ask" {
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

// TestXF15_AHookThatHangsIsEnded proves the limit, for the hook and what it started:
// children, a child that ignores SIGTERM, an orphan in its group, and one that made a
// session of its own.
func TestXF15_AHookThatHangsIsEnded(t *testing.T) {
	in := completed(t)
	began := time.Now()
	var a hooks.Answer
	var words, left []string
	limit := 300 * time.Millisecond
	for ; limit < time.Minute; limit *= 2 { // on a busy machine it may not have begun
		_ = os.Remove(filepath.Join(in.Cwd, "pids"))
		a = ask(t, in, hooks.Hook{Timeout: limit, Command: `
		sleep 300 & echo $! >>pids
		sh -c 'trap "" TERM; sleep 301 & echo $! >>pids; wait' &
		(sleep 302 & echo $! >>pids)
		(setsid sleep 304 & echo $! >>pids)
		echo started >&2; wait; sleep 303`})
		data, _ := os.ReadFile(filepath.Join(in.Cwd, "pids"))
		words = strings.Fields(string(data))
		left = append(left, words...) // also what has half begun is to end
		if len(words) == 4 && len(a.Failures) == 1 && strings.Contains(a.Failures[0].Why, "started") {
			break
		}
	}
	if len(a.Failures) != 1 || a.Objects() || !strings.Contains(a.Failures[0].Why, "longer than "+limit.String()) || !strings.Contains(a.Failures[0].Why, "started") {
		t.Fatalf("got %+v", a)
	}
	if took := time.Since(began); took > 100*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(words) != 4 {
		t.Fatalf("pids %q", words)
	}
	for _, word := range left {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("process %d is left", pid)
				break
			}
		}
	}
}

// TestXF15_WhatAHookMayHaveLeftIsListed: what cleared its environment, began a session and
// lost its parents cannot be proved to be the hook's. It is named, and not ended.
func TestXF15_WhatAHookMayHaveLeftIsListed(t *testing.T) {
	in := completed(t)
	var a hooks.Answer
	pid := 0
	for limit := time.Second; pid == 0 && limit < time.Minute; limit *= 2 { // on a busy machine it may not have begun
		a = ask(t, in, hooks.Hook{Timeout: limit, Command: `
			(env -i PATH="$PATH" setsid sh -c 'sleep 305 & echo $! >pid.new; mv pid.new pid' &)
			sleep 306`})
		data, _ := os.ReadFile(filepath.Join(in.Cwd, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	if pid == 0 {
		t.Fatal("the hook did not begin")
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	alive := syscall.Kill(pid, 0) == nil && !zombie(pid)
	if len(a.Failures) != 1 || alive != strings.Contains(a.Failures[0].Why, fmt.Sprint(pid)) {
		t.Errorf("process %d lives: %v; told is %+v", pid, alive, a)
	}
}

func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestAHookThatLeavesSomethingBehindHasAnswered(t *testing.T) {
	in := completed(t)
	began := time.Now()
	a := ask(t, in, hooks.Hook{Command: "sleep 1000 & echo $! >pid; exit 2"})
	if !a.Objects() || len(a.Failures) > 0 {
		t.Errorf("got %+v", a)
	}
	if took := time.Since(began); took > time.Minute {
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
	if _, err := hooks.Ask(ctx, []hooks.Hook{{Event: in.HookEventName, Command: "sleep 1000"}}, in, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted question: %v", err)
	}
}

const settings = `{"model":"x","unknown":{"a":[1]},"hooks":{
 "PreToolUse":[{"matcher":"Bash","hooks":[{"type":"prompt"}]}],
 "TaskCompleted":[{"matcher":"*","hooks":[{"type":"command","command":"./verify","timeout":5},{"type":"command","command":"told","async":true}]}],
 "TeammateIdle":[{"hooks":[{"type":"command","command":"idle"},{"type":"command","command":"idle2","timeout":1e12,"statusMessage":"wait"}]}]}}`

func TestSettingsOfClaudeCode(t *testing.T) {
	got, off, err := hooks.ParseSettings([]byte(settings), "s.json")
	if err != nil || off || len(got) != 3 || got[0].Limit() != 10*time.Minute || got[1].Limit() != hooks.MaxTimeout || got[2].Command != "./verify" || got[2].Timeout != 5*time.Second {
		t.Errorf("got %+v %v", got, err)
	}
	d := newSettings(t)
	d.write(d.user, settings)
	d.write(d.local, strings.Replace(settings, "./verify", "./local", 1))
	all := d.read(true)
	if cs := hooks.Of(all, hooks.TaskCompleted); len(cs) != 2 || cs[0].Command != "./verify" || cs[1].Command != "./local" || cs[1].Source != d.local || cs[1].Project != d.project {
		t.Errorf("got %+v", all)
	}
	if twice := hooks.Of(append(all, all...), hooks.TaskCompleted); len(twice) != 2 {
		t.Errorf("a command is asked twice: %+v", twice)
	}
	d.write(d.shared, `{"disableAllHooks":true}`)
	if all := d.read(true); len(all) != 0 {
		t.Errorf("hooks are off, got %+v", all)
	}
}

// settingsFiles are the settings of a user and of a project, in scratch folders.
type settingsFiles struct {
	t                                  *testing.T
	home, project, user, shared, local string
}

func newSettings(t *testing.T) settingsFiles {
	home, project := t.TempDir(), t.TempDir()
	in := func(dir, name string) string { return filepath.Join(dir, ".claude", name) }
	return settingsFiles{t, home, project, in(home, "settings.json"), in(project, "settings.json"), in(project, "settings.local.json")}
}

func (d settingsFiles) getenv(name string) string { return map[string]string{"HOME": d.home}[name] }

// sources are these folders; what is managed stands beside the user's home.
func (d settingsFiles) sources() hooks.Sources {
	return hooks.Sources{Getenv: d.getenv, Project: d.project, Managed: hooks.Managed{Folder: filepath.Join(d.home, "managed")}}
}

func (d settingsFiles) write(path, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d settingsFiles) read(trusted bool) []hooks.Hook {
	d.t.Helper()
	all, err := hooks.ReadSettings(d.sources(), hooks.TaskCompleted, func(string, []hooks.Hook) bool { return trusted })
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

// TestXH01_ExecForm runs a program with its arguments as they are: what a task says is
// never a program, whatever stands in it.
func TestXH01_ExecForm(t *testing.T) {
	d, in := newSettings(t), completed(t)
	d.write(filepath.Join(d.project, "check.sh"), "#!/bin/sh\nprintf 'args=[%s] [%s] dir=[%s]' \"$1\" \"$2\" \"$CLAUDE_PROJECT_DIR\" >\"$1/seen\"\ncat >/dev/null\necho no tests >&2\nexit 2\n")
	d.write(d.shared, `{"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"bash","args":["${CLAUDE_PROJECT_DIR}/check.sh","${CLAUDE_PROJECT_DIR}","$(touch pwned) `+"`touch pwned`"+`"]}]}]}}`)
	in.TaskSubject = "x $(touch pwned)\n$(touch pwned)\ntouch pwned"
	a := ask(t, in, d.read(true)...)
	if !a.Objects() || a.Objections[0].Reason != "no tests" {
		t.Fatalf("got %+v", a)
	}
	seen, err := os.ReadFile(filepath.Join(d.project, "seen"))
	if want := "args=[" + d.project + "] [$(touch pwned) `touch pwned`] dir=[" + d.project + "]"; err != nil || string(seen) != want {
		t.Errorf("the hook saw %q, want %q: %v", seen, want, err)
	}
	for _, dir := range []string{in.Cwd, d.project} {
		if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
			t.Errorf("a text was run in %s", dir)
		}
	}
}

// TestXH01_WhatIsNotUnderstoodRefuses: each form that is not known keeps the gate shut
// and says why.
func TestXH01_WhatIsNotUnderstoodRefuses(t *testing.T) {
	for hook, why := range map[string]string{
		`{"type":"prompt","prompt":"is it good?"}`:                             `type "prompt"`,
		`{"type":"http","url":"http://localhost"}`:                             `type "http"`,
		`{"type":"agent","prompt":"check"}`:                                    `type "agent"`,
		`{"command":"true"}`:                                                   `type ""`,
		`{"type":"command"}`:                                                   "no command",
		`{"type":"command","command":" "}`:                                     "no command",
		`{"type":"command","command":["true"]}`:                                "not understood",
		`{"type":"command","command":"true","args":"-x"}`:                      "not understood",
		`{"type":"command","command":"true","args":[1]}`:                       "not understood",
		`{"type":"command","command":"true","if":"Bash(rm *)"}`:                `"if"`,
		`{"type":"command","command":"true","runAs":"root"}`:                   `"runAs"`,
		`{"type":"command","command":"bash","Args":["x.sh"]}`:                  `"Args"`,
		`{"Type":"command","command":"true"}`:                                  `type ""`,
		`{"type":"command","command":"true","ASYNC":true}`:                     `"ASYNC"`,
		`{"type":"command","command":"true","asyncRewake":true}`:               `"asyncRewake"`,
		`{"type":"mcp_tool","server":"x","tool":"y"}`:                          `type "mcp_tool"`,
		`{"type":"command","command":"true","shell":"powershell"}`:             "powershell",
		`{"type":"command","command":"true","args":[],"shell":"bash"}`:         "both",
		`{"type":"command","command":"true","timeout":"soon"}`:                 "not understood",
		`{"type":"command","command":"true","timeout":-1}`:                     "timeout",
		`{"type":"command","command":"true","timeout":0}`:                      "timeout",
		`{"type":"command","command":"true","timeout":1e999}`:                  "not understood",
		`{"type":"command","command":"tr\u0000ue"}`:                            "NUL",
		`{"type":"command","command":"true","args":["a",null]}`:                "null",
		`{"type":["command"],"command":"true"}`:                                `type ["command"]`,
		`null`:                                                                 "not understood",
		`{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/check","args":[]}`: "plugin",
		`7`: "not understood",
	} {
		refuses(t, `[{"hooks":[`+hook+`]}]`, why)
	}
	for groups, why := range map[string]string{`{"hooks":[]}`: "no list", `3`: "no list", `[3]`: "group", `[null]`: "group", `[{"hooks":{}}]`: "group", `[{"hooks":[],"when":"x"}]`: `"when"`} {
		refuses(t, groups, why)
	}
}

// TestXH01_InputIsNoProgram: an interpreter that has no script would take the words of a
// task for one.
func TestXH01_InputIsNoProgram(t *testing.T) {
	line := func(command string) hooks.Hook { return hooks.Hook{Event: hooks.TaskCompleted, Command: command} }
	program := func(command string, args ...string) hooks.Hook {
		return hooks.Hook{Event: hooks.TaskCompleted, Command: command, Exec: true, Args: args}
	}
	in := completed(t)
	in.TaskSubject = "x $(touch pwned)"
	for _, h := range []hooks.Hook{
		line("sh"), line(" bash "), line("/bin/sh -x"), line("bash -s a"), line("exec sh"), line("A=1 B=2 sh"), line("timeout 5s bash -eu"), line("sh -c sh"),
		line("bash /dev/stdin"), line("python3 -u -"), program("sh"), program("bash", "-"), program("/bin/sh", "-s", "a"), program("env", "sh"), program("env", "-i", "X=1", "sh"),
		program("bash", "-euo", "pipefail"), program("bash", "-c", "bash"), program("bash", "-lc", "exec sh -s"), program("bash", "--norc", "--"), program("nice", "-n", "5", "sh"),
		program("python3"), program("python3", "-W", "ignore"), program("node", "-r", "fs"), program("ruby"), program("sh", "/proc/self/fd/0"),
	} {
		if a := ask(t, in, h); !a.Objects() || !strings.Contains(a.Objections[0].Reason, "name the script") || a.WayOut("ask") == "ask" {
			t.Errorf("%s: %+v", h, a)
		}
	}
	for _, h := range []hooks.Hook{
		line("sh -c true"), line("true; sh -c true"), line("env A=1 sh -c true"), program("sh", "-c", "true"), program("sh", "-c", "exit 0", "-"), program("sh", "-euc", "true"),
		program("bash", "-o", "pipefail", "-c", "true"), program("sh", "-", "/dev/null"), program("bash", "--norc", "/dev/null"),
	} {
		if a := ask(t, in, h); a.Objects() || len(a.Failures) > 0 {
			t.Errorf("%s: %+v", h, a)
		}
	}
	for _, argv := range [][]string{{"python3", "-m", "json.tool"}, {"python3", "-I", "check.py"}, {"node", "check.js"}, {"perl", "-ne", "print"}, {"node", "--eval=1"}, {"busybox", "true"}, {"env"}, nil} {
		if why := hooks.ReadsProgram(argv); why != "" {
			t.Errorf("%q: %s", argv, why)
		}
	}
	if _, err := os.Stat(filepath.Join(in.Cwd, "pwned")); err == nil {
		t.Error("a text was run")
	}
}

// TestXH01_TheInputIsInert: also where an interpreter is hidden in a line, it finds no
// program in what the hook is told; and who reads JSON finds all of it.
func TestXH01_TheInputIsInert(t *testing.T) {
	in := completed(t)
	in.TaskSubject = `x $(touch pwned) ` + "`touch pwned`" + ` ${IFS} #{system("touch pwned")} @{[system "touch pwned"]} \$(touch pwned) "; touch pwned; "`
	in.TaskDescription, in.SessionID = "\n touch pwned\n$(touch pwned)", "$(touch pwned)"
	for _, command := range []string{"cat | sh", "sh <&0", ". /dev/stdin", `eval "$(cat)"`, `sh -c "$(cat)"`, "xargs -0 sh -c", "sh || true", "tee got.json >/dev/null"} {
		ask(t, in, hooks.Hook{Command: command})
	}
	if _, err := os.Stat(filepath.Join(in.Cwd, "pwned")); err == nil {
		t.Error("a text was run")
	}
	data, err := os.ReadFile(filepath.Join(in.Cwd, "got.json"))
	if got, bad := hooks.ParseInput(data); err != nil || bad != nil || got != in {
		t.Errorf("the hook got %s: %v %v", data, err, bad)
	}
}

// TestXH01_AnObjectionInJSON: a hook may say no on standard output, as the client reads it.
func TestXH01_AnObjectionInJSON(t *testing.T) {
	for output, want := range map[string]string{
		`{"decision":"block","reason":"no tests"}`:                                                "no tests",
		`{"continue":false,"stopReason":"no time"}`:                                               "no time",
		` {"continue":false}`:                                                                     "",
		`{"suppressOutput":true,"decision":"block","reason":"a\\nb"}`:                             "a\nb",
		`{"decision":"block","reason":"no","continue":"yes"}`:                                     "no", // a field that is odd hides no other
		`{"decision":"block","reason":{"why":1},"stopReason":7}`:                                  `{"why":1}`,
		`{"decision":"block","Decision":"approve"}`:                                               "",
		`{"continue":"false","stopReason":"stop"}`:                                                "stop",
		"\ufeff \n" + `{"decision":"block","reason":"marked"}`:                                    "marked", // the client passes over a byte order mark
		`{"decision":"reject"}`:                                                                   "its decision reject is not understood",
		`{"decision":["block"]}`:                                                                  `its decision ["block"] is not understood`,
		`{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"never"}}`: "never",
	} {
		a := ask(t, completed(t), hooks.Hook{Event: hooks.TaskCompleted, Command: "echo '" + output + "'"})
		if !a.Objects() || a.Objections[0].Reason != want {
			t.Errorf("%s: %+v", output, a)
		}
	}
	for _, output := range []string{"", "done", "{}", `{"decision":"approve"}`, `{"continue":true}`, `{"continue":null,"decision":null}`, `{"decision":"","hookSpecificOutput":7}`, `["block"]`, `{"decision":`} {
		if a := ask(t, completed(t), hooks.Hook{Event: hooks.TaskCompleted, Command: "echo '" + output + "'"}); a.Objects() || len(a.Failures) > 0 {
			t.Errorf("%s: %+v", output, a)
		}
	}
	long := ask(t, completed(t), hooks.Hook{Event: hooks.TaskCompleted, Command: `printf '{"x":"'; head -c 1100000 /dev/zero | tr '\0' x; printf '","decision":"block"}'`})
	if !long.Objects() || !strings.Contains(long.Objections[0].Reason, "longer than") {
		t.Errorf("an objection behind much: %.200v", long)
	}
	idle := hooks.Input{HookEventName: hooks.TeammateIdle, Cwd: t.TempDir()}
	if a := ask(t, idle, hooks.Hook{Event: hooks.TeammateIdle, Command: `echo '{"continue":false}'`}); a.Objects() {
		t.Errorf("who is to stop may not go idle: %+v", a)
	}
}

func refuses(t *testing.T, groups, why string) {
	t.Helper()
	all, off, err := hooks.ParseSettings([]byte(`{"hooks":{"TaskCompleted":`+groups+`}}`), "/p/s.json")
	if err != nil || off || len(all) != 1 {
		t.Errorf("%s: %+v %v %v", groups, all, off, err)
		return
	}
	said := ask(t, completed(t), all...).Feedback(completed(t))
	for _, part := range []string{why, "/p/s.json", "cannot ask"} {
		if !strings.Contains(said, part) {
			t.Errorf("%s: %q does not say %q", groups, said, part)
		}
	}
}

// TestXH01_SettingsWithABOM are read as the client reads them, and what cannot be read
// is an error with the file's path.
func TestXH01_DamagedSettings(t *testing.T) {
	d := newSettings(t)
	d.write(d.user, "\ufeff"+`{"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"exit 2"}]}]}}`)
	if all := d.read(true); len(all) != 1 || all[0].Command != "exit 2" {
		t.Errorf("behind a BOM: %+v", all)
	}
	for _, bad := range []string{"not json", `{"hooks":[]}`, `{"hooks":{}`, "[]", `{"disableAllHooks":"no"}`, "// a comment\n{}", `{"hooks":{},}`, strings.Repeat(" ", 2<<20) + "{}"} {
		d.write(d.user, bad)
		_, err := hooks.ReadSettings(d.sources(), hooks.TaskCompleted, nil)
		if fault.CodeOf(err) != fault.CorruptFile || !strings.Contains(err.Error(), d.user) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	gate := `"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"exit 2"}]}]}`
	d.write(d.user, `{"disableallhooks":true,`+gate+`}`) // no name that the client knows
	if all := d.read(true); len(all) != 1 {
		t.Errorf("turned off by a name of no meaning: %+v", all)
	}
	for _, empty := range []string{"", " \n", "{}", `{"hooks":{"TaskCompleted":null}}`, `{"disableAllHooks":true,` + gate + `}`, `{"disableAllHooks":null}`} {
		d.write(d.user, empty)
		if all := d.read(true); len(all) != 0 {
			t.Errorf("%q: %+v", empty, all)
		}
	}
	d.write(d.user, "{}")
	for _, link := range []string{filepath.Dir(d.shared), d.shared} { // one that leads nowhere is no absence
		if err := os.Symlink(filepath.Join(d.home, "not mounted"), link); err != nil {
			t.Fatal(err)
		}
		if _, err := hooks.ReadSettings(d.sources(), hooks.TaskCompleted, nil); fault.CodeOf(err) != fault.CorruptFile {
			t.Errorf("%s leads nowhere: %v", link, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(d.shared), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(d.shared, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hooks.ReadSettings(d.sources(), hooks.TaskCompleted, nil); fault.CodeOf(err) != fault.CorruptFile || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
}

// TestXS43_AProjectIsTrustedFirst: the hooks of a folder that nobody has trusted are
// not run, and cannot turn off those of the user.
func TestXS43_AProjectIsTrustedFirst(t *testing.T) {
	d := newSettings(t)
	d.write(d.user, `{"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
	d.write(d.shared, `{"hooks":{"TaskCompleted":[{"hooks":[{"type":"command","command":"theirs"}]}]}}`)
	d.write(d.local, `{"disableAllHooks":true}`)
	if all := d.read(false); len(all) != 1 || all[0].Command != "mine" {
		t.Errorf("not trusted: %+v", all)
	}
	if all := d.read(true); len(all) != 0 {
		t.Errorf("trusted, and off: %+v", all)
	}
	if hooks.ClientTrusts(d.getenv, d.project) {
		t.Error("the client trusts what it was never asked about")
	}
	d.write(filepath.Join(d.home, ".claude.json"), `{"projects":{"`+filepath.Dir(d.project)+`":{"hasTrustDialogAccepted":true},"/x":{"hasTrustDialogAccepted":false}}}`)
	if !hooks.ClientTrusts(d.getenv, d.project) || hooks.ClientTrusts(d.getenv, "/x/y") {
		t.Error("the client's answer is not read")
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
		found, off, err := hooks.ParseSettings(data, "x")
		if err != nil {
			t.Fatal(err)
		}
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
		found, off, err := hooks.ParseSettings(data, "x")
		for _, h := range found {
			if err != nil || off || h.Command == "" && h.Refusal == "" || h.Limit() <= 0 || h.Limit() > hooks.MaxTimeout {
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
