package integration_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/leadlight-dev/leadlight/backend/iterm2/iterm2test"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// inITerm2 is leadlight as a person in iTerm2 has it; tmux is there, too.
func inITerm2(t *testing.T) (*rig, *iterm2test.Server) {
	t.Helper()
	s := iterm2test.Start(t)
	r := newRig(t, "")
	bin := r.path("bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Helper(bin); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "HOME="+s.Home, "TERM_PROGRAM=iTerm.app", "ITERM_SESSION_ID=w0t0p0:"+s.Lead,
		"PATH="+bin+":"+os.Getenv("PATH"))
	return r, s
}

// onlyTheLead proves that in no session but the lead's a program runs. iTerm2 closes that of a
// program that has ended by itself when it sees that: it is waited for.
func (r *rig) onlyTheLead(s *iterm2test.Server) {
	r.t.Helper()
	for id, pid := range s.Programs() {
		if id != s.Lead && tmuxtest.Alive(pid) {
			r.t.Errorf("in iTerm2 the program of session %s is left", id)
		}
	}
	r.eventually("nothing but the lead is left in iTerm2", func() bool { left := s.Programs(); return len(left) == 1 && left[s.Lead] != 0 })
}

// six is a team file of six workers with a task each, one of which fails.
func six() string {
	var b strings.Builder
	b.WriteString("team: alpha\nmembers:\n")
	for i := range 6 {
		fmt.Fprintf(&b, "  - {name: w%d, agent: shell, run: 'echo result %d; exit %d'}\n", i, i, i/5)
	}
	b.WriteString("tasks:\n")
	for i := range 6 {
		fmt.Fprintf(&b, "  - {subject: task %d, owner: w%d}\n", i, i)
	}
	return b.String()
}

// The same team file has the same results in every terminal, and leaves nothing there.
func TestT07_SameTeamFileEverywhere(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	results := map[string]string{}
	run := func(t *testing.T, r *rig, flags ...string) {
		t.Helper()
		_, name, _ := strings.Cut(t.Name(), "/each/")
		if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(six()), 0o600); err != nil {
			t.Fatal(err)
		}
		res := r.run(append([]string{"up"}, flags...)...)
		if res.exit != 1 || !strings.Contains(res.err, "backend "+name+":") {
			t.Errorf("%s: exit %d\n%s%s", name, res.exit, res.out, res.err)
		}
		mu.Lock()
		defer mu.Unlock()
		results[name] = res.out
	}
	t.Run("each", func(t *testing.T) { // side by side; it is over when all are
		t.Run("headless", func(t *testing.T) { t.Parallel(); run(t, newRig(t, ""), "--backend", "headless") })
		t.Run("tmux", func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "200x60")
			run(t, r)
			if left := r.tmux.Panes(); !slices.Equal(left, []string{r.lead}) {
				t.Errorf("left in tmux: %q", left)
			}
		})
		t.Run("iterm2", func(t *testing.T) {
			t.Parallel()
			r, s := inITerm2(t)
			run(t, r)
			r.onlyTheLead(s)
		})
	})
	for name, got := range results {
		if got != results["headless"] || !strings.Contains(got, "result 3") {
			t.Errorf("%s ended with\n%s, and headless with\n%s", name, got, results["headless"])
		}
	}
}

// Six teammates beside the lead in iTerm2: panes as Claude Code writes them, one closed by
// hand, one that failed and can be read, and an end that leaves nothing.
func TestT07_SixInITerm2(t *testing.T) {
	t.Parallel()
	r, s := inITerm2(t)
	r.team("alpha")
	focus := s.Focus()
	ids := map[string]string{}
	for i := range 5 {
		name := fmt.Sprint("m", i)
		m := r.spawn(name, nil, "sleep", "1000")
		if m.BackendType != "iterm2" || s.Size(m.TmuxPaneID).Cols == 0 {
			t.Fatalf("%s is in %s %s", name, m.BackendType, m.TmuxPaneID)
		}
		ids[name] = m.TmuxPaneID
		r.eventually("its pane says "+name, func() bool { return strings.Contains(s.Shown(m.TmuxPaneID), name+" · active") })
	}
	broken := r.path("work", "broken") // once it is spawned
	failed := r.spawn("fails", nil, "sh", "-c", "until [ -e "+broken+" ]; do sleep 0.05; done; echo it broke; exit 3")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.Focus(); got != focus {
		t.Errorf("the focus went from %s to %s", focus, got)
	}
	lead, one := s.Size(s.Lead), s.Size(ids["m0"])
	if lead.Cols >= one.Cols || lead.Rows != 60 || one.Rows >= 20 {
		t.Errorf("the lead has %v, a teammate %v", lead, one)
	}

	s.CloseByHand(ids["m4"])
	r.eventually("m4 is stopped", func() bool {
		m := r.member("m4")
		return m.State == api.StateStopped && m.Reason == "pane closed"
	})
	r.eventually("one has failed", func() bool { return r.member("fails").State == api.StateFailed })
	if s.Size(failed.TmuxPaneID).Cols == 0 || !strings.Contains(r.must("capture", "fails"), "it broke") {
		t.Error("the pane of the one that failed is gone")
	}
	for i := range 4 {
		if m := r.member(fmt.Sprint("m", i)); m.State != api.StateActive {
			t.Errorf("%s is %s", m.Name, m.State)
		}
	}
	r.must("attach", "m2")
	if !strings.Contains(s.Focus(), ids["m2"]) {
		t.Errorf("the focus is %s", s.Focus())
	}
	if doctor := r.must("doctor"); !strings.Contains(doctor, "6 sessions, 5 of them ours") {
		t.Errorf("doctor: %s", doctor)
	}
	r.must("stop", "--all")
	r.must("down", "--force")
	r.onlyTheLead(s)
}

// The newest teammate's session was closed by the person: the next one stands beside
// another.
func TestIT02_NewestSessionClosed(t *testing.T) {
	t.Parallel()
	r, s := inITerm2(t)
	r.team("alpha")
	r.spawn("a", nil, "sleep", "1000")
	b := r.spawn("b", nil, "sleep", "1000")
	s.CloseByHand(b.TmuxPaneID)
	if c := r.spawn("c", nil, "sleep", "1000"); s.Size(c.TmuxPaneID).Cols == 0 || r.member("a").State != api.StateActive {
		t.Errorf("c is in %s", c.TmuxPaneID)
	}
}

// iTerm2 refuses, hangs, or has its interface off: what is asked for by name is an error
// in time with advice and no half-made member; without being asked for it is left out,
// and that is said.
func TestIT05_ITerm2RefusesOrHangs(t *testing.T) {
	t.Parallel()
	r, s := inITerm2(t)
	r.team("alpha")
	works := r.spawn("works", nil, "sleep", "1000")
	for _, tc := range []struct {
		name       string
		breaks     func() (mend func())
		says, hint string
	}{
		{"refused", func() func() { s.Refuse(401); return func() { s.Refuse(0) } }, "permission to use its API was refused", "Enable Python API"},
		{"hangs", s.Freeze, "did not answer in time", "dialog"},
	} {
		mend := tc.breaks()
		res := r.run("spawn", "late", "--backend", "iterm2", "--", "sleep", "1000")
		if res.exit != 6 || !strings.Contains(res.err, tc.says) || !strings.Contains(res.err, tc.hint) {
			t.Errorf("%s: exit %d, %s", tc.name, res.exit, res.err)
		}
		mend()
		if ps := r.must("ps", "--all", "--json"); strings.Contains(ps, "late") {
			t.Errorf("%s: a half-made member is in the roster: %s", tc.name, ps)
		}
		if m := r.member("works"); m.State != api.StateActive || m.TmuxPaneID != works.TmuxPaneID {
			t.Errorf("%s: the other one is %s", tc.name, m.State)
		}
	}
	s.Refuse(401)
	res := r.run("spawn", "other", "--json", "--", "sleep", "1000")
	if !strings.Contains(res.out, `"tmux"`) || !strings.Contains(res.err, "inside iTerm2, which cannot be used") {
		t.Errorf("on its own: %s%s", res.out, res.err)
	}
	s.Refuse(0)
	r.must("stop", "--all")
}
