package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/integration/program"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// BenchmarkTeam measures the life of a team as a person has it: up in a session of its
// own until all agents run, ps, stop --all. The floor is raw tmux with the agents alone,
// nothing of ours in it; its end is not measured. Where overmind is on PATH, a team of
// ten takes turns with it. Everything is done once more beside two busy loops.
//
// What the floor leaves out: hosts, records, names, mail, proofs, and, at the end,
// whether what it ended is gone. hosts-up-ms is reported besides: raw tmux with the least
// host in each pane, which in Go no program with a host in every pane can beat.
func BenchmarkTeam(b *testing.B) {
	for _, busy := range []int{0, 2} {
		for _, n := range []int{1, 10, 50, 100} {
			name := strconv.Itoa(n)
			if busy > 0 {
				name += "-busy"
			}
			b.Run(name, func(b *testing.B) {
				loops(b, busy)
				teamLife(b, n, roundsOf(n), false)
			})
		}
	}
	b.Run("10-node", func(b *testing.B) {
		if _, err := exec.LookPath("node"); err != nil {
			b.Skip("no node here")
		}
		teamLife(b, 10, roundsOf(10), true)
	})
}

// roundsOf is how often a team of n is measured: of large teams less, since their rounds
// differ little.
func roundsOf(n int) int { return max(1, min(5, 50/n)) }

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

func teamLife(b *testing.B, n, rounds int, node bool) {
	r := newRig(b, "")
	a := newAgents(b, r.path("work"))
	a.node = node
	r.teamFile(a, n)
	host, err := leastHost()
	ensure(b, err)
	_, err = exec.LookPath("overmind")
	beside := err == nil && n == 10 // the peer
	t, killed := times{}, 0
	for b.Loop() {
		for range rounds {
			r.rawLife(t, "raw-up", a, n)
			r.rawLife(t, "hosts-up", a, n, host)
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
	b.ReportMetric(t.ms("hosts-up"), "hosts-up-ms")
	b.ReportMetric(t.ms("up")/t.ms("raw-up"), "up-by-raw")
	b.ReportMetric((t.ms("up")-1.5*t.ms("raw-up"))/float64(n), "over-ms-each")
	b.ReportMetric(float64(killed), "killed")
	for _, step := range []string{"up", "stop"} {
		if peer := "overmind-" + step; len(t[peer]) > 0 {
			b.ReportMetric(t.ms(peer), peer+"-ms")
			b.ReportMetric(t.ms(step)/t.ms(peer), step+"-by-overmind")
		}
	}
}

// teamFile writes what up and overmind read.
func (r *rig) teamFile(a *agents, n int) {
	var members []any
	var procs strings.Builder
	for i := range n {
		members = append(members, map[string]any{"name": fmt.Sprintf("m%03d", i), "command": a.argv(i)})
		fmt.Fprintf(&procs, "m%03d: exec %s\n", i, commandLine(a.argv(i)))
	}
	file, err := json.Marshal(map[string]any{"team": "many", "members": members, "lifecycle": map[string]any{"maxTeammates": 200}})
	ensure(a.b, err)
	ensure(a.b, os.WriteFile(r.path("work", "leadlight.yaml"), file, 0o600))
	ensure(a.b, os.WriteFile(r.path("work", "Procfile"), []byte(procs.String()), 0o600))
}

// commandLine is argv for a shell.
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// leastHost builds the least that a host can be.
var leastHost = program.BuilderOf("leasthost", "integration/testdata/leasthost")

// rawLife opens the agents with raw tmux, each run by host if that is given, one command
// line a window, and ends them.
func (r *rig) rawLife(t times, step string, a *agents, n int, host ...string) {
	socket := r.path(step) // of its own: a server that was just ended may still hold it
	raw := func(words ...string) {
		c := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, words...)...)
		c.Dir = a.dir
		if out, err := c.CombinedOutput(); err != nil {
			a.b.Fatalf("tmux: %v\n%s", err, out)
		}
	}
	t.add(step, a.started(n, func() {
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
				line = slices.Concat(line, opens, host, a.argv(i), []string{";", "select-layout", "tiled", ";"})
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

// peerLimit is how long overmind may take to end.
const peerLimit = 10 * time.Second

// overmindLife is the same with overmind, which ends its programs on INT. Its tmux server
// has a folder of its own, by which it is ended whatever becomes of overmind: one that does
// not come to its end has no time of its end.
func (r *rig) overmindLife(t times, a *agents, n int) {
	folder := r.path("overmind")
	ensure(a.b, os.MkdirAll(folder, 0o700))
	_ = os.Remove(r.path("overmind.sock")) // of one that had to be killed
	var said growing
	c := exec.Command("overmind", "start", "-s", r.path("overmind.sock"))
	c.Dir, c.Env = a.dir, append(os.Environ(), "TMUX_TMPDIR="+folder)
	c.Stdout, c.Stderr, c.WaitDelay = &said, &said, time.Second
	ended := make(chan struct{})
	a.b.Cleanup(func() { endPeer(c, folder, ended) }) // also of a start that was given up
	t.add("overmind-up", a.started(n, func() {
		ensure(a.b, c.Start())
		go func() {
			_ = c.Wait()
			close(ended)
		}()
	}))
	began := time.Now()
	_ = c.Process.Signal(syscall.SIGINT)
	select {
	case <-ended:
		t.add("overmind-stop", time.Since(began))
	case <-time.After(peerLimit):
		a.b.Logf("overmind did not end within %v; it said:\n%s", peerLimit, said.String())
	}
	endPeer(c, folder, ended)
}

// endPeer ends what is left of overmind: itself, and the tmux servers in its folder.
func endPeer(c *exec.Cmd, folder string, ended <-chan struct{}) {
	sockets, _ := filepath.Glob(filepath.Join(folder, "tmux-*", "*"))
	for _, socket := range sockets {
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run() // one that has ended needs it no more
		_ = os.Remove(socket)
	}
	if c.Process != nil {
		_ = c.Process.Kill()
		<-ended
	}
}
