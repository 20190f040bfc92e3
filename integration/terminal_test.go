package integration_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// inject types into a member's program as a lead does, past tmux.
func inject(r *rig, team, name, text string) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	return host.Dial(hostRecord(r, team, name).Socket).Inject(ctx, host.Input{Text: text})
}

// TestQU09_PaneInCopyMode: a pane that a person scrolls back still takes what is
// typed, because typing does not go through tmux.
// https://github.com/awslabs/cli-agent-orchestrator/pull/676
func TestQU09_PaneInCopyMode(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	m := r.spawn("a", nil, "sh", "-c", `while read -r line; do echo "$line" >> `+r.path("got")+`; done`)
	r.tmux.Run("copy-mode", "-t", m.TmuxPaneID)
	if err := inject(r, "alpha", "a", "hello;"); err != nil {
		t.Fatal(err)
	}
	r.eventually("the text is submitted", func() bool { b, _ := os.ReadFile(r.path("got")); return string(b) == "hello;\n" })
	if got := r.tmux.Format(m.TmuxPaneID, "#{pane_in_mode}"); got != "1" {
		t.Errorf("the person was thrown out of copy mode: %s", got)
	}
}

// TestPI01_PI02_PI11_TV09_TV04_OperatorsConfiguration: everything that people set in
// their tmux.conf, a stranger's title that breaks lists, and a whole cycle.
// https://github.com/anthropics/claude-code/issues/23527
func TestPI01_PI02_PI11_TV09_TV04_OperatorsConfiguration(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60",
		"set -g base-index 1", "setw -g pane-base-index 1", "set -g renumber-windows on",
		"set -g prefix C-Space", "unbind C-b", "setw -g allow-rename on", "setw -g automatic-rename on", "setw -g remain-on-exit on")
	stranger := r.tmux.Run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", r.lead, "--", "sleep", "1000")
	r.tmux.Run("select-pane", "-t", stranger, "-T", "x-:-y'")
	r.team("alpha")
	loop := func(name string) []string {
		return []string{"sh", "-c", `printf '\033]2;x-:-y\047\007\033kname\033\\'; tmux rename-window stolen; while read -r l; do echo "got $l"; done`, name}
	}
	a, b := r.spawn("a", nil, loop("a")...), r.spawn("b", nil, loop("b")...)
	if err := inject(r, "alpha", "a", "for a"); err != nil {
		t.Fatal(err)
	}
	r.eventually("a got it", func() bool { return strings.Contains(r.tmux.Capture(a.TmuxPaneID), "got for a") })
	if strings.Contains(r.tmux.Capture(b.TmuxPaneID), "for a") {
		t.Error("b got what was for a")
	}
	r.must("send", "a", "hello")
	if n := r.alive("alpha"); n != 2 {
		t.Errorf("%d of 2 are seen", n)
	}
	if out := r.must("capture", "b"); strings.Contains(out, "for a") {
		t.Errorf("capture b: %s", out)
	}
	r.must("doctor")
	r.must("stop", "--all", "--timeout", "1s")
	if got := r.tmux.Panes(); len(got) != 2 || !slices.Contains(got, stranger) || !slices.Contains(got, r.lead) {
		t.Errorf("left: %v", got)
	}
	if got := r.tmux.Format(stranger, "#{pane_title}"); got != "x-:-y'" {
		t.Errorf("the stranger's title is %q now", got)
	}
}

// TestTV06_AnyShell: the operator's shell has no part in it.
// https://github.com/anthropics/claude-code/issues/72985
func TestTV06_AnyShell(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"dash", "fish", "nu", "tcsh", "zsh", "false"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		t.Run(shell, func(t *testing.T) {
			r := newRig(t, "220x60", "set -g default-shell "+path)
			r.team("alpha")
			r.spawn("a", []string{"--env", "X=two words; $HOME"}, "sh", "-c", `echo "x is <$X>"; sleep 1000`)
			r.eventually("it runs", func() bool { return strings.Contains(r.must("capture", "a"), "x is <two words; $HOME>") })
			r.must("stop", "a", "--timeout", "1s")
		})
	}
}

// TestTV11_MuteServer: a tmux that is stopped makes nobody dead and nothing wait.
// https://github.com/asheshgoplani/agent-deck/pull/2052
func TestTV11_MuteServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	r.spawn("a", nil, r.stub("mute")...)
	r.spawn("b", nil, r.stub("mute")...)
	own := []string{"TMUX=", "TMUX_PANE="} // a team in a server of our own
	r.team("beta")
	if res := r.runEnv(own, append([]string{"spawn", "c", "-t", "beta", "--"}, r.stub("mute")...)...); res.exit != 0 {
		t.Fatal(res.err)
	}
	resume := r.tmux.Stop()
	if res := r.runEnv(own, "stop", "c", "-t", "beta", "--timeout", "1s"); res.exit != 0 {
		t.Errorf("a team on another server: exit %d %s", res.exit, res.err)
	}
	r.env = append(r.env, "LEADLIGHT_TEAM=alpha")
	for _, c := range []struct {
		args   []string
		exit   []int
		silent bool // may it say nothing about tmux?
	}{
		{[]string{"ps", "--json"}, []int{0}, true},
		{[]string{"send", "a", "hello"}, []int{0}, true},
		{[]string{"doctor"}, []int{0, 1, 6}, false},
		{[]string{"spawn", "c", "--", "sleep", "1000"}, []int{6}, false},
		{[]string{"stop", "b", "--timeout", "1s"}, []int{7}, false},
	} {
		began := time.Now()
		res := r.run(c.args...)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%v took %s", c.args, took)
		}
		if !slices.Contains(c.exit, res.exit) {
			t.Errorf("%v: exit %d, want one of %v\n%s%s", c.args, res.exit, c.exit, res.out, res.err)
		}
		if !c.silent && !strings.Contains(res.out+res.err, "not answering") {
			t.Errorf("%v does not say that tmux is not answering:\n%s%s", c.args, res.out, res.err)
		}
	}
	if m := r.member("a"); m.State != api.StateActive {
		t.Errorf("a is %s (%s) while tmux is mute", m.State, m.Reason)
	}
	resume()
	if m := r.member("a"); m.State != api.StateActive {
		t.Errorf("a is %s (%s) after tmux went on", m.State, m.Reason)
	}
	r.must("stop", "--all", "--timeout", "1s")
	if got := r.tmux.Panes(); len(got) != 1 {
		t.Errorf("panes left: %v", got)
	}
}

// TestPI04_RestartedServer: another server has a pane of the number that the
// roster names. Nobody touches it.
// https://github.com/mertkayacs/reevesagents/issues/17
func TestPI04_RestartedServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	m := r.spawn("builder", nil, r.stub("mute")...)
	id := hostOf(r, "builder")
	r.tmux.Kill()
	r.eventually("its host has seen the end of its pane", func() bool {
		left, err := signals.Marked(id)
		return err == nil && len(left) == 0
	})
	r.tmux.NewSession("220x60")
	editor := ""
	for editor != m.TmuxPaneID {
		editor = r.tmux.Run("split-window", "-d", "-P", "-F", "#{pane_id}", "--", "sh", "-c", "while read -r x; do echo typed; done")
	}
	r.env = append(r.env, "TMUX="+r.tmux.Socket+","+strconv.Itoa(r.tmux.PID())+",0", "TMUX_PANE=%0")
	before := r.tmux.Run("show-options", "-p", "-t", editor) + r.tmux.Format(editor, "#{pane_pid} #{pane_title}") + r.tmux.Run("show-options", "-w")
	panes := r.tmux.Panes()
	for _, args := range [][]string{
		{"send", "builder", "hello"}, {"ps", "--all"}, {"capture", "builder"}, {"attach", "builder"}, {"gc"},
		{"stop", "builder", "--force", "--timeout", "1s"}, {"doctor", "--fix"}, {"restart", "nobody"}, {"team", "delete", "alpha", "--force"},
	} {
		r.run(args...)
		after := r.tmux.Run("show-options", "-p", "-t", editor) + r.tmux.Format(editor, "#{pane_pid} #{pane_title}") + r.tmux.Run("show-options", "-w")
		if after != before || !slices.Equal(r.tmux.Panes(), panes) || strings.TrimSpace(r.tmux.Capture(editor)) != "" {
			t.Fatalf("%v touched a stranger's pane:\n%s\n%s\n%v\n%s", args, before, after, r.tmux.Panes(), r.tmux.Capture(editor))
		}
	}
	if res := r.run("team", "show", "alpha"); res.exit != 3 {
		t.Errorf("the team of a ghost could not be deleted: exit %d %s", res.exit, res.err)
	}
}

// TestPI09_DotsAndColons: names that tmux would rewrite.
// https://github.com/tmux/tmux/issues/5173
func TestPI09_DotsAndColons(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		plant(r, "teams/v1.2:rc/config.json", []byte(`{"name":"v1.2:rc","leadAgentId":"team-lead@v1.2:rc","metadata":{"leadlight":{"schema":1}},
		"members":[{"agentId":"team-lead@v1.2:rc","name":"team-lead"}]}`))
		a := into1[api.Member](r, append([]string{"spawn", "api.v2", "-t", "v1.2:rc", "--placement", "window", "--json", "--"}, r.stub("mute")...)...)
		if a.State != api.StateActive || !r.hasPane(a) {
			t.Fatalf("got %+v", a)
		}
		r.must("send", "api.v2", "hello", "-t", "v1.2:rc")
		r.must("stop", "api.v2", "-t", "v1.2:rc", "--timeout", "1s")
		if r.hasPane(a) {
			t.Error("its pane is still there")
		}
		r.must("team", "delete", "v1.2:rc")
		if r.isHeadless() {
			return
		}
		// and outside tmux, in a session of our own
		r.env = append(r.env, "TMUX=", "TMUX_PANE=")
		r.team("alpha")
		r.spawn("b.c", nil, r.stub("mute")...)
		r.must("down", "alpha", "--timeout", "1s")
	})
}

// TestLY01_NoRoomLeft: more teammates than an 80x24 window holds.
// https://github.com/tmux/tmux/issues/3416
func TestLY01_NoRoomLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, "80x24")
	r.team("alpha")
	windows := map[string]int{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		m := r.spawn(name, nil, r.stub("mute")...)
		windows[r.tmux.Format(m.TmuxPaneID, "#{window_id}")]++
		if roster := rosterOf(r, "alpha"); roster.Member(name).TmuxPaneID != m.TmuxPaneID {
			t.Errorf("%s: the roster has another pane", name)
		}
	}
	if len(windows) < 2 || r.alive("alpha") != 6 {
		t.Errorf("windows %v, alive %d", windows, r.alive("alpha"))
	}
	if got := r.tmux.Format(r.lead, "#{pane_active}#{window_active}"); got != "11" {
		t.Errorf("the lead lost the focus: %s", got)
	}
}

// TestLY04_LY05_ThePersonsLayout: short-lived teammates beside a person's editor
// and log.
// https://github.com/Yeachan-Heo/oh-my-claudecode/issues/1158
func TestLY04_LY05_ThePersonsLayout(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	count := r.path("winch")
	loop := `trap 'echo x >> ` + count + `' WINCH; while :; do sleep 1000 & wait; kill $!; done`
	r.tmux.Run("respawn-pane", "-k", "-t", r.lead, "--", "sh", "-c", loop)
	editor := r.tmux.Run("split-window", "-d", "-h", "-l", "50", "-P", "-F", "#{pane_id}", "-t", r.lead, "--", "sleep", "1000")
	log := r.tmux.Run("split-window", "-d", "-v", "-l", "9", "-P", "-F", "#{pane_id}", "-t", editor, "--", "sleep", "1000")
	order := func() []string { return strings.Fields(r.tmux.Run("list-panes", "-t", r.lead, "-F", "#{pane_id}")) }
	before := r.tmux.Format(r.lead, "#{window_layout}")
	r.team("alpha")
	for _, name := range []string{"a", "b", "c"} {
		r.spawn(name, []string{"--placement", "window"}, r.stub("mute")...)
	}
	if got := r.tmux.Format(r.lead, "#{window_layout}"); got != before {
		t.Errorf("placement window, and the lead's window is %s, was %s", got, before)
	}
	r.must("stop", "--all", "--timeout", "1s")
	if got := r.tmux.Format(r.lead, "#{window_layout}"); got != before {
		t.Errorf("after the stop the lead's window is %s, was %s", got, before)
	}
	_ = os.Remove(count)
	file, err := json.Marshal(map[string]any{"team": "beta", "members": []any{
		map[string]any{"name": "a", "command": r.stub("mute")}, map[string]any{"name": "b", "command": r.stub("mute")}, map[string]any{"name": "c", "command": r.stub("mute")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("up", "--detach")
	var own []string
	for _, p := range order() {
		if p == r.lead || p == editor || p == log {
			own = append(own, p)
		}
	}
	if !slices.Equal(own, []string{r.lead, editor, log}) {
		t.Errorf("the person's panes are %v, were %v", own, []string{r.lead, editor, log})
	}
	if got := r.tmux.Format(r.lead, "#{pane_active}#{window_active}"); got != "11" {
		t.Errorf("the lead lost the focus: %s", got)
	}
	r.must("down", "beta", "--timeout", "1s")
	if got := order(); !slices.Equal(got, []string{r.lead, editor, log}) {
		t.Errorf("the person's panes are %v", got)
	}
	b, _ := os.ReadFile(count)
	if n := strings.Count(string(b), "x"); n > 8 { // one batch to open, three to close, arranged at most twice each
		t.Errorf("the lead's window was resized %d times", n)
	}
}

// TestEN02_OneConfigHome: the lead's CLAUDE_CONFIG_DIR is everybody's.
// https://github.com/kaitranntt/ccs/pull/481
func TestEN02_OneConfigHome(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		claude := "CLAUDE_CONFIG_DIR=" + r.path("base")
		r.env = append(slices.DeleteFunc(slices.Clone(r.env), func(kv string) bool { return strings.HasPrefix(kv, "LEADLIGHT_BASE_DIR=") }), claude)
		r.team("alpha")
		r.spawn("a", nil, r.stub("record", r.path("seen"))...)
		r.must("send", "a", "hello")
		rec := recorded(r, "seen")
		for _, kv := range []string{claude, "LEADLIGHT_BASE_DIR=" + r.path("base")} {
			if !slices.Contains(rec.Env, kv) {
				t.Errorf("%s is not in the teammate's environment", kv)
			}
		}
		for _, name := range []string{"teams/alpha/config.json", "teams/alpha/inboxes/a.json"} {
			if _, err := os.Stat(r.path("base", name)); err != nil {
				t.Error(err)
			}
		}
		if found, _ := filepath.Glob(r.path("home", ".claude*")); len(found) > 0 {
			t.Errorf("made in the home: %v", found)
		}
		if text := string(into[json.RawMessage](r, "doctor")); !strings.Contains(text, r.path("base")) {
			t.Errorf("doctor does not name the base: %s", text)
		}
	})
}

// recorded waits for what a recording stub saw.
func recorded(r *rig, file string) (rec record) {
	r.t.Helper()
	r.eventually("it has recorded", func() bool {
		b, err := os.ReadFile(r.path(file))
		return err == nil && json.Unmarshal(b, &rec) == nil
	})
	return rec
}

// TestEN03_EN10_TheServersOldValues: two leads with values of their own on one
// server that has old ones, and programs that only the leads know.
// https://github.com/h0x91b/dev-3.0/pull/41
func TestEN03_EN10_TheServersOldValues(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		servers := func() string {
			if r.isHeadless() {
				return "" // there is no server
			}
			return r.tmux.Run("show-environment", "-g") + r.tmux.Run("show-environment")
		}
		for _, kv := range [][2]string{{"ANTHROPIC_BASE_URL", "old"}, {"PATH", "/old"}, {"ONLY_IN_SERVER", "1"}} {
			if !r.isHeadless() {
				r.tmux.Run("set-environment", "-g", kv[0], kv[1])
			}
		}
		before := servers()
		for _, team := range []string{"one", "two"} {
			bin := r.path("bin-" + team)
			if err := os.Mkdir(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			script := "#!/bin/sh\nexec " + strings.Join(r.stub("record", r.path("seen-"+team), "agent of "+team), " ")
			script = strings.Replace(script, "agent of "+team, "agent-of-"+team, 1)
			if err := exetest.Write(filepath.Join(bin, "my-agent"), []byte(script)); err != nil {
				t.Fatal(err)
			}
			r.team(team)
			env := []string{"ANTHROPIC_BASE_URL=http://" + team, "PATH=" + bin + ":" + os.Getenv("PATH")}
			if res := r.runEnv(env, "spawn", "a", "-t", team, "--", "my-agent"); res.exit != 0 {
				t.Fatal(res.err)
			}
			rec := recorded(r, "seen-"+team)
			if !slices.Contains(rec.Env, env[0]) || !slices.Equal(rec.Argv, []string{"agent-of-" + team}) {
				t.Errorf("team %s: %v runs with %v", team, rec.Argv, rec.Env)
			}
			if slices.Contains(rec.Env, "ONLY_IN_SERVER=1") {
				t.Errorf("team %s: a variable of the server leaked in", team)
			}
		}
		if after := servers(); after != before {
			t.Errorf("the server's environment changed:\n%s\n%s", before, after)
		}
	})
}
