package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// teamFile writes a leadlight.yaml: one teammate that stays, and a task it never does.
func teamFile(r *rig, team string, argv []string, onLeadExit string) {
	r.t.Helper()
	file, err := json.Marshal(map[string]any{"team": team,
		"members":   []any{map[string]any{"name": "bob", "command": argv}},
		"tasks":     []any{map[string]any{"subject": "never done", "owner": "bob"}},
		"lifecycle": map[string]any{"onLeadExit": onLeadExit, "ask": "1s"}})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), file, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// leadOf is the lead of a team as it is shown.
func leadOf(r *rig, team string) api.Member {
	r.t.Helper()
	for _, m := range into[api.Team](r, "team", "show", team).Members {
		if m.Name == store.Lead {
			return m
		}
	}
	r.t.Fatal("there is no lead")
	return api.Member{}
}

// TestSH09_UX04_UX05_LeadIsKilled: while the lead lives, its team's name is its own;
// when it is killed, the teammates go on and everybody can see why.
// https://github.com/stablyai/orca/issues/15146
func TestSH09_UX04_UX05_LeadIsKilled(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		teamFile(r, "led", r.stub("mute"), "keep")
		up := r.start(nil, "up")
		pid := strconv.Itoa(up.cmd.Process.Pid)
		r.eventually("bob is there", func() bool { return r.alive("led") == 1 })
		if m := leadOf(r, "led"); m.State != api.StateActive || strconv.Itoa(m.PID) != pid {
			t.Errorf("the lead is %+v", m)
		}
		r.eventually("bob is told of his task", func() bool { return tree(t, r.path("base", "teams", "led"))["inboxes/bob.json"] != "" })
		putMail(r, "led", "bob", "team-lead", "a report")
		before := tree(t, r.path("base", "teams", "led"))
		tasks := tree(t, r.path("base", "tasks", "led"))
		for _, args := range [][]string{{"team", "create", "led", "--description", "mine"}, {"up"}} {
			res := r.run(args...)
			if res.exit != 4 || !strings.Contains(res.err, "TEAM_EXISTS") || !strings.Contains(res.err, "lead process "+pid+" is alive") ||
				!strings.Contains(res.err, " old") || !strings.Contains(res.err, "leadlight down led") {
				t.Errorf("%v over a live lead: exit %d, %s", args, res.exit, res.err)
			}
		}
		sameButLead(t, before, tree(t, r.path("base", "teams", "led")))
		sameButLead(t, tasks, tree(t, r.path("base", "tasks", "led")))

		up.signal(syscall.SIGKILL)
		up.wait()
		if m := leadOf(r, "led"); m.State != api.StateLost || m.Reason == "" || strconv.Itoa(m.PID) != pid {
			t.Errorf("the killed lead is %+v", m)
		}
		if r.alive("led") != 1 {
			t.Error("the teammate went with its lead")
		}
		r.must("send", "bob", "hello")
		if res := r.run("doctor"); !strings.Contains(res.out, pid) || !strings.Contains(res.out, "gone") {
			t.Errorf("doctor does not say that the lead is gone:\n%s", res.out)
		}
		if res := r.run("team", "create", "led", "--description", "mine"); res.exit != 4 || !strings.Contains(res.err, "lead process "+pid+" is gone") {
			t.Errorf("create over a dead lead: exit %d, %s", res.exit, res.err)
		}
		r.must("down", "led", "--timeout", "1s")
		r.team("led")
	})
}

// sameButLead compares two trees, passing over the lead's own inbox, which a lead
// may mark as read at any time, and the locks of who has just written.
func sameButLead(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, was := range before {
		if !strings.Contains(name, "team-lead") && !strings.HasSuffix(name, ".lock") && after[name] != was {
			t.Errorf("%s changed:\n%s\n%s", name, was, after[name])
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok && !strings.HasSuffix(name, ".lock") {
			t.Errorf("%s is new", name)
		}
	}
}

// TestSH09_LeadsTerminalIsClosed: the lead's pane is closed under it, and the
// teammates do what the team file says.
func TestSH09_LeadsTerminalIsClosed(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"keep", "shutdown"} {
		t.Run(policy, func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				teamFile(r, "led", r.stub("mute"), policy)
				hangUp := r.leads(t, "up")
				pid := leadOf(r, "led").PID
				hangUp()
				// One that has ended all its teammates is not lost.
				gone := map[string]string{"keep": api.StateLost, "shutdown": api.StateStopped}[policy]
				r.eventually("the lead is gone", func() bool { return leadOf(r, "led").State == gone })
				want := map[string]int{"keep": 1, "shutdown": 0}[policy]
				if policy == "shutdown" {
					r.eventually("bob is stopped", func() bool { return r.member("bob").State == api.StateStopped })
				}
				if got := r.alive("led"); got != want {
					t.Errorf("%d teammates go on after lead %d, want %d", got, pid, want)
				}
				r.must("down", "led", "--timeout", "1s")
			})
		})
	}
}

// leads runs a lead in a terminal of its own, waits until it shows its team, and returns
// what closes that terminal.
func (r *rig) leads(t *testing.T, verb string) (hangUp func()) {
	t.Helper()
	there := func() bool { return r.alive("led") == 1 }
	if r.isHeadless() {
		p := r.sits(t, 24, 80, verb)
		r.eventually("bob is there", there)
		p.sees(r, "1 of 1 teammates run") // on the dashboard
		return func() { _ = p.tty.Close() }
	}
	args := []string{"new-window", "-d", "-P", "-F", "#{pane_id}", "-c", r.path("work")}
	for _, kv := range r.env {
		if strings.HasPrefix(kv, "LEADLIGHT_") || strings.HasPrefix(kv, "XDG_") || strings.HasPrefix(kv, "HOME=") {
			args = append(args, "-e", kv)
		}
	}
	lead := r.tmux.Run(append(args, "--", r.bin, verb)...)
	r.eventually("bob is there", there)
	r.eventually("the lead shows its team", func() bool { return strings.Contains(r.tmux.Capture(lead), "never done") })
	return func() { r.tmux.Run("kill-pane", "-t", lead) }
}

// TestSH08_ApprovalThatIsNone: another's answer, an answer to another question, and
// texts that look like one.
// https://github.com/QwenLM/qwen-code/pull/4844
func TestSH08_ApprovalThatIsNone(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	for _, name := range []string{"builder", "scout"} {
		r.spawn(name, []string{"--kind", "native"}, r.stub("mute")...)
	}
	began := time.Now()
	stop := r.start(nil, "stop", "builder", "--timeout", "4s", "--json")
	var asked store.Frame
	r.eventually("builder was asked", func() bool {
		for _, m := range boxOf(r, "alpha", "builder") {
			if f, ok := store.ParseFrame(m.Text); ok && f.Type == store.ShutdownRequest {
				asked = f
			}
		}
		return asked.RequestID != ""
	})
	approval := func(id, from string) string {
		return store.Frame{Type: store.ShutdownApproved, RequestID: id, From: from}.Text()
	}
	putMail(r, "alpha", "scout", "team-lead", approval(asked.RequestID, "builder"))
	putMail(r, "alpha", "stranger", "team-lead", approval(asked.RequestID, "builder"))
	putMail(r, "alpha", "builder", "team-lead", approval("shutdown-1@builder", "builder"))
	putMail(r, "alpha", "builder", "team-lead", "I saw "+approval(asked.RequestID, "builder")+" in the log")
	var looks []store.Message
	if err := json.Unmarshal(sample(r, "json-looking-text.json"), &looks); err != nil {
		t.Fatal(err)
	}
	for _, m := range looks {
		putMail(r, "alpha", "builder", "team-lead", m.Text)
	}
	if res := r.runEnv([]string{"LEADLIGHT_AGENT=scout", "LEADLIGHT_TEAM=alpha"}, "approve", asked.RequestID); res.exit == 0 {
		t.Errorf("scout approved builder's request: %s", res.out)
	}
	if m := r.member("builder"); !m.Live() && time.Since(began) < 4*time.Second {
		t.Errorf("builder is %s while it was not asked long enough", m.State)
	}
	var ends api.Endings
	if err := json.Unmarshal([]byte(stop.wait().out), &ends); err != nil {
		t.Fatal(err)
	}
	if e := ends.Members[0]; e.Outcome != api.Terminated || e.DurationMs < 4000 {
		t.Errorf("got %+v: somebody else's word counted", e)
	}
	if m := r.member("scout"); m.State != api.StateActive {
		t.Errorf("scout is %s", m.State)
	}
}

// TestSH12_ShellThatOutlivesTheAgent: what the agent leaves behind is not the agent.
// https://github.com/Untrivial-ai/agent-orchestrator/issues/2802
func TestSH12_ShellThatOutlivesTheAgent(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		m := r.spawn("a", nil, "sh", "-c", "sh -c 'while read -r x; do echo typed $x; done' <&1 & setsid sleep 1000 & sleep 0.5; echo bye")
		id := hostOf(r, "a")
		r.eventually("the agent has ended", func() bool { return r.member("a").State == api.StateStopped })
		r.eventually("nothing of it is left", func() bool { // the host itself ends after it has said so
			left, err := signals.Marked(id)
			return err == nil && len(left) == 0
		})
		r.eventually("its pane is gone", func() bool {
			if !r.isHeadless() {
				// A tmux with utempter may miss the end of a pane's program until another child
				// of it ends.
				_, _ = r.tmux.Try("run-shell", "-b", "true")
			}
			return !r.hasPane(m)
		})
		if res := r.run("send", "a", "hello"); res.exit != 4 || !strings.Contains(res.err, "RECIPIENT_INACTIVE") {
			t.Errorf("send: exit %d, %s", res.exit, res.err)
		}
	})
}

// TestTD02_StoppingIsActive: a delete while a member was asked, and while one that
// agreed is still there.
// https://github.com/anthropics/claude-code/issues/57078
func TestTD02_StoppingIsActive(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	r.team("alpha")
	r.spawn("mute", []string{"--kind", "native"}, r.stub("mute")...)
	r.spawn("agrees", []string{"--kind", "native"}, r.stub("agree")...)
	stop := r.start(nil, "stop", "--all", "--timeout", "150s")
	r.eventually("one has agreed, and one was asked", func() bool {
		agreed := false
		for _, m := range boxOf(r, "alpha", store.Lead) {
			agreed = agreed || m.From == "agrees" && m.Kind() == store.ShutdownApproved
		}
		return agreed && len(boxOf(r, "alpha", "mute")) > 0
	})
	res := r.run("team", "delete", "alpha")
	if res.exit != 4 || !strings.Contains(res.err, "ACTIVE_MEMBERS") || !strings.Contains(res.err, "mute") {
		t.Errorf("delete: exit %d, %s", res.exit, res.err)
	}
	stop.signal(syscall.SIGINT) // mute would be waited for
	if got := stop.wait(); got.exit != 130 {
		t.Errorf("stop: exit %d, %s", got.exit, got.err)
	}
	r.must("stop", "--all", "--timeout", "100ms")
	r.must("team", "delete", "alpha")
}

// TestTD04_ThePaneDecides: a flag that says idle over one that works, and a missing
// flag over a pane that is gone.
// https://github.com/automagik-dev/genie/issues/1179
func TestTD04_ThePaneDecides(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("beta")
		r.spawn("works", []string{"-t", "beta"}, r.stub("mute")...)
		rewrite(r, "teams/beta/config.json", `"isActive": true`, `"isActive": false`)
		if res := r.run("team", "delete", "beta"); res.exit != 4 || !strings.Contains(res.err, "works") {
			t.Errorf("delete over a live member: exit %d, %s", res.exit, res.err)
		}
		if r.isHeadless() {
			return // the rest is about a pane of Claude Code's own
		}
		plant(r, "teams/alpha/config.json", sample(r, "no-isactive.json")) // its pane %5 was never here
		r.must("team", "delete", "alpha")
		pane := r.tmux.Run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", r.lead, "--", "sleep", "1000")
		plant(r, "teams/alpha/config.json", []byte(strings.ReplaceAll(string(sample(r, "no-isactive.json")), "%5", pane)))
		if res := r.run("team", "delete", "alpha"); res.exit != 4 || !strings.Contains(res.err, "builder") {
			t.Errorf("delete over a live pane: exit %d, %s", res.exit, res.err)
		}
		r.tmux.Run("kill-pane", "-t", pane)
		r.must("team", "delete", "alpha")
	})
}

// foreignTeam is a roster as Claude Code keeps it, led by process pid.
func foreignTeam(r *rig, lead int, members ...string) []byte {
	r.t.Helper()
	id, err := signals.Identify(lead)
	if err != nil {
		r.t.Fatal(err)
	}
	machine, err := os.Hostname()
	if err != nil {
		r.t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"name":"alpha","description":"x","createdAt":1790000000000,"leadAgentId":"team-lead@alpha",
		"leadSessionId":"11111111-2222-4333-8444-555555555555",
		"leadProcess":{"pid":%d,"pidSpace":%q,"claimedAt":1790000000000,"procStart":"%d"},
		"members":[{"agentId":"team-lead@alpha","name":"team-lead","tmuxPaneId":""}%s]}`,
		lead, machine+"#"+id.Namespace, id.Start, strings.Join(members, ""))
}

// TestTD05_TD07_UX05_InsideALead: members inside a lead live as long as it does; then
// the team can be deleted by name.
// https://github.com/anthropics/claude-code/issues/57681
func TestTD05_TD07_UX05_InsideALead(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	lead := exec.Command("sleep", "1000")
	if err := lead.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = lead.Process.Kill(); _ = lead.Wait() }
	defer end()
	inside := func(name string) string {
		return fmt.Sprintf(`,{"agentId":"%s@alpha","name":%q,"tmuxPaneId":"in-process","backendType":"in-process"}`, name, name)
	}
	plant(r, "teams/alpha/config.json", foreignTeam(r, lead.Process.Pid, inside("agreed"), inside("silent")))
	putMail(r, "alpha", "agreed", "team-lead", store.Frame{Type: store.ShutdownApproved, RequestID: "shutdown-1@agreed", From: "agreed"}.Text())
	before := tree(t, r.path("base", "teams"))
	res := r.run("team", "delete", "alpha")
	if res.exit != 4 {
		t.Errorf("delete while the lead lives: exit %d, %s", res.exit, res.err)
	}
	if agreed, silent := r.member("agreed"), r.member("silent"); agreed.Live() || silent.State != api.StateActive {
		t.Errorf("who agreed is %s, who did not is %s", agreed.State, silent.State)
	}
	res = r.run("team", "create", "alpha", "--description", "mine")
	if res.exit != 4 || !strings.Contains(res.err, "11111111-2222-4333-8444-555555555555") || !strings.Contains(res.err, "is alive") {
		t.Errorf("create while the lead lives: exit %d, %s", res.exit, res.err)
	}
	sameButLead(t, before, tree(t, r.path("base", "teams")))
	end()
	res = r.run("team", "create", "alpha", "--description", "mine")
	if res.exit != 4 || !strings.Contains(res.err, "is gone") || !strings.Contains(res.err, "leadlight down alpha") {
		t.Errorf("create after the crash: exit %d, %s", res.exit, res.err)
	}
	r.must("team", "delete", "alpha")
	r.team("alpha")
}
