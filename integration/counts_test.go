package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// counted is what a verb costs: files that it opened or tried to open, for how many
// processes it did so below /proc, and programs that it ran besides itself.
// It may look once what the machine has joined.
type counted struct{ opens, processes, programs, joined int }

// count runs leadlight under strace, which sees every call of it and of what it starts.
// The hosts are not among them: a terminal starts those.
func (r *rig) count(args ...string) counted {
	r.t.Helper()
	trace := r.path("trace")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-e", "trace=open,openat,openat2,execve", "-e", "signal=none", "-o", trace, r.bin}, args...)...)
	cmd.Dir, cmd.Env = r.path("work"), r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	lines, err := os.ReadFile(trace)
	if err != nil {
		r.t.Fatal(err)
	}
	started := regexp.MustCompile(`(?m)(?:execve\(.*|<\.\.\. execve resumed>.*)= 0$`)
	opened := regexp.MustCompile(`(?m)^\d+ +open(?:at2?)?\(`)
	looked := map[string]bool{}
	for _, of := range regexp.MustCompile(`(?m)^\d+ +open[^"]*"/proc/(\d+)/`).FindAllSubmatch(lines, -1) {
		looked[string(of[1])] = true
	}
	lists := regexp.MustCompile(`execve\(.*"list-panes", "-a", "-F", "leadlight-row:`).FindAll(lines, -1)
	again := max(0, len(lists)-1) // once a second for each host that is late: on a slow machine
	return counted{len(opened.FindAll(lines, -1)), len(looked), len(started.FindAll(lines, -1)) - 1 - again, strings.Count(string(lines), ".machine.json")}
}

// strangers starts n processes that are nothing of ours.
func strangers(t *testing.T, n int) {
	t.Helper()
	for range n {
		c := exec.Command("sleep", "1000")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
	}
}

// TestCountsOfAVerb: what a verb on ten teammates opens and starts is bounded, and does
// not grow with what else runs on the machine.
func TestCountsOfAVerb(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not here")
	}
	if _, err := user.Current(); err != nil {
		t.Skip("tmux opens more files where the user has no name")
	}
	for _, others := range []int{0, 1000} {
		t.Run(fmt.Sprintf("beside_%d_processes", others), func(t *testing.T) {
			r := newRig(t, windowSize)
			var file strings.Builder
			file.WriteString("team: ten\nmembers:\n")
			for i := range 10 {
				fmt.Fprintf(&file, "  - {name: m%d, command: [sleep, '1000']}\n", i)
			}
			if err := os.WriteFile(filepath.Join(r.path("work"), "leadlight.yaml"), []byte(file.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			strangers(t, others)
			for _, verb := range []struct {
				args                  string
				opens, each, programs int // each: for every process that it looks at
			}{
				{"up --detach", 700, 0, 5},
				{"ps", 120, 0, 0},
				{"ps --json", 160, 2, 2},    // outside of the terminal it says how each is seen
				{"send m1 hello", 45, 2, 0}, // and asks below whom it runs
				{"version", 10, 0, 0},
				{"task add one", 60, 2, 0},
				{"task claim 1 --as m1", 60, 2, 0},
				{"gc", 300, 2, 1}, // it asks every process whose it is
				{"stop m0 --timeout 1s", 300, 0, 2},
				{"stop --all --timeout 1s", 3000, 0, 4},
			} {
				if strings.HasPrefix(verb.args, "stop --all") {
					r.must("restart", "m0") // all ten are ended
				}
				from := *r
				if strings.HasPrefix(verb.args, "ps --json") {
					from.env = append(slices.Clone(r.env), "TMUX=", "TMUX_PANE=")
				}
				got := from.count(strings.Fields(verb.args)...)
				t.Logf("%s opens %d files and runs %d programs", verb.args, got.opens, got.programs)
				if most := verb.opens + verb.each*got.processes; got.opens > most || got.programs > verb.programs {
					t.Errorf("%s opens %d files and runs %d programs; at most %d and %d", verb.args, got.opens, got.programs, most, verb.programs)
				}
				if got.joined > 1 {
					t.Errorf("%s looks %d times what the machine has joined", verb.args, got.joined)
				}
			}
			r.must("down", "--force")
		})
	}
}
