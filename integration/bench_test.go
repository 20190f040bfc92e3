package integration_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/integration/program"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
	"github.com/leadlight-dev/leadlight/teams/store/maildir"
)

// The benchmarks do a floor's work and the product's by turns, so that a busy moment
// meets both, and report the medians and their ratio. The limits stand beside the
// ratios in the table that `make bench` ends with.

// duel runs two works by turns, at least least times, and reports their medians.
// Each says how long it took, so that it can clear up outside the clock.
func duel(b *testing.B, least int, floor, product func(i int) time.Duration) {
	b.Helper()
	var floors, products []time.Duration
	i := 0
	for b.Loop() {
		for range least {
			floors, products = append(floors, floor(i)), append(products, product(i))
			i++
		}
	}
	f, p := median(floors), median(products)
	b.ReportMetric(0, "ns/op") // it would count what lies between the works
	b.ReportMetric(f.Seconds()*1e3, "floor-ms")
	b.ReportMetric(p.Seconds()*1e3, "product-ms")
	b.ReportMetric(p.Seconds()/f.Seconds(), "ratio")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// clocked is a work of which all counts.
func clocked(work func(i int)) func(int) time.Duration {
	return func(i int) time.Duration {
		start := time.Now()
		work(i)
		return time.Since(start)
	}
}

func ensure(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

// perWindow is how many panes stand in one window, in benchmarks; windowSize leaves
// each of them, in a column, the smallest size of a pane.
const (
	perWindow  = 10
	windowSize = "250x120"
)

// BenchmarkSpawn measures from the call until all agents run. An agent is a shell that
// writes a file and stays. The floor opens the same panes with the same programs in
// them, one host a pane, whose records were written before the clock started: so the
// ratio is what choosing places, the roster, the records and the proofs cost.
func BenchmarkSpawn(b *testing.B) {
	for _, n := range []int{1, 10, 50} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			spawnDuel(b, n, func(o *office, a *agents, i int) (func(int) []string, func() bool) {
				return o.hosts(fmt.Sprintf("raw-%d", i), a, n)
			})
		})
	}
}

// BenchmarkSpawnBare has a floor without hosts: the agents alone, a shell a pane, which
// is the cheapest that can be in one. It says what a host costs besides.
func BenchmarkSpawnBare(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			spawnDuel(b, n, func(_ *office, a *agents, _ int) (func(int) []string, func() bool) {
				return a.argv, func() bool { return true }
			})
		})
	}
}

// spawnDuel sets n teammates against n panes of raw tmux, in which run the commands
// that prepare returns.
func spawnDuel(b *testing.B, n int, prepare func(o *office, a *agents, i int) (argv func(int) []string, gone func() bool)) {
	r := newRig(b, windowSize)
	o := r.office(b)
	agents := newAgents(b, r.path("work"))
	duel(b, 7, func(i int) time.Duration {
		argv, gone := prepare(o, agents, i)
		took := agents.started(n, func() { rawSpawn(r, agents.dir, argv, n) })
		r.clear()
		r.eventually("nothing of the floor runs", gone)
		return took
	}, func(i int) time.Duration {
		team := fmt.Sprintf("bench-%d", i)
		ensure(b, o.createTeam(team, ""))
		var specs []teams.SpawnSpec
		for k := range n {
			specs = append(specs, teams.SpawnSpec{
				Name: fmt.Sprintf("a%02d", k), Command: agents.argv(k), Layout: panes.Layout{MaxPanes: perWindow},
			})
		}
		took := agents.started(n, func() {
			for _, s := range o.svc.Spawn(b.Context(), team, specs) {
				ensure(b, s.Err)
			}
		})
		_, err := o.svc.Down(b.Context(), team, teams.StopOptions{Force: true, Ask: time.Millisecond}, false)
		ensure(b, err)
		r.clear()
		return took
	})
}

// hosts writes what n hosts of a team will read, and returns their command lines and
// whether all have ended.
func (o *office) hosts(team string, a *agents, n int) (argv func(int) []string, gone func() bool) {
	ensure(o.b, o.createTeam(team, ""))
	records := panes.NewRecords(o.dir)
	for k := range n {
		name := fmt.Sprintf("a%02d", k)
		host, socket := uuid.NewString(), o.panes.SocketPath(team, name)
		l := panes.LaunchRecord{
			Host: host, Team: team, Agent: name, Kind: profiles.Plain, Profile: profiles.Exec, Argv: a.argv(k),
			Dir: a.dir, EnvFile: filepath.Join(filepath.Dir(socket), "env-"+host), Socket: socket, Backend: "tmux", LedByUs: true,
		}
		data := panes.EncodeEnvironment(o.panes.Environment(team, name, l.Host, nil))
		ensure(o.b, os.MkdirAll(filepath.Dir(l.EnvFile), 0o700))
		ensure(o.b, os.WriteFile(l.EnvFile, data, 0o600))
		ensure(o.b, records.WriteLaunch(o.b.Context(), l))
	}
	argv = func(k int) []string {
		return []string{o.bin, "teammate", "--team", team, "--agent", fmt.Sprintf("a%02d", k), "--base-dir", o.base}
	}
	return argv, func() bool {
		for k := range n {
			h, err := records.Host(o.b.Context(), team, fmt.Sprintf("a%02d", k))
			if err != nil || h.Process.Probe() != signals.Gone {
				return false
			}
		}
		return true
	}
}

// clear leaves the lead's pane alone in the server.
func (r *rig) clear() {
	r.tmux.Run("kill-window", "-a", "-t", r.lead, ";", "kill-pane", "-a", "-t", r.lead)
	r.eventually("only the lead is left", func() bool { return len(r.tmux.Panes()) == 1 })
}

// rawSpawn opens n panes beside the lead and in further windows, sets the options that
// the product sets, and lays the windows out: one tmux command line a window, since tmux
// takes 16 KB.
func rawSpawn(r *rig, dir string, argv func(int) []string, n int) {
	for from := 0; from < n; from += perWindow {
		line := []string{"split-window", "-h", "-t", r.lead}
		layout := "main-vertical"
		if from > 0 {
			line, layout = []string{"new-window", "-t", "$0:", "-n", "team"}, "tiled"
		}
		add := func(words ...string) { line = append(append(line, words...), ";") }
		for i := from; i < min(from+perWindow, n); i++ {
			if i > from {
				add("select-layout", "even-vertical") // halves would not leave room for ten
				line = append(line, "split-window", "-v")
			}
			add(append([]string{"-c", dir, "-P", "-F", "#{pane_id}", "--"}, argv(i)...)...)
			for _, o := range [][2]string{
				{"@leadlight", strings.Repeat("m", 80)}, {"remain-on-exit", "failed"},
				{"@leadlight-name", fmt.Sprintf("a%02d", i)}, {"@leadlight-state", "starting"},
				{"pane-border-format", " #[fg=red,bold]#{@leadlight-name}#[default] #{@leadlight-state} "},
			} {
				add("set-option", "-p", o[0], o[1])
			}
		}
		add("set-option", "-w", "pane-border-status", "top")
		add("select-layout", layout)
		r.tmux.Run(append(line, "select-window", "-t", r.lead, ";", "select-pane", "-t", r.lead)...)
	}
}

// agents write a file and stay: shells, or programs of Node, as most real ones are.
type agents struct {
	b     *testing.B
	dir   string
	watch *fsnotify.Watcher
	node  bool
}

func newAgents(b *testing.B, dir string) *agents {
	w, err := fsnotify.NewWatcher()
	ensure(b, err)
	b.Cleanup(func() { _ = w.Close() })
	ensure(b, w.Add(dir))
	return &agents{b: b, dir: dir, watch: w}
}

func (a *agents) argv(i int) []string {
	here := filepath.Join(a.dir, "here"+strconv.Itoa(i))
	if a.node {
		return []string{"node", "-e", `require("fs").writeFileSync(process.argv[1], ""); setInterval(() => {}, 1e6)`, here}
	}
	return []string{"sh", "-c", `: >"$0"; exec sleep 1000`, here}
}

// started tells how long it took from the call of start until n agents have written
// their files; start may take longer than that.
func (a *agents) started(n int, start func()) time.Duration {
	a.b.Helper()
	began := time.Now()
	done := make(chan time.Duration, 1)
	go func() {
		here := map[string]bool{}
		for len(here) < n {
			if e := <-a.watch.Events; e.Has(fsnotify.Create) && strings.HasPrefix(filepath.Base(e.Name), "here") {
				here[e.Name] = true
			}
		}
		done <- time.Since(began)
	}()
	start()
	select {
	case took := <-done:
		for i := range n {
			ensure(a.b, os.Remove(filepath.Join(a.dir, "here"+strconv.Itoa(i))))
		}
		return took
	case <-time.After(time.Minute):
		a.b.Fatalf("%d agents did not start within a minute", n)
		return 0
	}
}

// office is the rig's lead in this process: the verbs, and the mail below them. The
// hosts it starts are the built program.
type office struct {
	b         *testing.B
	base, bin string
	dir       *files.Dir
	panes     *panes.Manager
	svc       *teams.Service
	mail      store.Mail
}

func (r *rig) office(b *testing.B) *office {
	o := &office{b: b, base: r.path("base"), bin: r.bin}
	fs, err := claudefs.Open(o.base, claudefs.Options{})
	ensure(b, err)
	b.Cleanup(func() { _ = fs.Close() })
	getenv := func(name string) string {
		for _, kv := range slices.Backward(r.env) {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
	runtime := panes.RuntimeDir(getenv)
	open := func(string, string) (backend.Backend, error) {
		return tmux.New(tmux.Options{Socket: r.tmux.Socket, Getenv: getenv})
	}
	o.mail = fs.Mail(map[string]store.Mail{
		store.MailboxMaildir: maildir.New(fs.Dir(), maildir.Options{Watcher: fs.Watcher()}),
	})
	o.dir = fs.Dir()
	o.panes = panes.NewManager(panes.Options{
		Dir: o.dir, Base: o.base, Runtime: runtime, Executable: r.bin, Environ: r.env,
		Choose: func(context.Context) (panes.Choice, error) {
			t, err := open("", "")
			return panes.Choice{Type: "tmux", Socket: r.tmux.Socket, Backend: t}, err
		},
		Open: open, Claims: teams.Claims(fs.Roster(), panes.NewRecords(o.dir)),
	})
	o.svc = teams.New(teams.Config{
		Base: o.base, Roster: fs.Roster(), Tasks: fs.Tasks(), Mail: o.mail, Cwd: r.path("work"), Panes: o.panes,
	})
	return o
}

func (o *office) createTeam(name, mailbox string) error {
	_, err := o.svc.CreateTeam(o.b.Context(), teams.TeamSpec{Name: name, Description: "for a benchmark", Mailbox: mailbox})
	return err
}

// BenchmarkVersion measures the shortest run of the program against a program that only
// prints a line.
func BenchmarkVersion(b *testing.B) {
	dir := b.TempDir()
	source, hello, product := filepath.Join(dir, "hello.go"), filepath.Join(dir, "hello"), filepath.Join(dir, "leadlight")
	ensure(b, os.WriteFile(source, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello, world\") }\n"), 0o600))
	for bin, what := range map[string]string{hello: source, product: "github.com/leadlight-dev/leadlight/cmd/leadlight"} {
		ensure(b, program.Build(bin, what))
	}
	run := func(argv ...string) func(int) time.Duration {
		return clocked(func(int) {
			c := exec.Command(argv[0], argv[1:]...)
			out, err := c.Output()
			if err != nil || len(out) == 0 {
				b.Fatalf("%q: %v, printed %q", argv, err, out)
			}
		})
	}
	duel(b, 50, run(hello), run(product, "version"))
}
