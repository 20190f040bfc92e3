//go:build linux

package signals

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestXF15_WhatCannotBeProvedIsListed(t *testing.T) {
	dir := t.TempDir()
	host := script(t, freshMark(t), `cd "$1"
(env -i sh -c 'exec setsid sleep 71 >/dev/null 2>&1 </dev/null' & echo $! >>shed)
(env -i sh -c 'cd / && exec setsid sleep 72 >/dev/null 2>&1 </dev/null' & echo $! >>elsewhere)
cp "$(command -v sleep)" "tmux: server" # what is one names its main thread so
(env -i sh -c 'exec setsid "./tmux: server" 75 >/dev/null 2>&1 </dev/null' & echo $! >>serves)
(setsid sleep 73 >/dev/null 2>&1 </dev/null & echo $! >>marked)
env -i sleep 74 >/dev/null 2>&1 </dev/null & echo $! >>child
echo ready; wait`, dir)
	var pids []int
	for _, name := range []string{"shed", "elsewhere", "marked", "child", "serves"} {
		var pid int
		eventually(t, "the pid of "+name, func() bool {
			data, err := os.ReadFile(filepath.Join(dir, name))
			pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
			return err == nil && pid > 0
		})
		id, err := Identify(pid)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (Proof{id: id}).Signal(syscall.SIGKILL) })
		pids = append(pids, pid)
	}
	suspects := func(folder string) (found []int) {
		table, err := Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range table.Suspects(host, folder) {
			found = append(found, p.PID)
		}
		return found
	}
	(Proof{id: host}).Signal(syscall.SIGKILL)
	eventually(t, "the host's end", func() bool { return host.Probe() == Gone })
	var found []int
	right := func() bool { // each may still be on the way to its folder, or to its program
		return slices.Contains(found, pids[0]) && !slices.Contains(found, pids[1]) && !slices.Contains(found, pids[2]) && !slices.Contains(found, pids[4])
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && !right(); time.Sleep(5 * time.Millisecond) {
		found = suspects(dir)
	}
	if !right() {
		t.Errorf("suspects %v of shed, elsewhere, marked, child, serves %v", found, pids)
	}
	if found := suspects(filepath.Join(dir, "below")); len(found) > 0 {
		t.Errorf("in another folder: %v", found)
	}
}

// TestXF11_AHostIsNoDaemon: whatever its teammate is named.
func TestXF11_AHostIsNoDaemon(t *testing.T) {
	for line, want := range map[string]bool{
		"/bin/leadlightd daemon run --json": true, "leadlight daemon run": true, "leadlight ps": false, "other daemon": false,
		"leadlight teammate --team alpha --agent daemon --base-dir /b": false, "leadlight teammate --team daemon --agent bob --base-dir /b": false,
	} {
		if got := isDaemon(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
