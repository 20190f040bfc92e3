package integration_test

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// person is a program in a terminal of its own, as somebody without tmux has it.
type person struct {
	t   testing.TB
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	seen bytes.Buffer
}

// sits starts leadlight in front of a person.
func (r *rig) sits(t testing.TB, rows, cols uint16, args ...string) *person {
	t.Helper()
	p := &person{t: t, cmd: exec.Command(r.bin, args...)}
	p.cmd.Dir, p.cmd.Env = r.path("work"), append(append([]string{}, r.env...), "TERM=xterm-256color")
	tty, err := pty.StartWithSize(p.cmd, &pty.Winsize{Rows: rows, Cols: cols})
	if err != nil {
		t.Fatal(err)
	}
	p.tty = tty
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := tty.Read(buf)
			p.mu.Lock()
			p.seen.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		_ = tty.Close()
	})
	return p
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// leaves detaches the viewer, and waits until it has gone.
func (p *person) leaves() {
	p.types("\x1cd")
	_ = p.cmd.Wait()
}

func (p *person) sees(r *rig, what string) {
	p.t.Helper()
	r.eventually("a viewer sees "+what, func() bool { return p.has(what) })
}

func (p *person) has(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(p.seen.Bytes(), []byte(what))
}

// headless starts a teammate without a terminal.
func (r *rig) headless(name string, argv ...string) api.Member {
	r.t.Helper()
	return r.spawn(name, []string{"--backend", "headless"}, argv...)
}

// Several people look at one teammate: its screen as it is, the size of who was there
// first, what they type; and it goes on when they leave, hang up or are killed.
func TestT05_HeadlessViewers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.team("alpha")
	r.headless("cat", "sh", "-c", `printf '\033[31m研究\033[0m before\n'; stty -echo; while read -r line; do echo "got $line of $(stty size)"; done`)
	r.eventually("it has drawn", func() bool { return strings.Contains(r.must("capture", "cat"), "before") })

	first := r.sits(t, 30, 100, "attach", "cat")
	first.sees(r, "研究")
	first.sees(r, "\x1b[31m")
	first.types("one\r")
	first.sees(r, "got one of 30 100")

	second := r.sits(t, 50, 200, "attach", "cat")
	second.sees(r, "got one")
	second.types("two\r")
	first.sees(r, "got two of 30 100")
	second.sees(r, "got two of 30 100")
	if err := pty.Setsize(first.tty, &pty.Winsize{Rows: 33, Cols: 111}); err != nil {
		t.Fatal(err)
	}
	r.eventually("the size is followed", func() bool {
		first.types("three\r")
		return second.has("got three of 33 111")
	})

	first.types("\x1cd") // the keys that detach
	first.sees(r, "left cat, which goes on")
	if err := first.cmd.Wait(); err != nil {
		t.Errorf("detached: %v", err)
	}
	r.eventually("the other one's size counts", func() bool {
		second.types("four\r")
		return second.has("got four of 50 200")
	})
	_ = second.tty.Close() // the terminal hangs up
	third := r.sits(t, 24, 80, "attach", "cat")
	third.sees(r, "got four")
	if err := third.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if m := r.member("cat"); m.State != api.StateActive {
		t.Errorf("after its viewers have gone it is %s", m.State)
	}
	fourth := r.sits(t, 24, 80, "attach", "cat")
	fourth.sees(r, "got four")
	r.must("stop", "cat")
	fourth.sees(r, "cat has ended")
	if err := fourth.cmd.Wait(); err != nil {
		t.Errorf("a viewer whose teammate ends: %v", err)
	}
}

// The terminal that a teammate was started from is interrupted and hangs up.
func TestT01_HeadlessOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.team("alpha")
	sh := r.sits(t, 24, 80, "spawn", "a", "--backend", "headless", "--", "sleep", "1000")
	r.eventually("the spawn is done", func() bool { return sh.has("active") })
	_ = sh.cmd.Wait()
	rec := hostRecord(r, "alpha", "a")
	table, err := signals.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := table.Find(rec.Process.PID); !ok || p.SID != p.PID {
		t.Errorf("the host leads no session of its own: %+v", p)
	}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil && len(fds) > 0 { // where there is such a folder
		noForeignFiles(t, rec.Process.PID)
	}
	_ = sh.tty.Close()
	_ = syscall.Kill(-sh.cmd.Process.Pid, syscall.SIGINT)
	if m := r.member("a"); m.State != api.StateActive {
		t.Errorf("it is %s", m.State)
	}
	if again := r.run("spawn", "b", "--backend", "headless", "--", "sleep", "1000"); again.exit != 0 {
		t.Errorf("a lock is held by the first one: %s", again.err)
	}
	if res := r.run("stop", "--all", "--json"); res.exit != 0 || strings.Count(res.out, `"terminated"`) != 2 {
		t.Errorf("stop: %s%s", res.out, res.err)
	}
}

// noForeignFiles fails if the host has a terminal, or a lock that is not its own.
func noForeignFiles(t *testing.T, pid int) {
	t.Helper()
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		to, _ := os.Readlink(dir + "/" + fd.Name())
		if strings.HasPrefix(to, "/dev/pts/") || strings.Contains(to, "terminal-") || strings.Contains(to, "locks/roster") {
			t.Errorf("the host has %s open", to)
		}
	}
}

// withoutTmux leaves only the shell and what the stubs of a team file need on the PATH.
func (r *rig) withoutTmux() {
	r.t.Helper()
	for _, name := range []string{"sh", "sleep"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, r.path("home", name))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.env = append(r.env, "PATH="+r.path("home"))
}

// up in a terminal without tmux shows the dashboard until all is done, then the result.
func TestT05_UpOnTheDashboard(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	file := r.path("work", "leadlight.yaml")
	const team = "team: alpha\nmembers:\n  - {name: w, agent: shell, run: 'while [ ! -e go ]; do sleep 0.1; done; echo well done'}\ntasks:\n  - {subject: wait for it, owner: w}\n"
	if err := os.WriteFile(file, []byte(team), 0o600); err != nil {
		t.Fatal(err)
	}
	r.withoutTmux()
	up := r.sits(t, 24, 80, "up")
	up.sees(r, "TEAMMATE")
	up.sees(r, "1 of 1 teammates run")
	if err := os.WriteFile(r.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	up.sees(r, "well done")
	if err := up.cmd.Wait(); err != nil {
		t.Errorf("up: %v", err)
	}
}
