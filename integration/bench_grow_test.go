package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// machineTime is for how long machines are watched, idle and busy.
const machineTime = 20 * time.Second

// BenchmarkMachinesGrow measures a team over three machines, 3, 30 and 300 programs that sleep:
// what is resident of a daemon, of a host and of the engine, what goes over the network,
// and how long ps takes. Busy is when on each machine one verb follows the other: a message
// to a teammate on the next machine, a task added, claimed and done.
func BenchmarkMachinesGrow(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("there is no /proc")
	}
	for _, n := range []int{3, 30, 300} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchGrow(b, n) })
	}
}

// wiredMachine is a machine that reaches the engine by a way on which bytes are counted.
type wiredMachine struct {
	*rig
	way    *natstest.Relay
	daemon int
}

func benchGrow(b *testing.B, n int) {
	engine := natstest.For(b)
	var all []wiredMachine
	for _, name := range []string{"desk", "hub", "lab"} {
		m := wiredMachine{rig: newRig(b, "")}
		m.env = append(m.env, "LEADLIGHT_BACKEND="+panes.Headless, "LEADLIGHT_TEAM=alpha")
		way, err := natstest.NewRelay(engine.URL)
		ensure(b, err)
		m.way = way
		m.must("machine", "join", m.way.URL(), "--name", name)
		all = append(all, m)
	}
	b.Cleanup(func() {
		all[0].run("down", "alpha", "--force", "--timeout", "1s")
		for _, m := range all {
			m.run("machine", "leave", "--force")
			m.way.Close()
		}
	})
	up := bringUp(b, all, n)
	for i := range all {
		all[i].daemon = into[api.DaemonStatus](all[i].rig, "daemon", "status").PID
	}
	for b.Loop() {
		idle := carried(all)
		core := daemonTime(b, all)
		time.Sleep(machineTime) // what is measured is the time in which nothing happens
		idle, core = carried(all)-idle, daemonTime(b, all)-core
		busy := carried(all)
		verbs := work(b, all, n)
		busy = carried(all) - busy
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(100*core.Seconds()/machineTime.Seconds()/3, "idle-core-%")
		b.ReportMetric(float64(idle)/machineTime.Seconds()/3, "idle-B/s")
		b.ReportMetric(float64(busy)/machineTime.Seconds()/3, "busy-B/s")
		b.ReportMetric(float64(verbs)/machineTime.Seconds(), "verbs/s")
	}
	daemon, host := float64(0), float64(0)
	for _, m := range all {
		daemon = max(daemon, memory(b, m.daemon, "VmRSS"))
	}
	host = memory(b, hostRecord(all[0].rig, "alpha", "m0").Process.PID, "RssAnon")
	b.ReportMetric(up.Seconds(), "up-s")
	b.ReportMetric(daemon, "daemon-MiB")
	b.ReportMetric(host, "host-own-MiB")
	b.ReportMetric(memory(b, engine.PID(), "VmRSS"), "engine-MiB")
	began := time.Now()
	all[0].must("ps")
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ps-ms")
}

// bringUp starts the team, a third of it on each machine, and waits until all are seen.
func bringUp(b *testing.B, all []wiredMachine, n int) (took time.Duration) {
	members := []any{}
	for i := range n {
		members = append(members, map[string]any{"name": fmt.Sprintf("m%d", i), "command": []string{"sleep", "100000"}, "machine": []string{"desk", "hub", "lab"}[i%3], "cwd": "/tmp"})
	}
	file, err := json.Marshal(map[string]any{"team": "alpha", "engine": all[0].way.URL(), "members": members, "lifecycle": map[string]any{"maxTeammates": 1000}})
	ensure(b, err)
	ensure(b, os.WriteFile(all[0].path("work", "leadlight.yaml"), file, 0o600))
	began := time.Now()
	all[0].must("up", "--detach")
	took = time.Since(began)
	for _, m := range all {
		m.eventually("all are seen", func() bool { return into[api.DaemonStatus](m.rig, "daemon", "status").Live == n })
	}
	return took
}

func carried(all []wiredMachine) (bytes int64) {
	for _, m := range all {
		bytes += m.way.Carried()
	}
	return bytes
}

func daemonTime(b *testing.B, all []wiredMachine) (used time.Duration) {
	for _, m := range all {
		used += processorTime(b, m.daemon)
	}
	return used
}

// work lets one verb follow the other on each machine, and counts them.
func work(b *testing.B, all []wiredMachine, n int) int64 {
	var done atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(machineTime)
	for i, m := range all {
		wg.Go(func() {
			id := ""
			for k := 0; time.Now().Before(end); k++ {
				me := fmt.Sprintf("m%d", i)
				for _, verb := range [][]string{
					{"send", fmt.Sprintf("m%d", (i+1+3*k)%n), "a message of some length, as agents write to each other"},
					{"task", "add", "a piece of work"}, {"task", "claim", "--next", "--as", me}, {"task", "done", "", "--as", me},
				} {
					if verb[1] == "done" {
						verb[2] = id
					}
					r := m.run(verb...)
					if r.exit != 0 {
						b.Errorf("%v: %d %s", verb, r.exit, r.err)
						return
					}
					id = strings.TrimSpace(r.out)
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return done.Load()
}
