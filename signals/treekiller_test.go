package signals

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startPrinted starts a program that prints a pid, and returns that one's identity.
func startPrinted(t *testing.T, c *exec.Cmd) Identity {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin(t, c) // it may have ended before anybody looks
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	id, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { (Proof{id: id}).Signal(syscall.SIGKILL) })
	return id
}

// adopt makes the test a subreaper that reaps, for its duration.
func adopt(t *testing.T) {
	t.Helper()
	if err := Subreaper(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); ReapOrphans(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

func TestTermIsEnoughForThePolite(t *testing.T) {
	mark := freshMark(t)
	root := script(t, mark, `sleep 1000 & echo ready; wait`)
	began := time.Now()
	report, err := TreeKiller{Host: mark, Roots: []Proof{{id: root}}, Term: 2 * time.Minute, Kill: time.Second}.Run(limited(t))
	if err != nil || report.Killed || len(report.Ended) != 2 {
		t.Errorf("report %+v, %v", report, err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("took %v", took)
	}
	noneLeft(t, mark)
}

// A stopped process gets its TERM, too.
func TestStoppedIsEnded(t *testing.T) {
	mark := freshMark(t)
	root := script(t, mark, `echo ready; sleep 1000`)
	(Proof{id: root}).Signal(syscall.SIGSTOP)
	report, err := TreeKiller{Host: mark, Roots: []Proof{{id: root}}, Term: 20 * time.Second, Kill: time.Second}.Run(limited(t))
	if err != nil || report.Killed {
		t.Errorf("report %+v, %v", report, err)
	}
	noneLeft(t, mark)
}

func TestGoneAlreadyIsSuccess(t *testing.T) {
	c := part("sleep")
	id := start(t, c)
	c.Process.Kill()
	c.Wait()
	report, err := TreeKiller{Host: freshMark(t), Roots: []Proof{{id: id}, {}}, Term: time.Second, Kill: time.Second}.Run(limited(t))
	if err != nil || report.Killed || len(report.Ended)+len(report.Survivors)+len(report.Leftovers) > 0 {
		t.Errorf("report %+v, %v", report, err)
	}
}

// What was started with the mark is found when its host is gone and it is
// nobody's descendant any more.
func TestMarkedIsFoundWithoutRoots(t *testing.T) {
	adopt(t)
	mark := freshMark(t)
	id := startPrinted(t, part("fork", Mark+"="+mark))
	report, err := TreeKiller{Host: mark, Term: 100 * time.Millisecond, Kill: 5 * time.Second}.Run(limited(t))
	if err != nil || !report.Killed || len(report.Survivors) > 0 {
		t.Errorf("report %+v, %v", report, err)
	}
	if id.Probe() != Gone {
		t.Error("it lives")
	}
	noneLeft(t, mark)
}

// https://github.com/gastownhall/gastown/issues/923
func TestSH05_StrangersAreUntouched(t *testing.T) {
	mark := freshMark(t)
	root := script(t, mark, `sleep 1000 & echo ready; wait`)
	same := exec.Command("sleep", "1000") // the same program, no terminal, a session of its own
	same.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	longer := exec.Command("sleep", "1000")
	longer.Env = append(os.Environ(), Mark+"="+mark+"x", "OTHER_"+Mark+"="+mark)
	strangers := []Identity{start(t, same), start(t, longer)}
	if _, err := (TreeKiller{Host: mark, Roots: []Proof{{id: root}}, Kill: 5 * time.Second}).Run(limited(t)); err != nil {
		t.Fatal(err)
	}
	noneLeft(t, mark)
	for _, s := range strangers {
		if s.Probe() != Alive {
			t.Errorf("pid %d was ended", s.PID)
		}
	}
}

func TestSparing(t *testing.T) {
	adopt(t)
	daemon := filepath.Join(t.TempDir(), "leadlight")
	if err := os.Symlink(lookPath(t, "bash"), daemon); err != nil {
		t.Fatal(err)
	}
	mark, other := freshMark(t), freshMark(t)+"-other"
	root := script(t, mark, `
env `+Mark+`="$1" bash -c 'sleep 61 & wait' &
( exec "$2" -c 'sleep 62; true' daemon run ) &
sleep 64 &
echo ready
wait`, other, daemon)
	sleepers := func() (n int) {
		table, _ := Snapshot()
		for _, p := range table.Descendants(os.Getpid()) {
			if p.Command == "sleep" {
				n++
			}
		}
		return n
	}
	eventually(t, "the tree", func() bool { return sleepers() == 3 })
	report, err := TreeKiller{Host: mark, Roots: []Proof{{id: root}}, Term: time.Second, Kill: 5 * time.Second}.Run(limited(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"belongs to host " + other: true, "a leadlight daemon": true}
	for _, p := range report.Leftovers {
		if !want[p.Spared] || p.Probe() != Alive {
			t.Errorf("left over: %s (%v)", p, p.Probe())
		}
		delete(want, p.Spared)
	}
	if len(want) > 0 || len(report.Survivors) > 0 {
		t.Errorf("not spared: %v; survivors %v", want, report.Survivors)
	}
	if got := sleepers(); got != 2 { // what is below the spared ones is spared
		t.Errorf("%d of the 2 below spared ones live", got)
	}
	for _, p := range report.Leftovers {
		host := mark
		if strings.HasSuffix(p.Spared, other) {
			host = other
		}
		end := TreeKiller{Host: host, Roots: []Proof{{id: p.Identity}}, Kill: 5 * time.Second}
		if _, err := end.Run(limited(t)); err != nil { // a root is not spared
			t.Error(err)
		}
	}
	noneLeft(t, mark)
	noneLeft(t, other)
}

func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A tmux server that an agent started lives on with all that runs in it.
func TestTmuxServerIsSpared(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("no tmux")
	}
	adopt(t)
	dir, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sock := filepath.Join(dir, "s")
	run := func(args ...string) (string, error) {
		c := exec.Command(tmux, append([]string{"-S", sock, "-f", "/dev/null"}, args...)...)
		c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TMUX") })
		out, err := c.Output()
		return strings.TrimSpace(string(out)), err
	}
	t.Cleanup(func() { run("kill-server") })
	mark := freshMark(t)
	root := script(t, mark, `unset TMUX TMUX_PANE; "$1" -S "$2" -f /dev/null new-session -d sleep 600; sleep 61 & echo ready; wait`, tmux, sock)
	panePID, err := run("list-panes", "-a", "-F", "#{pane_pid}")
	if err != nil {
		t.Fatal(err)
	}
	report, err := TreeKiller{Host: mark, Roots: []Proof{{id: root}}, Adopted: true, Term: time.Second, Kill: 5 * time.Second}.Run(limited(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Leftovers) != 1 || report.Leftovers[0].Spared != "a tmux server" || len(report.Survivors) > 0 {
		t.Errorf("report %+v", report)
	}
	if now, err := run("list-panes", "-a", "-F", "#{pane_pid}"); err != nil || now != panePID {
		t.Errorf("the server's pane: %q, was %q (%v)", now, panePID, err)
	}
	if root.Probe() != Gone {
		t.Error("the agent lives")
	}
}

func TestSelfIsNeverEnded(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	child := start(t, part("sleep"))
	report, err := TreeKiller{Roots: []Proof{{id: self}}, Kill: 5 * time.Second}.Run(limited(t))
	if err != nil || len(report.Survivors) > 0 {
		t.Errorf("report %+v, %v", report, err)
	}
	if child.Probe() != Gone {
		t.Error("what is below lives")
	}
}
