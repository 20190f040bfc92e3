package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// idleMates is how many teammates are idle, and idleTime how long they are watched.
const (
	idleMates = 50
	idleTime  = 20 * time.Second
)

// BenchmarkIdle measures what a daemon costs that has nothing to do: 50 teammates, every
// second one a worker that waits for a task, the others programs that sleep. It reports
// the processor time as a share of one core, how often a second the daemon wakes up, and
// what is resident of it and, at most, of a host. Only Linux tells these.
func BenchmarkIdle(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("there is no /proc")
	}
	r := newRig(b, "")
	members := []any{}
	for i := range idleMates {
		m := map[string]any{"name": fmt.Sprintf("m%d", i), "command": []string{"sleep", "100000"}}
		if i%2 == 0 {
			m = map[string]any{"name": fmt.Sprintf("m%d", i), "run": "true"}
		}
		members = append(members, m)
	}
	file, err := json.Marshal(map[string]any{"team": "idle", "members": members})
	ensure(b, err)
	ensure(b, os.WriteFile(r.path("work", "leadlight.yaml"), file, 0o600))
	r.must("up", "--detach", "--backend", panes.Headless) // the terminal is not what is measured
	daemon := into[api.DaemonStatus](r, "daemon", "start")
	var last uint64
	r.eventually("all are there and nothing happens", func() bool {
		s := into[api.DaemonStatus](r, "daemon", "status")
		quiet := s.Live == idleMates && s.Seq == last
		last = s.Seq
		return quiet
	})
	var core, wakes float64
	for b.Loop() {
		busy, woken := processorTime(b, daemon.PID), wakeUps(b, daemon.PID)
		time.Sleep(idleTime) // what is measured is the time in which nothing happens
		core = max(core, 100*(processorTime(b, daemon.PID)-busy).Seconds()/idleTime.Seconds())
		wakes = max(wakes, float64(wakeUps(b, daemon.PID)-woken)/idleTime.Seconds())
	}
	hosts, own := float64(0), float64(0)
	for i := range idleMates {
		pid := hostRecord(r, "idle", fmt.Sprintf("m%d", i)).Process.PID
		hosts, own = max(hosts, memory(b, pid, "VmRSS")), max(own, memory(b, pid, "RssAnon"))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(core, "core-%")
	b.ReportMetric(wakes, "wakes/s")
	b.ReportMetric(memory(b, daemon.PID, "VmRSS"), "daemon-MiB")
	b.ReportMetric(hosts, "host-MiB")
	b.ReportMetric(own, "host-own-MiB") // what it does not share with the program's file
	r.must("down", "idle")
	r.must("daemon", "stop")
}

// processField is a number of /proc/PID/status.
func processField(path, name string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return strconv.Atoi(string(bytes.Fields(rest)[0]))
		}
	}
	return 0, errors.New(path + " does not tell " + name)
}

// memory is what is resident of a process, in MiB.
func memory(b *testing.B, pid int, field string) float64 {
	b.Helper()
	kib, err := processField(fmt.Sprintf("/proc/%d/status", pid), field)
	ensure(b, err)
	return float64(kib) / 1024
}

// wakeUps is how often the threads of a process have waited for something.
func wakeUps(b *testing.B, pid int) int {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	ensure(b, err)
	all := 0
	for _, path := range threads {
		n, err := processField(path, "voluntary_ctxt_switches")
		ensure(b, err)
		all += n
	}
	return all
}

// processorTime is what a process has used so far; the kernel counts in hundredths of a
// second.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	ensure(b, err)
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	var ticks int
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(string(field))
		ensure(b, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
