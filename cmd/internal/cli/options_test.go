package cli

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/spf13/cobra"
)

// parsed returns what the options of a verb are after parsing.
func parsed[O any](t *testing.T, command func(*app, func(context.Context, *app, O) error) *cobra.Command, line ...string) O {
	t.Helper()
	var got O
	called := false
	a := newApp(Stdio{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, nil)
	c := command(a, func(_ context.Context, _ *app, o O) error {
		got, called = o, true
		return nil
	})
	root := &cobra.Command{Use: "leadlight", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(flagError)
	a.globalFlags(root.PersistentFlags())
	root.AddCommand(c)
	a.args = append([]string{c.Name()}, line...)
	root.SetArgs(a.args)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if !called {
		t.Fatalf("%q: not run", line)
	}
	return got
}

func same[O any](t *testing.T, got, want O) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(teams.StopOptions{}, teams.SpawnSpec{})); d != "" {
		t.Error(d)
	}
}

func TestOptionsOfTheVerbs(t *testing.T) {
	text := func(s string) *string { return &s }
	same(t, parsed(t, spawnCommand, "bob", "--agent", "shell", "--model", "big", "--agent-type", "tester", "--prompt", "@x", "--cwd", "/d", "--env", "A=1", "--env", "B=x,y",
		"--env-from", "f", "--color", "red", "--kind", "plain", "--placement", "window", "--plan-mode", "--worktree=topic", "--restart", "on-failure", "--ready-timeout", "30s",
		"--", "cmd", "--flag", "-x", "a b"),
		spawnOptions{SpawnSpec: teams.SpawnSpec{Name: "bob", Profile: "shell", Model: "big", AgentType: "tester", Prompt: "@x", Cwd: "/d", Env: []string{"A=1", "B=x,y"}, Color: "red",
			Kind: "plain", Placement: "window", PlanMode: true, Worktree: text("topic"), Restart: "on-failure", Ready: 30 * time.Second, Command: []string{"cmd", "--flag", "-x", "a b"}}, EnvFrom: "f"})
	same(t, parsed(t, spawnCommand, "bob", "--git", "u", "--ref", "r", "--", "x"), spawnOptions{SpawnSpec: teams.SpawnSpec{Name: "bob", Command: []string{"x"}}, Source: teams.Source{URL: "u", Ref: "r"}})
	same(t, parsed(t, spawnCommand, "bob", "--worktree", "topic", "--", "x"), spawnOptions{SpawnSpec: teams.SpawnSpec{Name: "bob", Worktree: text("topic"), Command: []string{"x"}}})
	same(t, parsed(t, spawnCommand, "--worktree", "topic", "bob"), spawnOptions{SpawnSpec: teams.SpawnSpec{Name: "bob", Worktree: text("topic"), Command: []string{}}})
	same(t, parsed(t, spawnCommand, "--worktree", "bob", "--", "x"), spawnOptions{SpawnSpec: teams.SpawnSpec{Name: "bob", Worktree: text(""), Command: []string{"x"}}})
	same(t, parsed(t, spawnCommand, "bob", "--worktree"), spawnOptions{SpawnSpec: teams.SpawnSpec{Name: "bob", Worktree: text(""), Command: []string{}}})
	same(t, parsed(t, stopCommand, "a", "b", "--timeout", "3s", "--reason", "r", "--force"),
		stopOptions{Names: []string{"a", "b"}, StopOptions: teams.StopOptions{Ask: 3 * time.Second, Reason: "r", Force: true}})
	same(t, parsed(t, downCommand, "abc", "--keep"), downOptions{Team: "abc", Keep: true})
	same(t, parsed(t, upCommand), upOptions{File: "leadlight.yaml"})
	same(t, parsed(t, upCommand, "x.yaml", "--detach"), upOptions{File: "x.yaml", Detach: true})
	same(t, parsed(t, psCommand, "--all", "--watch", "--format", "tmux"), psOptions{All: true, Watch: true, Format: "tmux"})
	same(t, parsed(t, captureCommand, "bob", "--lines", "7", "--ansi"), captureOptions{"bob", 7, true})
	same(t, parsed(t, logsCommand, "bob", "-f", "--lines", "7"), logsOptions{[]string{"bob"}, true, 7})
	same(t, parsed(t, sendCommand, "bob", "hi", "--summary", "s", "--type", "message"), sendOptions{To: []string{"bob"}, Text: "hi", Summary: "s", Type: "message"})
	same(t, parsed(t, sendCommand, "bob", "--", "-----BEGIN"), sendOptions{To: []string{"bob"}, Text: "-----BEGIN"})
	same(t, parsed(t, sendCommand, "bob", "-"), sendOptions{To: []string{"bob"}, Text: "-"})
	same(t, parsed(t, sendCommand, "--all", "hi"), sendOptions{To: []string{}, All: true, Text: "hi"})
	same(t, parsed(t, sendCommand, "ann", "bob", "hi"), sendOptions{To: []string{"ann", "bob"}, Text: "hi"})
	same(t, parsed(t, restartCommand, "--lost"), restartOptions{Names: []string{}, Lost: true})
	same(t, parsed(t, keysCommand, "bob", "Down", "Enter"), keysOptions{"bob", []string{"Down", "Enter"}})
	same(t, parsed(t, diffCommand, "bob", "--stat"), diffOptions{"bob", true})
	same(t, parsed(t, approveCommand, "p1", "p2", "--feedback", "f"), answerOptions{[]string{"p1", "p2"}, true, "f"})
	same(t, parsed(t, denyCommand, "p1", "--reason", "r"), answerOptions{[]string{"p1"}, false, "r"})
	same(t, parsed(t, taskAddCommand, "s", "-d", "d", "--active-form", "f", "--owner", "o", "--blocked-by", "1,2", "--blocks", "3", "--meta", "a=b,c"),
		taskAddOptions{teams.TaskSpec{Subject: "s", Description: "d", ActiveForm: "f", Owner: "o", BlockedBy: []string{"1,2"}, Blocks: []string{"3"}}, []string{"a=b,c"}})
	same(t, parsed(t, taskListCommand, "--status", "done", "--owner", "o", "--ready"), teams.TaskFilter{Status: "completed", Owner: "o", Ready: true})
	same(t, parsed(t, taskClaimCommand, "#7"), taskClaimOptions{ID: "7"})
	same(t, parsed(t, taskClaimCommand, "--next", "--wait", "2m"), taskClaimOptions{Wait: 2 * time.Minute})
	same(t, parsed(t, taskUpdateCommand, "7", "--owner", "", "--status", "todo", "--add-blocked-by", "1", "--blocked-by", "2", "--remove-blocks", "3"),
		taskUpdateOptions{ID: "7", TaskChange: teams.TaskChange{Owner: text(""), Status: text("pending"), AddBlockedBy: []string{"1", "2"}, RemoveBlocks: []string{"3"}}})
	same(t, parsed(t, taskDoneCommand, "7", "--result", "r"), taskEndOptions{"7", "result", "r"})
	same(t, parsed(t, taskFailCommand, "7", "--reason", "r"), taskEndOptions{"7", "reason", "r"})
	same(t, parsed(t, doctorCommand, "--fix"), doctorOptions{true, false})
	same(t, parsed(t, gcCommand, "--dry-run"), gcOptions{true})
	same(t, parsed(t, teamCreateCommand, "abc", "--description", "d", "--lead", "l", "--agent-type", "t", "--cwd", "/", "--mailbox", "maildir"),
		teams.TeamSpec{Name: "abc", Description: "d", Lead: "l", AgentType: "t", Cwd: "/", Mailbox: "maildir"})
	same(t, parsed(t, teamDeleteCommand, "abc", "--backup", "f", "--force"), teamDeleteOptions{"abc", teams.DeleteOptions{Backup: "f", Force: true}})
}

func TestATimeoutOfZeroLeavesNoTime(t *testing.T) {
	if d := parsed(t, downCommand, "--timeout", "0").Ask; d <= 0 || d > 10*time.Millisecond {
		t.Errorf("--timeout 0: %s", d)
	}
	if d := parsed(t, downCommand).Ask; d != 0 {
		t.Errorf("without --timeout: %s", d)
	}
}
