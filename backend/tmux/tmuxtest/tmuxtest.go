// Package tmuxtest gives tests a tmux server of their own. The server listens on
// a short socket path below /tmp, reads no configuration, and is gone, verified,
// when the test ends. The person's own tmux server is never asked anything.
package tmuxtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/environ"
)

// limit is how long a test waits for a condition.
const limit = time.Minute

// S is one private tmux server. Its methods fail the test when tmux refuses.
type S struct {
	Socket string // path of its socket
	t      testing.TB
	config string
	pids   map[int]bool
}

// Server prepares a private server. It starts with the first NewSession, or with
// whatever else the test runs on Socket.
func Server(t testing.TB) *S {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("these tests need tmux: apt-get install tmux, or brew install tmux")
	}
	dir, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	s := &S{Socket: filepath.Join(dir, "s"), t: t, config: os.DevNull, pids: map[int]bool{}}
	t.Cleanup(func() {
		s.end()
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder of the tmux socket: %v", err)
		}
	})
	return s
}

// Config makes the server read these lines at its start. Call it first.
func (s *S) Config(lines ...string) {
	s.t.Helper()
	s.config = filepath.Join(filepath.Dir(s.Socket), "tmux.conf")
	if err := os.WriteFile(s.config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// Try runs one tmux command line and returns what it printed, without the last
// line break.
func (s *S) Try(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.Socket, "-f", s.config}, args...)...)
	cmd.Env = Environ()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("tmux %q: %w: %s", args, err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// Run is Try that fails the test.
func (s *S) Run(args ...string) string {
	s.t.Helper()
	out, err := s.Try(args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// NewSession starts a session of the given size, such as "200x50", that runs argv
// (sleep, if there is none), and returns the id of its pane.
func (s *S) NewSession(size string, argv ...string) string {
	s.t.Helper()
	cols, rows, ok := strings.Cut(size, "x")
	if !ok {
		s.t.Fatalf("size %q is not of the form 200x50", size)
	}
	if len(argv) == 0 {
		argv = []string{"sleep", "1000"}
	}
	args := []string{"new-session", "-d", "-P", "-F", "#{pane_id}", "-x", cols, "-y", rows, "--"}
	args = append(args, argv...)
	id, err := s.Try(args...)
	for range 100 { // a helper of a killed server may hold its socket for a moment
		if err == nil || !strings.Contains(err.Error(), "server exited") {
			break
		}
		id, err = s.Try(args...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if s.PID(); s.Format(id, "#{window_width}x#{window_height}") != size { // 3.2 takes the size of nobody's terminal
		s.Run("resize-window", "-t", id, "-x", cols, "-y", rows, ";", "set-option", "-w", "-u", "-t", id, "window-size")
	}
	return id
}

// Panes returns the ids of all panes, none if the server does not run.
func (s *S) Panes() []string {
	out, err := s.Try("list-panes", "-a", "-F", "#{pane_id}")
	if err != nil {
		return nil
	}
	return strings.Fields(out)
}

// Format returns what a format expands to for one pane or window.
func (s *S) Format(target, format string) string {
	s.t.Helper()
	return s.Run("display-message", "-p", "-t", target, format)
}

// Capture returns the text a pane shows.
func (s *S) Capture(pane string) string {
	s.t.Helper()
	return s.Run("capture-pane", "-p", "-J", "-t", pane)
}

// PID returns the process id of the server, 0 if it does not run.
func (s *S) PID() int {
	out, err := s.Try("list-sessions", "-F", "#{pid}")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(out, "\n")
	pid, _ := strconv.Atoi(first)
	if pid > 0 {
		s.pids[pid] = true
	}
	return pid
}

// Stop freezes the server until the returned function, or the end of the test,
// lets it go on.
func (s *S) Stop() (resume func()) {
	s.t.Helper()
	pid := s.PID()
	if pid == 0 {
		s.t.Fatal("there is no tmux server to stop")
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	resume = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	s.t.Cleanup(resume)
	return resume
}

// Kill ends the server at once, as a crash would.
func (s *S) Kill() {
	s.t.Helper()
	pid := s.PID()
	if pid == 0 {
		s.t.Fatal("there is no tmux server to kill")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	Eventually(s.t, "the killed tmux server is gone", func() bool { return !Alive(pid) })
}

func (s *S) end() {
	s.PID()
	_, _ = s.Try("kill-server")
	for pid := range s.pids {
		Eventually(s.t, fmt.Sprintf("tmux server %d has ended", pid), func() bool { return !Alive(pid) })
	}
}

// Environ is the environment of the test without the tmux it may itself run in, and with a
// shell that everybody has: the user's may be any, or one that runs nothing.
func Environ() []string {
	return append(environ.Without(os.Environ(), "TMUX", "TMUX_PANE", "SHELL"), "SHELL=/bin/sh")
}

// Alive tells whether a process runs; one that only waits to be reaped does not.
func Alive(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return err == syscall.EPERM
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err) || noProc()
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// noProc: a system without /proc, where kill(2) alone has to do.
func noProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err != nil
}

// Eventually waits until ok holds, and fails the test if it does not within a
// minute. A look that costs much is made less often: what is waited for needs the
// processor, too.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); ; {
		began := time.Now()
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Errorf("not within %v: %s", limit, what)
			return
		}
		time.Sleep(min(max(2*time.Since(began), 5*time.Millisecond), 200*time.Millisecond))
	}
}
