package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/integration/program"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestMain lets the test binary be a stub agent, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "stub" {
		stub(os.Args[2], os.Args[3:])
		return
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup; what is started here is to see its terminal go
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(program.Main(m))
}

// built is the program under test, built once for all tests that want it.
var built = program.Builder()

// rig is leadlight as a person uses it: the real program, inside a pane of a
// private tmux server, with a base directory, a run folder and a home of its own.
type rig struct {
	t    testing.TB
	bin  string
	tmux *tmuxtest.S
	lead string // the lead's pane
	dir  string // scratch: base, run, home, work
	env  []string
}

func newRig(t testing.TB, size string, conf ...string) *rig {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "llr")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, bin: bin, dir: dir, tmux: tmuxtest.Server(t)}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if len(conf) > 0 {
		r.tmux.Config(conf...)
	}
	for _, d := range []string{"base", "run", "home", "work"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.env = append(tmuxtest.Environ(),
		"LEADLIGHT_BASE_DIR="+r.path("base"), "XDG_RUNTIME_DIR="+r.path("run"), "HOME="+r.path("home"),
		"XDG_CONFIG_HOME="+r.path("home"), "XDG_STATE_HOME="+r.path("home"))
	if size != "" {
		r.lead = r.tmux.NewSession(size)
		r.env = append(r.env, "TMUX="+r.tmux.Socket+","+strconv.Itoa(r.tmux.PID())+",0", "TMUX_PANE="+r.lead)
	}
	t.Cleanup(r.proveNothingLeft)
	return r
}

func (r *rig) path(elem ...string) string { return filepath.Join(append([]string{r.dir}, elem...)...) }

// result is what one run of leadlight said.
type result struct {
	out, err string
	exit     int
}

// runLimit is how long one run may take.
const runLimit = 3 * time.Minute

// run runs leadlight.
func (r *rig) run(args ...string) result { return r.runEnv(nil, args...) }

func (r *rig) runEnv(env []string, args ...string) result { return r.start(env, args...).wait() }

// running is a run of leadlight that goes on.
type running struct {
	cmd       *exec.Cmd
	out, errs growing
	cancel    func()
}

// growing is what a run has written so far.
type growing struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (g *growing) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(p)
}

func (g *growing) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// start begins a run of leadlight, which ends after runLimit at the latest. env
// comes over the rig's own.
func (r *rig) start(env []string, args ...string) *running {
	r.t.Helper()
	return r.startAt(r.path("work"), env, args...)
}

// startIn begins a run of leadlight in a folder.
func (r *rig) startIn(dir string, args ...string) *running {
	r.t.Helper()
	return r.startAt(dir, nil, args...)
}

func (r *rig) startAt(dir string, env []string, args ...string) *running {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	run := &running{cmd: exec.CommandContext(ctx, r.bin, args...), cancel: cancel}
	run.cmd.Dir, run.cmd.Env = dir, append(append([]string{}, r.env...), env...)
	run.cmd.Stdout, run.cmd.Stderr = &run.out, &run.errs
	if err := run.cmd.Start(); err != nil {
		cancel()
		r.t.Fatal(err)
	}
	return run
}

// signal sends the run a signal.
func (r *running) signal(sig os.Signal) { _ = r.cmd.Process.Signal(sig) }

// wait waits for its end.
func (r *running) wait() result {
	defer r.cancel()
	err := r.cmd.Wait()
	res := result{out: r.out.String(), err: r.errs.String(), exit: r.cmd.ProcessState.ExitCode()}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		res.err += err.Error()
	}
	return res
}

// must runs leadlight and fails the test if it fails.
func (r *rig) must(args ...string) string {
	r.t.Helper()
	res := r.run(args...)
	if res.exit != 0 {
		r.t.Fatalf("leadlight %s: exit %d\n%s%s", strings.Join(args, " "), res.exit, res.out, res.err)
	}
	return res.out
}

// into decodes what must printed.
func into[T any](r *rig, args ...string) T {
	r.t.Helper()
	var v T
	out := r.must(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		r.t.Fatalf("leadlight %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

// team makes a team.
func (r *rig) team(name string) {
	r.t.Helper()
	r.must("team", "create", name, "--description", "for a test")
}

// stub is the command line of a stub agent.
func (r *rig) stub(mode string, args ...string) []string {
	exe, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	return append([]string{exe, "stub", mode}, args...)
}

// spawn starts a stub agent.
func (r *rig) spawn(name string, flags []string, argv ...string) api.Member {
	r.t.Helper()
	return into1[api.Member](r, append(append(append([]string{"spawn", name, "--json"}, flags...), "--"), argv...)...)
}

// into1 decodes what a run printed that carries --json itself.
func into1[T any](r *rig, args ...string) T {
	r.t.Helper()
	var v T
	out := r.must(args...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		r.t.Fatalf("leadlight %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

func (r *rig) member(name string) api.Member {
	r.t.Helper()
	for _, m := range into[[]api.Member](r, "ps", "--all") {
		if m.Name == name {
			return m
		}
	}
	r.t.Fatalf("no member %s", name)
	return api.Member{}
}

// eventually waits for a condition.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	tmuxtest.Eventually(r.t, what, ok)
}

// proveNothingLeft fails the test if a process of this rig's base directory still
// runs, or a socket lies in its run folder, after everything was stopped.
func (r *rig) proveNothingLeft() {
	var teams []api.TeamSummary
	if json.Unmarshal([]byte(r.run("team", "ls", "--json").out), &teams) == nil {
		for _, team := range teams {
			r.run("down", team.Name, "--force", "--timeout", "1s")
		}
	}
	mark := "LEADLIGHT_BASE_DIR=" + r.path("base")
	var left []signals.Process
	deadline := time.Now().Add(time.Minute)
	for {
		left = marked(mark)
		if len(left) == 0 || time.Now().After(deadline) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, p := range left {
		if strings.Contains(strings.Join(p.Argv, " "), "kept-by-test") {
			_ = syscall.Kill(p.PID, 9)
			continue
		}
		r.t.Errorf("left behind: %s", p)
		_ = syscall.Kill(p.PID, 9)
	}
	_ = filepath.Walk(r.path("run"), func(p string, fi os.FileInfo, err error) error {
		if err == nil && fi.Mode()&os.ModeSocket != 0 {
			r.t.Errorf("left behind: socket %s", p)
		}
		return nil
	})
}

// marked finds the processes that carry NAME=value in their environment, or whose command line
// holds the value: so it is with a host, which a terminal gives an environment of its own.
func marked(mark string) []signals.Process {
	table, err := signals.Snapshot()
	if err != nil {
		return nil
	}
	_, value, _ := strings.Cut(mark, "=")
	var out []signals.Process
	for _, p := range table.Descendants(1) {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/environ")
		if err == nil && p.PID != os.Getpid() && (slices.Contains(p.Argv, value) || bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00"))) {
			out = append(out, p)
		}
	}
	return out
}
