package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestSH05_StrangersOfTheSameName: programs called claude that a person runs, in a
// pane, in another session and without a terminal, outlive every verb that ends or
// cleans.
// https://github.com/gastownhall/gastown/issues/923
func TestSH05_StrangersOfTheSameName(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		claude := r.path("claude")
		sleep, err := exec.LookPath("sleep")
		if err == nil {
			err = copyFile(sleep, claude)
		}
		if err != nil {
			t.Fatal(err)
		}
		alone := exec.Command(claude, "1000")
		if err := alone.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = alone.Process.Kill(); _ = alone.Wait() }()
		strangers := func() string { return "" }
		if !r.isHeadless() {
			pane := r.tmux.Run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", r.lead, "--", claude, "1000")
			session := r.tmux.Run("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "alpha", "--", claude, "1000")
			strangers = func() string { return r.tmux.Format(pane, "#{pane_pid}") + " " + r.tmux.Format(session, "#{pane_pid}") }
		}
		panes := r.open()
		r.team("alpha")
		r.spawn("one", nil, claude, "1000")
		r.spawn("two", nil, claude, "1000")
		before := strangers()
		for _, args := range [][]string{{"stop", "one", "--timeout", "1s"}, {"gc"}, {"doctor", "--fix"}, {"down", "alpha", "--timeout", "1s"}, {"gc"}} {
			r.must(args...)
			if after := strangers(); after != before {
				t.Errorf("%v: the strangers' panes are %s, were %s", args, after, before)
			}
			if !tmuxtest.Alive(alone.Process.Pid) {
				t.Fatalf("%v ended a stranger without a terminal", args)
			}
		}
		if n := r.open(); n != panes {
			t.Errorf("%d panes, %d before", n, panes)
		}
	})
}

// copyFile makes an executable copy.
func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return exetest.Write(to, content)
}

// TestSC01_LongInbox: an inbox of 1200 messages and 1.8 MB that belongs to a lead of
// Claude Code. It is read and written quickly, and nothing leaves it unasked.
// https://github.com/anthropics/claude-code/issues/63684
func TestSC01_LongInbox(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	plant(r, "teams/alpha/config.json", foreignTeam(r, os.Getpid()))
	r.spawn("bob", nil, r.stub("mute")...)
	var box []map[string]any
	for i := range 1200 {
		box = append(box, map[string]any{"from": "bob", "text": fmt.Sprintf("%d %s", i, strings.Repeat("x", 1400)), "read": i < 1190,
			"timestamp": store.FormatTime(time.UnixMilli(1790000000000 + int64(i)*1000)), "extra": i})
	}
	data, err := json.MarshalIndent(box, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	plant(r, "teams/alpha/inboxes/team-lead.json", data)
	var unread []api.Message
	var read, short time.Duration
	for range 20 { // one look at least has its turn at the CPU
		began := time.Now()
		unread = into[[]api.Message](r, "inbox", "team-lead", "--unread")
		read = time.Since(began)
		began = time.Now()
		into[[]api.Message](r, "inbox", "bob", "--unread")
		if short = time.Since(began); read <= max(time.Second, 10*short) {
			break
		}
	}
	if len(unread) != 10 || read > max(time.Second, 10*short) {
		t.Errorf("%d of 10 unread after %s; %s with an empty box", len(unread), read, short)
	}
	// A box that is short is the measure, so that a busy machine decides nothing.
	send := func(to string, i int) time.Duration {
		began := time.Now()
		r.must("send", to, fmt.Sprintf("new %d", i), "--as", "bob")
		return time.Since(began)
	}
	var toLong, toShort []time.Duration
	for i := range 20 {
		toLong, toShort = append(toLong, send("team-lead", i)), append(toShort, send("bob", i))
	}
	slices.Sort(toLong)
	slices.Sort(toShort)
	if median := toLong[len(toLong)/2]; median > max(500*time.Millisecond, 10*toShort[len(toShort)/2]) {
		t.Errorf("a send takes %s; %s to a short box", median, toShort[len(toShort)/2])
	}
	after := boxOf(r, "alpha", "team-lead")
	if len(after) != 1220 || !strings.HasPrefix(after[0].Text, "0 ") || after[1219].Text != "new 19" {
		t.Errorf("%d messages of 1220", len(after))
	}
}
