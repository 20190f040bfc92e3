package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestMistakesInTheCommandLine(t *testing.T) {
	env := []string{"HOME=" + t.TempDir()}
	for _, tc := range []struct {
		line string
		want string
	}{
		{"spwan bob", `leadlight has no command "spwan"; did you mean "leadlight spawn"?`},
		{"team crate x", `leadlight team has no command "crate"; did you mean "leadlight team create"?`},
		{"task", ""},
		{"help spwan", `there is no command or topic "spwan"; did you mean "spawn"?`},
		{"help task ad", `leadlight task has no command "ad"; did you mean "leadlight task add"?`},
		{"ps --wach", `leadlight ps has no flag --wach; did you mean --watch?`},
		{"ps -x", `leadlight ps has no flag -x`},
		{"ps extra", `leadlight ps takes no arguments, not "extra"`},
		{"init extra", "the name of a team wants --team before it"},
		{"ps --format xml", `--format xml: it takes table, tmux`},
		{"ps --format tabel", `did you mean "table"?`},
		{"ps --team=", `--team`},
		{"down --timeout soon", `--timeout: "soon" is not a time such as 500ms, 30s or 2m`},
		{"stop --all --timeout -5s", `is not a time`},
		{"stop", `leadlight stop needs the NAME of a teammate, or --all`},
		{"stop bob --all", `takes names or --all, not both`},
		{"spawn", `leadlight spawn needs the NAME`},
		{"spawn bob ls", `leadlight spawn takes one NAME, not "ls"`},
		{"spawn bob ls --worktree", `leadlight spawn takes one NAME, not "ls"`},
		{"spawn bob --", `there is no command after --`},
		{"spawn bob --kind robot -- ls", `--kind robot: it takes native, interactive, acp, worker, plain`},
		{"spawn bob --env NOVALUE -- ls", `--env NOVALUE: it takes K=V`},
		{"spawn bob --env =x -- ls", `cannot be the name of a variable`},
		{"spawn bob --env-from /no/such -- ls", `--env-from`},
		{"spawn bob --env-from /no/such -- ls", `hint: name a file of lines K=V`},
		{"spawn bob --prompt @/no/such -- ls", `hint: name a file that can be read`},
		{"spawn bob --cwd /srv/gone -- ls", `the working folder /srv/gone does not exist`},
		{"spawn bob --cwd /dev/null -- ls", `the working folder /dev/null is no folder`},
		{"spawn bob --prompt @/no/such -- ls", `read the prompt`},
		{"send bob", `leadlight send needs NAME and TEXT`},
		{"send --all hello there", `leadlight send --all takes one TEXT`},
		{"send bob -----BEGIN", `bad flag syntax: -----BEGIN`},
		{"capture bob --lines -1", `--lines -1: it takes a number that is not negative`},
		{"task claim 1 --next", `takes an ID, or --next and --wait`},
		{"task show x1", `"x1" is not the id of a task`},
		{"task add ", `the subject of the task is empty`},
		{"run cancel ", `leadlight run cancel: ID is empty`},
		{"run show ", `leadlight run show: ID is empty`},
		{"run create ", `leadlight run create: TEAM-FILE|TEAM is empty`},
		{"run item ls --run=", `--run: it is empty`},
		{"run item add x --blocked-by=", `--blocked-by: it, or a part of it, is empty`},
		{"run item add x --blocked-by=1,", `--blocked-by 1,: it, or a part of it, is empty`},
		{"run item add x --parent=", `--parent: it is empty`},
		{"run item mv 1 --before= --parent=2", `--before: it is empty`},
		{"task ls --owner=", `--owner: it is empty`},
		{"events --type=", `--type: it, or a part of it, is empty`},
		{"task claim ", `"" is not the id of a task`},
		{"inbox prune ", `leadlight inbox prune: NAME is empty`},
		{"inbox --mark-read --from=", `--from: it is empty`},
		{"logs bob ", `leadlight logs: NAME is empty`},
		{"diff ", `leadlight diff: NAME is empty`},
		{"down ", `leadlight down: TEAM is empty`},
		{"team delete ", `leadlight team delete: NAME is empty`},
		{"approve ", `is empty`},
		{"observe ", `is empty`},
		{"up ", `leadlight up: FILE is empty`},
		{"spawn bob --machine= -- ls", `--machine: it is empty`},
		{"spawn bob --git= -- ls", `--git: it is empty`},
		{"team create abc --engine=", `--engine: it is empty`},
		{"task add x --blocked-by 1,,2", `"" is not the id of a task`},
		{"task add x --meta novalue", `novalue: metadata is K=V`},
		{"task fail 1", `leadlight task fail needs --reason TEXT`},
		{"task update 1", `nothing to change`},
		{"completion fihs", `no completion for "fihs"; did you mean "fish"?`},
		{"team show one --team two", `two teams: "one" and --team "two"`},
		{"teammate --team x", `leadlight teammate takes --team, --agent and --base-dir`},
		{"backend test", `leadlight backend test needs -- COMMAND`},
		{"list", `did you mean "leadlight ps"?`},
		{"status", `did you mean "leadlight ps"?`},
		{"kill", `did you mean "leadlight stop"?`},
		{"start", `did you mean "leadlight up"?`},
		{"logs-f", `did you mean "leadlight logs --follow"?`},
		{"broadcast hi", `did you mean "leadlight send --all"?`},
		{"capture-pane -p", `did you mean "leadlight capture"?`},
		{"attach-session", `did you mean "leadlight attach"?`},
		{"kill-session", `did you mean "leadlight down"?`},
		{"task view 1", `did you mean "leadlight task show"?`},
		{"logs bob --tail 5", `leadlight logs has no flag --tail; did you mean --lines?`},
		{"focus bob", `did you mean "leadlight attach"?`},
		{"takeover", `did you mean "leadlight team takeover"?`},
		{"delegate on", `did you mean "leadlight team delegate"?`},
		{"permission ls", `did you mean "leadlight requests"?`},
		{"shutdown approve", `did you mean "leadlight stop"?`},
		{"item ls", `did you mean "leadlight run item"?`},
		{"api schema", `did you mean "leadlight daemon schema"?`},
		{"plan approve x", `did you mean "leadlight approve"?`},
		{"task ls --status finished", `--status finished: it takes pending, in_progress, completed, blocked, failed`},
		{"task update 1 --status finished", `--status finished: it takes pending, in_progress, completed, deleted`},
		{"restart", `leadlight restart takes names, or --all, or --lost`},
		{"set ann", `nothing to change`},
		{"approve", `needs the ID`},
		{"up no.yaml", `there is no team file no.yaml`},
		{"run create", `leadlight run create needs TEAM-FILE|TEAM`},
		{"run item mv x", `takes --before ID, --after ID or --parent ID`},
		{"run item update x", `nothing to change`},
		{"run item update x --status finished", `--status finished: it takes todo, in_progress, blocked, done, failed`},
	} {
		args := strings.Split(tc.line, " ")
		status, out, errs := run(t, "", env, args...)
		if tc.want == "" { // a group alone shows its help
			if status != 0 || out == "" {
				t.Errorf("%s: %d %q", tc.line, status, errs)
			}
			continue
		}
		if status != 2 || out != "" || !strings.Contains(errs, tc.want) || !strings.HasPrefix(errs, "leadlight: error: ") {
			t.Errorf("%s: %d %q %q, want 2 and %s", tc.line, status, out, errs, tc.want)
		}
		if n := strings.Count(errs, "\n"); n > 2 {
			t.Errorf("%s: %d lines on stderr", tc.line, n)
		}
		checkJSONError(t, env, args, errs)
	}
}

// checkJSONError asks again with --json, before the verb and after all that is wrong: the same
// error, and nothing else.
func checkJSONError(t *testing.T, env, args []string, text string) {
	t.Helper()
	if args[0] == "teammate" { // answers no one
		return
	}
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	for at, flag := range map[int]string{0: "--json=1", end: "--json"} {
		asked := slices.Insert(slices.Clone(args), at, flag)
		status, out, errs := run(t, "", env, asked...)
		var e struct {
			Error struct{ Code, Message, Hint string } `json:"error"`
		}
		if err := json.Unmarshal([]byte(errs), &e); err != nil || status != 2 || out != "" {
			t.Errorf("%v: %d %q %q: %v", asked, status, out, errs, err)
			continue
		}
		if !strings.Contains(text, "("+e.Error.Code+")") {
			t.Errorf("%v: code %s, as text %s", asked, e.Error.Code, text)
		}
	}
}

func TestJSONOfAProgramAfterTheDashesIsNotOurs(t *testing.T) {
	for _, tc := range []struct {
		args string
		want bool
	}{{"ps --json", true}, {"--json=true ps", true}, {"spawn x -- y --json", false}, {"ps", false}, {"--json=1 ps", true}, {"--json ps --json=false", false}} {
		if got := asksForJSON(strings.Fields(tc.args)); got != tc.want {
			t.Errorf("%s: %v", tc.args, got)
		}
	}
}

func TestIB08_QU03_TextThatBeginsWithADash(t *testing.T) {
	_, _, errs := run(t, "", nil, "send", "bob", "-----BEGIN")
	if !strings.Contains(errs, "wants -- before it") {
		t.Errorf("no way out: %s", errs)
	}
}
