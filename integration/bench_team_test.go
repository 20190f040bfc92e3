package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// BenchmarkTeam measures the life of a team as a person has it: up in a session of its
// own until all agents run, ps, stop --all. The floor is raw tmux with the agents alone,
// nothing of ours in it; its end is not measured. Where overmind is on PATH, a team of
// ten takes turns with it. Everything is done once more beside two busy loops.
//
// What the floor leaves out: hosts, records, names, mail, proofs, and, at the end,
// whether what it ended is gone.
func BenchmarkTeam(b *testing.B) {
	for _, busy := range []int{0, 2} {
		for _, n := range []int{1, 10, 50, 100} {
			name := strconv.Itoa(n)
			if busy > 0 {
				name += "-busy"
			}
			b.Run(name, func(b *testing.B) {
				loops(b, busy)
				teamLife(b, n, roundsOf(n, busy > 0))
			})
		}
	}
}

// roundsOf is how often a team of n is measured: of large teams less, since their rounds
// differ little, and least beside busy loops, where each takes two to three times as long.
func roundsOf(n int, busy bool) int {
	if busy {
		return max(1, min(3, 10/n))
	}
	return max(1, min(5, 50/n))
}

// loops keeps n cores busy until the benchmark ends.
func loops(b *testing.B, n int) {
	for range n {
		c := exec.Command("sh", "-c", "while :; do :; done")
		ensure(b, c.Start())
		b.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
	}
}

// times are what one step took in each round.
type times map[string][]time.Duration

func (t times) add(step string, took time.Duration) { t[step] = append(t[step], took) }

func (t times) ms(step string) float64 { return median(t[step]).Seconds() * 1e3 }

func teamLife(b *testing.B, n, rounds int) {
	r := newRig(b, "")
	a := newAgents(b, r.path("work"))
	r.teamFile(a, n)
	_, err := exec.LookPath("overmind")
	beside := err == nil && n == 10 // the peer
	t, killed := times{}, 0
	for b.Loop() {
		for range rounds {
			r.rawLife(t, a, n)
			killed += r.ourLife(t, a, n)
			if beside {
				r.overmindLife(t, a, n)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, step := range []string{"up", "ps", "stop"} {
		b.ReportMetric(t.ms(step), step+"-ms")
	}
	b.ReportMetric(t.ms("raw-up"), "raw-up-ms")
	b.ReportMetric(t.ms("up")/t.ms("raw-up"), "up-by-raw")
	b.ReportMetric((t.ms("up")-1.5*t.ms("raw-up"))/float64(n), "over-ms-each")
	b.ReportMetric(float64(killed), "killed")
	if len(t["overmind-up"]) > 0 {
		b.ReportMetric(t.ms("overmind-up"), "overmind-up-ms")
		b.ReportMetric(t.ms("overmind-stop"), "overmind-stop-ms")
		b.ReportMetric(t.ms("up")/t.ms("overmind-up"), "up-by-overmind")
		b.ReportMetric(t.ms("stop")/t.ms("overmind-stop"), "stop-by-overmind")
	}
}

// teamFile writes what up and overmind read.
func (r *rig) teamFile(a *agents, n int) {
	var members []any
	var procs strings.Builder
	for i := range n {
		members = append(members, map[string]any{"name": fmt.Sprintf("m%03d", i), "command": a.argv(i)})
		fmt.Fprintf(&procs, "m%03d: : >here%d; exec sleep 1000\n", i, i)
	}
	file, err := json.Marshal(map[string]any{"team": "many", "members": members, "lifecycle": map[string]any{"maxTeammates": 200}})
	ensure(a.b, err)
	ensure(a.b, os.WriteFile(r.path("work", "leadlight.yaml"), file, 0o600))
	ensure(a.b, os.WriteFile(r.path("work", "Procfile"), []byte(procs.String()), 0o600))
}

// rawLife opens the agents with raw tmux, one command line a window, and ends them.
func (r *rig) rawLife(t times, a *agents, n int) {
	socket := r.path("raw")
	raw := func(words ...string) {
		c := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, words...)...)
		c.Dir = a.dir
		if out, err := c.CombinedOutput(); err != nil {
			a.b.Fatalf("tmux: %v\n%s", err, out)
		}
	}
	t.add("raw-up", a.started(n, func() {
		for from := 0; from < n; from += perWindow {
			var line []string
			for i := from; i < min(from+perWindow, n); i++ {
				opens := []string{"split-window", "-v"}
				switch {
				case i == 0:
					opens = []string{"new-session", "-d", "-x", "250", "-y", "120"}
				case i == from:
					opens = []string{"new-window"}
				}
				line = append(append(append(line, opens...), a.argv(i)...), ";", "select-layout", "tiled", ";")
			}
			raw(line[:len(line)-1]...)
		}
	}))
	raw("kill-server")
}

// ourLife is the same with leadlight, which says how each ended; it returns how many had
// to be killed.
func (r *rig) ourLife(t times, a *agents, n int) (killed int) {
	t.add("up", a.started(n, func() { r.must("up", "--detach") }))
	t.add("ps", clocked(func(int) { r.must("ps", "-t", "many") })(0))
	t.add("stop", clocked(func(int) {
		var said api.Endings
		res := r.run("stop", "--all", "-t", "many", "--json")
		ensure(a.b, json.Unmarshal([]byte(res.out), &said))
		for _, m := range said.Members {
			switch m.Outcome {
			case state.Terminated:
			case state.Killed:
				killed++
			default:
				a.b.Errorf("%s: %s (%s)", m.Name, m.Outcome, m.Reason)
			}
		}
	})(0))
	r.must("down", "many", "--force")
	return killed
}

// overmindLife is the same with overmind, which ends its programs on INT.
func (r *rig) overmindLife(t times, a *agents, n int) {
	c := exec.Command("overmind", "start", "-s", r.path("overmind.sock"))
	c.Dir = a.dir
	t.add("overmind-up", a.started(n, func() { ensure(a.b, c.Start()) }))
	t.add("overmind-stop", clocked(func(int) {
		_ = c.Process.Signal(syscall.SIGINT)
		_ = c.Wait()
	})(0))
}
