package integration_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"golang.org/x/sys/unix"
)

// ofTheLead are marks of the lead's folder, terminal and session.
func ofTheLead() []string {
	return []string{
		"OLDPWD", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0",
		"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "GPG_TTY", "ZELLIJ", "STY", "WEZTERM_PANE", "VTE_VERSION", "NVIM", "WT_SESSION", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON",
		"LINES", "COLUMNS", "MAKEFLAGS", "NOTIFY_SOCKET",
	}
}

// TestXH02_WhatReallyReachesThem: the running tmux server, daemon, host and agent have no
// mark of the lead and no descriptor of its caller, and the secrets of the first caller
// reach its own agents alone. A host without a terminal is started by its own caller, not by
// a server of all, and has that caller's secrets.
func TestXH02_WhatReallyReachesThem(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("the system does not show the environments of processes")
	}
	for _, kind := range []string{"tmux", "headless"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			whatReaches(t, kind)
		})
	}
}

func whatReaches(t *testing.T, kind string) {
	r := newRig(t, "")
	held := r.path("held")
	lead := []string{"LL_SECRET=of the first", "PWD=" + r.path("base")}
	for _, name := range ofTheLead() {
		lead = append(lead, name+"=of the lead")
	}
	r.holding(held, lead, "team", "create", "alpha", "--description", "x")
	r.holding(held, lead, "spawn", "bob", "-t", "alpha", "--backend", kind, "--", "sleep", "1000")
	r.holding(held, lead, "daemon", "start")
	r.team("beta")
	r.must("spawn", "eve", "-t", "beta", "--backend", kind, "--", "sleep", "1000")

	var daemon struct{ PID int }
	if err := json.Unmarshal([]byte(r.must("daemon", "status", "--json")), &daemon); err != nil {
		t.Fatal(err)
	}
	bob, eve := hostRecord(r, "alpha", "bob"), hostRecord(r, "beta", "eve")
	started := map[string]int{
		"the daemon": daemon.PID, "bob's host": bob.Process.PID, "eve's host": eve.Process.PID, "bob": agentOf(t, bob), "eve": agentOf(t, eve),
	}
	mayKnow := []string{"bob"}
	if kind == "tmux" {
		started["the server"] = r.serverWithout("of the first", "of the lead")
	} else {
		mayKnow = append(mayKnow, "bob's host")
	}
	for who, pid := range started {
		for _, kv := range environOf(t, pid) {
			if strings.HasSuffix(kv, "=of the lead") || strings.HasPrefix(kv, "LL_SECRET=") && !slices.Contains(mayKnow, who) || kv == "PWD="+r.path("base") {
				t.Errorf("%s has %s", who, kv)
			}
		}
		open := descriptors(t, pid)
		if slices.Contains(open, held) {
			t.Errorf("%s holds a file of its caller", who)
		}
		if (who == "bob" || who == "eve") && len(open) != 3 {
			t.Errorf("%s has the descriptors %q", who, open)
		}
	}
	if !slices.Contains(environOf(t, agentOf(t, bob)), "LL_SECRET=of the first") {
		t.Error("bob has not what his lead has for him")
	}
	r.lockFree(held).Close()
	r.must("down", "alpha", "--force")
	r.must("down", "beta", "--force")
	r.must("daemon", "stop")
}

// serverWithout returns the id of our tmux server, which has no such values for its panes.
func (r *rig) serverWithout(values ...string) (pid int) {
	r.t.Helper()
	socket := r.path("run", "leadlight", "tmux")
	said, err := exec.Command("tmux", "-S", socket, "display-message", "-p", "#{pid}").Output()
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(string(said)))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := exec.Command("tmux", "-S", socket, "show-environment", "-g").Output()
	if err != nil || slices.ContainsFunc(values, func(v string) bool { return strings.Contains(string(out), v) }) {
		r.t.Errorf("the server's own environment: %v\n%s", err, out)
	}
	return pid
}

// holding runs leadlight with descriptors 3 to 9 of a file that is locked by them.
func (r *rig) holding(file string, env []string, args ...string) {
	r.t.Helper()
	held := r.lockFree(file)
	defer held.Close()
	c := exec.Command(r.bin, args...)
	c.Dir, c.Env = r.path("work"), append(slices.Clone(r.env), env...)
	c.ExtraFiles = slices.Repeat([]*os.File{held}, 7)
	if out, err := c.CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// lockFree locks a file that nobody who was started by an earlier caller holds. A test beside
// this one may just be starting a program, which has it for a moment.
func (r *rig) lockFree(file string) (held *os.File) {
	r.t.Helper()
	r.eventually("the lock of an earlier caller is free", func() bool {
		held = locked(r.t, file)
		return held != nil
	})
	if held == nil {
		r.t.FailNow()
	}
	return held
}

// locked opens a file and locks it, nil if somebody has the lock.
func locked(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return f
}

// agentOf is the one process that a host has started and that leads a session of its own: a
// program that the host asks something does not. Where a host is no terminal's child it bears
// the mark, too.
func agentOf(t testing.TB, host panes.HostRecord) int {
	t.Helper()
	all, err := signals.Marked(host.Host)
	all = slices.DeleteFunc(all, func(p signals.Process) bool { return p.Identity == host.Process || p.SID != p.PID })
	if err != nil || len(all) != 1 {
		t.Fatalf("the processes of a host are %v: %v", all, err)
	}
	return all[0].PID
}

func environOf(t testing.TB, pid int) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// descriptors are the files that a process has open.
func descriptors(t testing.TB, pid int) []string {
	t.Helper()
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if name, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			out = append(out, name)
		}
	}
	return out
}
