package integration_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/teams/api"
)

var updateScreens = flag.Bool("update-screens", false, "write the golden screens of the dashboard anew")

// screen is the dashboard in a pane of a private tmux, and a person in front of it.
type screen struct {
	*rig
	pane string
	seen string
}

// top starts the dashboard, alone in a window of that size.
func (r *rig) top(size string, env ...string) *screen {
	r.t.Helper()
	argv := append([]string{"env"}, r.env...)
	argv = append(append(argv, env...), r.bin, "top")
	s := &screen{rig: r, pane: r.tmux.NewSession(size, argv...)}
	r.t.Cleanup(func() { // the dashboard, and the daemon it has started
		_, _ = r.tmux.Try("kill-pane", "-t", s.pane)
		r.must("daemon", "stop")
	})
	return s
}

// press sends keys, each one after the other was taken: a terminal cannot tell an
// escape with a key behind it from one key.
func (s *screen) press(keys ...string) {
	for _, k := range keys {
		s.tmux.Run("send-keys", "-t", s.pane, k)
	}
}

// shows waits for a text on the screen.
func (s *screen) shows(text string) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Fatal(s.seen)
		}
	}()
	s.eventually("the dashboard shows "+text, func() bool {
		s.seen = s.tmux.Capture(s.pane)
		return strings.Contains(s.seen, text)
	})
}

// golden waits for a screen as it is in testdata, but for ages and times of day.
func (s *screen) golden(name string) {
	s.t.Helper()
	file := filepath.Join("testdata", "top", name+".golden")
	get := func() string { return stable(s.tmux.Capture(s.pane)) }
	if *updateScreens {
		if err := os.WriteFile(file, []byte(get()), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		if s.t.Failed() {
			s.t.Fatal(cmp.Diff(string(want), s.seen))
		}
	}()
	s.eventually("the screen is as in "+file, func() bool {
		s.seen = get()
		return s.seen == string(want)
	})
}

// stable leaves out what differs from run to run.
func stable(text string) string {
	for _, v := range [][2]string{{`(?m) +$`, ""}, {` {0,3}\d+[smhd]│`, "  0s│"}, {`\d\d:\d\d:\d\d `, "00:00:00 "}, {`\d\d:\d\d `, "00:00 "}} {
		text = regexp.MustCompile(v[0]).ReplaceAllString(text, v[1])
	}
	return text + "\n"
}

// ensemble is a team that is always the same to look at.
func (r *rig) ensemble() {
	r.t.Helper()
	r.team("alpha")
	r.headless("bob", "sh", "-c", `printf '\033[31mred\033[0m \033[1m研究員\033[0m wide\n'; stty -echo; while read -r line; do echo "got $line of $(stty size)"; done`)
	r.must("spawn", "amy", "--backend", "headless", "--agent", "shell")
	r.must("task", "add", "Read the parser", "--owner", "bob")
	r.must("task", "update", "1", "--status", "in_progress")
	r.must("task", "add", "Write it up", "--blocked-by", "1", "--owner", "bob")
	_, fail := r.failing("zoe", "", "--backend", "headless")
	fail()
	r.eventually("zoe has failed", func() bool { return r.member("zoe").State == api.StateFailed })
	r.eventually("the lead is told", func() bool { return strings.Contains(r.must("inbox", "team-lead"), "zoe is failed") })
	r.must("send", "bob", "look at lex.go", "--summary", "lex.go first")
	r.must("inbox", "team-lead", "--mark-read")
}

// One team, looked at, steered and typed into, on a small screen and on a large one.
func TestM13_T05_TheDashboard(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.ensemble()
	s := r.top("80x24")
	s.shows("研究員 wide")
	s.golden("list-80x24")
	if got := s.tmux.Run("capture-pane", "-p", "-e", "-t", s.pane); !regexp.MustCompile(`\x1b\[[0-9;]*31m(\x1b\[49m)?red`).MatchString(got) {
		t.Errorf("the pane has lost its colours: %q", got)
	}
	s.press("Enter")
	s.shows("typing to bob")
	s.tmux.Run("send-keys", "-t", s.pane, "-l", "abc 研究")
	s.press("Enter")
	s.shows("got abc 研究 of 21 80")
	s.golden("typing-80x24")
	s.tmux.Run("set-buffer", "first pasted\nsecond pasted\n")
	s.tmux.Run("paste-buffer", "-p", "-t", s.pane)
	s.shows("got first pasted of")
	s.shows("got second pasted of")
	s.press("F10")
	s.shows("TEAMMATE")
	s.press("C-t")
	s.shows("waits for 1")
	s.golden("tasks-80x24")
	s.press("?")
	s.shows("this help")
	s.golden("help-80x24")
	s.press("Escape")
	s.shows("TEAMMATE")
	s.press("i")
	s.tmux.Run("resize-window", "-t", s.pane, "-x", "200", "-y", "50")
	s.shows("nothing since the dashboard began")
	s.golden("messages-200x50")
	s.press("i", "S-Down")
	s.shows("amy — idle")
	s.golden("list-200x50")
	s.press("S-Down")
	s.shows("zoe — failed")
	s.press("S-Up", "S-Up")
	s.shows("bob — active")
	s.click(5, 4)
	s.shows("zoe — failed")
	s.press("q")
	s.eventually("it has ended", func() bool { return len(s.tmux.Panes()) == 0 })
}

// click sends what a terminal sends for a click, in cells from 0.
func (s *screen) click(x, y int) {
	for _, end := range []string{"M", "m"} {
		s.tmux.Run("send-keys", "-t", s.pane, "-l", fmt.Sprintf("\x1b[<0;%d;%d%s", x+1, y+1, end))
	}
}

// Of several teams one is chosen; then its tasks are opened and acted on, and a request
// that waits is shown first.
func TestXD07_ChosenOpenedAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.team("alpha")
	r.must("team", "create", "beta", "--description", "the other one")
	r.must("spawn", "bob", "--team", "beta", "--backend", "headless", "--", "cat")
	r.must("task", "add", "Read it", "-d", "All of it.", "--team", "beta")
	if res := r.runEnv([]string{"LEADLIGHT_AGENT=bob", "LEADLIGHT_TEAM=beta"}, "plan", "submit", "first look"); res.exit != 0 {
		t.Fatal(res.err)
	}
	s := r.top("80x24")
	s.shows("2 teams: which one?")
	s.press("Down", "Enter")
	s.shows("asks: is this plan good? first look — y: yes, n: no")
	s.shows("Requests")
	s.press("y")
	s.shows("bob is told yes")
	s.press("C-t")
	s.shows("Read it")
	s.press("Enter")
	s.shows("All of it.")
	s.press("d")
	s.shows("task 1 is done")
	if task := into[api.Task](r, "task", "show", "1", "--team", "beta"); task.Status != "completed" {
		t.Errorf("task 1 is %s", task.Status)
	}
	s.press("q")
	s.eventually("it has ended", func() bool { return len(s.tmux.Panes()) == 0 })
}

// up --top shows the dashboard although the panes are in tmux, and goes on in lines when
// the person leaves it.
func TestXD07_UpTop(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	file := `{team: redo, members: [{name: amy, run: sleep 1000}], tasks: [{subject: look, owner: amy}], lifecycle: {ask: 2m, term: 1s}}`
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.run("up", "--top", "--detach"); res.exit != 2 {
		t.Errorf("with --detach: exit %d\n%s", res.exit, res.err)
	}
	argv := append(append([]string{"env", "-C", r.path("work")}, r.env...), r.bin, "up", "--top")
	s := &screen{rig: r, pane: r.tmux.NewSession("100x30", argv...)}
	s.shows("▸● amy")
	s.press("s", "y")
	s.shows("SIGTERM in ") // in two minutes, and then in less
	s.press("q")           // the request is taken back
	s.shows("amy active (task 1)")
	if box := boxOf(r, "redo", "amy"); len(box) != 1 || !strings.Contains(box[0].Text, "shutdown_request") || !box[0].Read {
		t.Errorf("amy's mail: %+v", box)
	}
	s.press("C-c")
	s.eventually("it has ended", func() bool { return len(s.tmux.Panes()) == 2 }) // the lead's and amy's
	r.must("down", "redo", "--force", "--timeout", "1s")
	_ = r.run("daemon", "stop") // the dashboard has started one; it may have ended by itself
}

// What is done on the dashboard is done by the verbs.
func TestM14_TheDashboardActs(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.ensemble()
	s := r.top("80x24", "LEADLIGHT_BACKEND=headless")
	s.shows("研究員 wide")
	s.press("BTab")
	s.shows("done · delegate mode")
	s.press("BTab")
	s.shows("delegate mode is off")

	s.press("m")
	s.tmux.Run("send-keys", "-t", s.pane, "-l", "over to you")
	s.press("Enter")
	s.shows("sent to bob")
	if box := boxOf(r, "alpha", "bob"); box[len(box)-1].Text != "over to you" {
		t.Errorf("bob's mail: %+v", box)
	}
	s.press("Escape") // takes the note away
	for _, c := range []struct{ key, plan, said, status string }{
		{"n", "write at once", "no", "rejected"}, {"y", "first look, then write", "yes", "approved"},
	} {
		if res := r.runEnv([]string{"LEADLIGHT_AGENT=bob", "LEADLIGHT_TEAM=alpha"}, "plan", "submit", c.plan); res.exit != 0 {
			t.Fatal(res.err)
		}
		s.shows("bob asks: is this plan good? " + c.plan + " — y: yes, n: no")
		s.press(c.key)
		s.shows("bob is told " + c.said)
		if out := r.must("requests", "--all"); !strings.Contains(out, c.status) {
			t.Errorf("plans: %s", out)
		}
		s.press("Escape") // takes the note away
		s.shows("↑↓ select")
	}
	s.press("f") // the real pane, in the dashboard's place
	s.shows("ctrl-\\ and then d leaves bob")
	s.tmux.Run("send-keys", "-t", s.pane, "-l", "real")
	s.press("Enter")
	s.shows("got real of 24 80")
	if strings.Contains(s.seen, "leaves bob") || strings.Contains(s.seen, "TEAMMATE") {
		t.Errorf("the viewer shows:\n%s", s.seen)
	}
	s.press("C-\\", "d")
	s.shows("TEAMMATE")

	s.press("s")
	s.shows("stop bob?")
	s.press("y")
	s.shows("bob: terminated")
	if m := r.member("bob"); m.State != api.StateStopped {
		t.Errorf("bob is %s", m.State)
	}
	s.press("r")
	s.shows("restart bob?")
	s.press("y")
	s.shows("bob runs again")
	s.press("/")
	s.tmux.Run("send-keys", "-t", s.pane, "-l", "fail")
	s.shows("2 more do not match")
	s.press("Enter")
	plain := r.top("80x24", "NO_COLOR=1") // before the first one ends, and with it the server
	s.press("q")
	s.eventually("it has ended", func() bool { return len(s.tmux.Panes()) == 1 })

	plain.shows("TEAMMATE")
	plain.shows("bob")
	if got := r.tmux.Run("capture-pane", "-p", "-e", "-t", plain.pane); regexp.MustCompile(`\x1b\[([0-9;]*;)?([349][0-7]|10[0-7]|[34]8[;0-9]*)m`).MatchString(got) {
		t.Errorf("colours in spite of NO_COLOR: %q", got)
	}
	plain.press("C-c")
	plain.eventually("it has ended", func() bool { return len(r.tmux.Panes()) == 0 })
}

// The dashboard starts a daemon that tells it of changes, and does without one that has
// gone.
func TestM13_TheDashboardIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.team("alpha")
	r.headless("bob", "sleep", "1000")
	s := r.top("80x24")
	s.shows("bob")
	r.eventually("a daemon has the dashboard for a client", func() bool {
		return r.run("daemon", "status").exit == 0 && into[api.DaemonStatus](r, "daemon", "status").Clients > 1 // and the one that asks
	})
	s.press("i")
	s.shows("there are none")
	for _, text := range []string{"told", "seen"} {
		r.must("send", "bob", "you are "+text)
		s.shows("→ bob you are " + text)
		r.must("daemon", "stop")
	}
	s.press("q")
	s.eventually("it has ended", func() bool { return len(s.tmux.Panes()) == 0 })
}
