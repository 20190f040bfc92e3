package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestCR05_TD07_M22_TakeoverFromAKilledLead: while up leads, nobody takes its team;
// when it is killed, whoever comes next does, and the teammate notices nothing.
// https://github.com/anthropics/claude-code/issues/90332
func TestCR05_TD07_M22_TakeoverFromAKilledLead(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		teamFile(r, "led", r.stub("mute"), "keep")
		up := r.start(nil, "up")
		r.eventually("bob is there", func() bool { return r.alive("led") == 1 })
		host := hostRecord(r, "led", "bob")
		inside := []string{"LEADLIGHT_AGENT=bob", "LEADLIGHT_TEAM=led"}
		for _, tc := range []struct {
			env  []string
			exit int
			code string
		}{{nil, 4, "NOT_LEAD"}, {inside, 4, "NOT_LEAD"}} {
			if res := r.runEnv(tc.env, "team", "takeover", "led"); res.exit != tc.exit || !strings.Contains(res.err, tc.code) {
				t.Errorf("takeover under a live lead (%v): exit %d, %s", tc.env, res.exit, res.err)
			}
		}
		r.eventually("up says what it waits for", func() bool { return strings.Contains(up.errs.String(), "task 1 waits for bob") })
		up.signal(syscall.SIGKILL)
		up.wait()
		putMail(r, "led", "bob", store.Lead, "a report for whoever leads")
		if res := r.run("team", "create", "led", "--description", "mine"); res.exit != 4 || !strings.Contains(res.err, "leadlight team takeover led") {
			t.Errorf("create does not offer the takeover: exit %d, %s", res.exit, res.err)
		}
		if res := r.runEnv(inside, "team", "takeover", "led"); res.exit != 4 || !strings.Contains(res.err, "NOT_LEAD") {
			t.Errorf("a teammate took its team over: exit %d, %s", res.exit, res.err)
		}
		got := into[api.Takeover](r, "team", "takeover", "led")
		if !slices.Equal(got.Adopted, []string{"bob"}) || len(got.Lost)+len(got.Removed)+len(got.Unknown) > 0 || !strings.Contains(got.Was, strconv.Itoa(up.cmd.Process.Pid)) {
			t.Errorf("takeover: %+v", got)
		}
		if now := hostRecord(r, "led", "bob"); now.Process != host.Process || r.member("bob").State != api.StateActive {
			t.Errorf("bob was disturbed: %+v", r.member("bob"))
		}
		if box := r.must("inbox", "--unread"); !strings.Contains(box, "a report for whoever leads") {
			t.Errorf("the lead's mail: %s", box)
		}
		if m := leadOf(r, "led"); m.State == api.StateLost {
			t.Errorf("the lead is still %+v", m)
		}
		into[api.Takeover](r, "team", "takeover", "led") // it is ours: nothing to do
		r.must("stop", "bob", "--timeout", "1s")
	})
}

// TestCR05_TD07_TakeoverFromClaude: a roster of Claude Code whose lead is gone comes
// to the session that asks; what ran inside the old lead leaves it.
// https://github.com/anthropics/claude-code/issues/53160
func TestCR05_TD07_TakeoverFromClaude(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	lead := exec.Command("sleep", "1000")
	if err := lead.Start(); err != nil {
		t.Fatal(err)
	}
	pane := r.tmux.Run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", r.lead, "--", "sleep", "1000")
	plant(r, "teams/alpha/config.json", foreignTeam(r, lead.Process.Pid,
		`,{"agentId":"in@alpha","name":"in","tmuxPaneId":"in-process","backendType":"in-process"}`,
		`,{"agentId":"out@alpha","name":"out","tmuxPaneId":"`+pane+`","backendType":"tmux","keep":{"me":1}}`))
	session := []string{"CLAUDE_CODE_SESSION_ID=99999999-2222-4333-8444-555555555555"}
	if res := r.runEnv(session, "team", "takeover", "alpha"); res.exit != 4 || !strings.Contains(res.err, "NOT_LEAD") {
		t.Errorf("takeover from a live lead: exit %d, %s", res.exit, res.err)
	}
	_ = lead.Process.Kill()
	_ = lead.Wait()
	putMail(r, "alpha", "out", store.Lead, "queued")
	if res := r.runEnv(session, "team", "takeover", "alpha"); res.exit != 0 || !strings.Contains(res.out, "go on: out") || !strings.Contains(res.out, "out of the roster: in") {
		t.Errorf("takeover: exit %d, %s%s", res.exit, res.out, res.err)
	}
	got := rosterOf(r, "alpha")
	if !got.LedByUs() || got.LeadProcess != nil || got.LeadSessionID != strings.TrimPrefix(session[0], "CLAUDE_CODE_SESSION_ID=") {
		t.Errorf("the lead is now %q, %+v", got.LeadSessionID, got.LeadProcess)
	}
	if got.Member("in") != nil || got.Member("out") == nil || got.Member("out").Unknown["keep"] == nil {
		t.Errorf("members: %+v", got.Members)
	}
	if box := r.must("inbox"); !strings.Contains(box, "queued") {
		t.Errorf("the mail of the old lead: %s", box)
	}
	if !slices.Contains(r.tmux.Panes(), pane) {
		t.Error("somebody's pane was closed")
	}
	r.tmux.Run("kill-pane", "-t", pane)
	r.must("team", "delete", "alpha")
}

// TestTD07_TakeoverNeedsProof: an old roster records no process of its lead; any
// Claude Code that runs may be it.
func TestTD07_TakeoverNeedsProof(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(r.dir, "claude")
	if err := copyFile(sleep, program); err != nil {
		t.Fatal(err)
	}
	lead := exec.Command(program, "1000")
	if err := lead.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = lead.Process.Kill(); _ = lead.Wait() }
	defer end()
	plant(r, "teams/alpha/config.json", []byte(`{"name":"alpha","createdAt":1790000000000,"leadAgentId":"team-lead@alpha",
		"leadSessionId":"11111111-2222-4333-8444-555555555555","members":[{"agentId":"team-lead@alpha","name":"team-lead","tmuxPaneId":""}]}`))
	res := r.run("team", "takeover", "alpha")
	if res.exit != 7 || !strings.Contains(res.err, "UNPROVEN") || !strings.Contains(res.err, "claude") {
		t.Errorf("takeover beside a Claude Code: exit %d, %s", res.exit, res.err)
	}
	end()
	if res = r.run("team", "takeover", "alpha"); res.exit != 0 && !strings.Contains(res.err, "UNPROVEN") { // another Claude Code may run on this machine
		t.Errorf("takeover: exit %d, %s", res.exit, res.err)
	}
	if strings.Contains(res.err, strconv.Itoa(lead.Process.Pid)) {
		t.Errorf("it takes a dead process for the lead: %s", res.err)
	}
	if _, err := os.Stat(r.path("base", "teams", "alpha", "config.json")); err != nil {
		t.Error(err)
	}
}
