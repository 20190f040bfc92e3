package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/leadlight-backend-kitty/kittytest"
	"github.com/leadlight-dev/leadlight/integration/program"
	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// builtPty is the example of a backend in a program of its own.
var builtPty = program.BuilderOf("leadlight-backend-pty", "examples/backend-pty")

// builtKitty is the backend in kitty, built beside leadlight as it is installed.
var builtKitty = program.BuilderOf("leadlight-backend-kitty", "cmd/leadlight-backend-kitty")

// withPty lets the rig find that program by its name.
func (r *rig) withPty() {
	r.t.Helper()
	bin, err := builtPty()
	if err != nil {
		r.t.Fatal(err)
	}
	r.env = append(r.env, "PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// sixFile is a team of six with one of every manner: workers with a command of their own and
// with their tasks', one that works in another folder, one that is given a variable, and
// a program that only runs.
const sixFile = `team: six
description: the same on every terminal
members:
  - {name: lister, agent: shell, run: ls}
  - {name: builder, agent: shell, run: task}
  - {name: helper, agent: shell, run: task}
  - {name: deep, agent: shell, run: pwd, cwd: "a b;"}
  - {name: env, agent: shell, run: 'echo "it is $WORD"', env: {WORD: "x; $HOME"}}
  - {name: watcher, command: [sh, -c, 'echo I watch; exec sleep 1000']}
tasks:
  - {subject: list, owner: lister}
  - {subject: say, owner: builder, run: 'printf "研究 %s" "a;b"'}
  - {subject: add, owner: helper, run: 'echo $((1+1))', blockedBy: [1, say]}
  - {subject: where, owner: deep}
  - {subject: which, owner: env}
  - {subject: last, owner: builder, run: 'echo all done', blockedBy: [3, 4, 5]}
`

// outcome is what has to be the same everywhere.
func (r *rig) outcome(up upAnswer) string {
	var lines []string
	for _, t := range up.Tasks {
		lines = append(lines, fmt.Sprintf("%s %s %s %q", t.ID, t.Owner, t.Status, strings.ReplaceAll(t.Result, r.dir, "DIR")))
	}
	for _, m := range up.Members {
		lines = append(lines, fmt.Sprintf("%s %s %s", m.Name, m.Kind, m.State))
	}
	for _, e := range up.Endings {
		lines = append(lines, fmt.Sprintf("%s ended, left %d", e.Name, len(e.Leftovers)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

type upAnswer struct {
	Members []api.Member `json:"members"`
	Tasks   []api.Task   `json:"tasks"`
	Endings []api.Ending `json:"endings"`
	OK      bool         `json:"ok"`
}

// upSix runs the team of six on a backend, sees it work, and says what came of it.
func (r *rig) upSix(kind string) string {
	r.t.Helper()
	if err := os.MkdirAll(r.path("work", "a b;"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path("work", "leadlight.yaml"), []byte(sixFile), 0o600); err != nil {
		r.t.Fatal(err)
	}
	up := into[upAnswer](r, "up", "--backend", kind)
	if !up.OK || len(up.Members) != 6 {
		r.t.Errorf("%s: %d members, ok %v", kind, len(up.Members), up.OK)
	}
	if out := r.must("logs", "watcher"); !strings.Contains(out, "I watch") {
		r.t.Errorf("%s: the watcher's transcript is %q", kind, out)
	}
	r.must("down")
	if left, _ := filepath.Glob(r.path("run", "leadlight", "*")); len(left) > 0 {
		r.t.Errorf("%s: left in the run folder: %v", kind, left)
	}
	return r.outcome(up)
}

// One team file, the same results, nothing left: whatever holds the panes.
func TestT07_SixOnEveryBackend(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	outcomes := map[string]string{}
	t.Run("each", func(t *testing.T) { // side by side; it is over when all are
		for _, kind := range []string{"tmux", "headless", "pty", "iterm2", "kitty"} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				got := sixOn(t, kind)
				mu.Lock()
				defer mu.Unlock()
				outcomes[kind] = got
			})
		}
	})
	want := outcomes["tmux"]
	if !strings.Contains(want, `"研究 a;b"`) || !strings.Contains(want, `it is x; $HOME`) || !strings.Contains(want, "a b;") {
		t.Errorf("the results are\n%s", want)
	}
	for kind, got := range outcomes {
		if got != want && got != "" {
			t.Errorf("%s:\n%s\nbut tmux:\n%s", kind, got, want)
		}
	}
}

// sixOn runs the team of six on a backend, and sees that nothing is left in its terminal;
// "": there is no kitty here.
func sixOn(t *testing.T, kind string) string {
	t.Helper()
	if kind == "kitty" {
		if missing := kittytest.Missing(); missing != "" {
			t.Log("without kitty: " + missing)
			return ""
		}
		r := newRig(t, "")
		k := r.inKitty()
		outcome := r.upSix(kind)
		if len(k.Windows()) != 1 {
			t.Errorf("left in kitty: %+v", k.Windows())
		}
		return outcome
	}
	r, s := inITerm2(t)
	if kind == "pty" {
		r.withPty()
	}
	outcome := r.upSix(kind)
	r.onlyTheLead(s)
	return outcome
}

// inKitty lets a person work in the first window of a kitty.
func (r *rig) inKitty() *kittytest.S {
	r.t.Helper()
	if _, err := builtKitty(); err != nil {
		r.t.Fatal(err)
	}
	k := kittytest.NewDisplay(r.t).Kitty(r.t)
	r.env = append(r.env, "KITTY_LISTEN_ON=unix:"+k.Socket, "KITTY_WINDOW_ID=1")
	return k
}

// Teammates beside the lead in kitty: titles as elsewhere, one closed by hand, one that
// failed and can be read, kitty hanging, and an end that leaves nothing.
func TestIT05_InKitty(t *testing.T) {
	t.Parallel()
	if missing := kittytest.Missing(); missing != "" {
		t.Skip(missing)
	}
	r := newRig(t, "")
	k := r.inKitty()
	r.team("alpha")
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		m := r.spawn(name, []string{"--backend", "kitty"}, "sleep", "1000")
		if m.BackendType != "kitty" {
			t.Fatalf("%s is in %s", name, m.BackendType)
		}
		ids[name] = m.TmuxPaneID
		r.eventually("its title says "+name, func() bool { return k.Shown(m.TmuxPaneID) == name+" · active" })
	}
	if got := k.Focus(); got != "window 1" {
		t.Errorf("the focus went to %s", got)
	}
	lead, one := k.Windows()[0], k.Windows()[1]
	if lead.Lines <= one.Lines {
		t.Errorf("the lead has %d lines, a teammate %d", lead.Lines, one.Lines)
	}
	k.CloseByHand(ids["a"])
	r.eventually("a is stopped", func() bool {
		m := r.member("a")
		t.Logf("%+v", m)
		return m.State == api.StateStopped && m.Reason == "pane closed"
	})

	broken := r.path("work", "broken") // once it is spawned
	failed := r.spawn("fails", []string{"--backend", "kitty"}, "sh", "-c", "until [ -e "+broken+" ]; do sleep 0.05; done; echo it broke; exit 3")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.eventually("one has failed", func() bool { return r.member("fails").State == api.StateFailed })
	if k.Shown(failed.TmuxPaneID) == "" {
		t.Error("the window of the one that failed is gone")
	}
	thaw := k.Freeze()
	res := r.run("spawn", "late", "--backend", "kitty", "--", "sleep", "1000")
	thaw()
	if res.exit != 6 || !strings.Contains(res.err, "did not answer ls within") || strings.Contains(r.must("ps", "--all", "--json"), "late") {
		t.Errorf("exit %d: %s", res.exit, res.err)
	}
	if m := r.member("b"); m.State != api.StateActive {
		t.Errorf("b is %s", m.State)
	}
	r.must("attach", "c", "--backend", "kitty")
	if got := k.Focus(); got != "window "+ids["c"] {
		t.Errorf("the focus is on %s", got)
	}
	r.must("stop", "--all")
	r.must("down", "--force")
	if left := k.Windows(); len(left) != 1 {
		t.Errorf("left in kitty: %+v", left)
	}

	// kitty ends: who was in it is lost with all they had started, and nobody else is.
	r.team("beta")
	r.spawn("in", []string{"--backend", "kitty"}, "sh", "-c", "sleep 1001 & exec sleep 1000")
	r.spawn("out", []string{"--backend", "headless"}, "sleep", "1000")
	k.Kill()
	r.eventually("who was in it is lost", func() bool {
		m := r.member("in")
		t.Logf("%+v", m)
		return m.State == api.StateLost && m.Reason == "its terminal has ended"
	})
	if m := r.member("out"); m.State != api.StateActive {
		t.Errorf("who was not in it is %s", m.State)
	}
	if res := r.run("spawn", "more", "--backend", "kitty", "--", "sleep", "1000"); res.exit != 6 || !strings.Contains(res.err, "kitty") || !strings.Contains(res.err, "hint:") {
		t.Errorf("into a kitty that is gone: exit %d: %s", res.exit, res.err)
	}
	if res := r.run("doctor", "--backend", "kitty"); !strings.Contains(res.out, "fail  backend kitty") {
		t.Errorf("doctor of a kitty that is gone: exit %d: %s", res.exit, res.out)
	}
	r.must("stop", "--all")
	r.must("down", "--force")
}

// A pane of a backend outside is closed by hand, its program hangs or is not there any
// more: the verbs say so in time, and the other teammates go on.
func TestIT05_OutsideFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.withPty()
	r.team("alpha")
	for _, name := range []string{"a", "b"} {
		r.spawn(name, []string{"--backend", "pty"}, "sh", "-c", "echo ready; exec sleep 1000")
	}
	bin, _ := builtPty()
	for _, p := range marked("LEADLIGHT_BASE_DIR=" + r.path("base")) { // as a terminal goes whose window is closed
		if len(p.Argv) == 3 && strings.Contains(p.Argv[2], r.member("a").TmuxPaneID) {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
	r.eventually("a is stopped", func() bool {
		m := r.member("a")
		t.Logf("%+v", m)
		return m.State == api.StateStopped && m.Reason == "pane closed"
	})
	if m := r.member("b"); m.State != api.StateActive {
		t.Errorf("b is %s", m.State)
	}

	hang := r.path("hang")
	if err := os.Mkdir(hang, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexec sleep 1000\n"
	if err := exetest.Write(filepath.Join(hang, "leadlight-backend-hangs"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + hang + string(os.PathListSeparator) + filepath.Dir(bin) + string(os.PathListSeparator) + os.Getenv("PATH")
	began := time.Now()
	res := r.runEnv([]string{path}, "spawn", "c", "--backend", "hangs", "--", "sleep", "1000")
	if res.exit != 6 || !strings.Contains(res.err, "did not answer initialize within") || !strings.Contains(res.err, "hint:") {
		t.Errorf("exit %d: %s", res.exit, res.err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	for _, m := range into[[]api.Member](r, "ps", "--all") {
		if m.Name == "c" {
			t.Errorf("a half-made member: %+v", m)
		}
	}
	if m := r.member("b"); m.State != api.StateActive {
		t.Errorf("b is %s", m.State)
	}
	r.must("stop", "b")
}

// backend-test tells a good program from a bad one.
func TestBackendTestVerb(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	r.withPty()
	type report struct {
		Weaknesses []string `json:"weaknesses"`
		Cases      []struct {
			Name string
			OK   bool
		} `json:"cases"`
		OK bool `json:"ok"`
	}
	got := into1[report](r, "--json", "backend", "test", "--only", "Frame", "--", "leadlight-backend-pty")
	if !got.OK || len(got.Cases) != 7 || !slices.Equal(got.Weaknesses, []string{"focus"}) {
		t.Errorf("%+v", got)
	}
	if out := r.must("backend", "test", "--only", "Close", "--", "leadlight-backend-pty"); !strings.Contains(out, "WEAK  focus") || !strings.Contains(out, "PASS  CloseTwice") {
		t.Errorf("it says %s", out)
	}
	// Forgets its panes: answers every question, does nothing.
	bad := r.path("bad")
	script := `#!/bin/sh
read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"backend":{"name":"bad"}}}'
while read -r line; do case $line in *'"id":'*) ;; *) continue;; esac; id=${line#*'"id":'}; echo '{"jsonrpc":"2.0","id":'"${id%%,*}"',"result":{"panes":[]}}'; done
`
	if err := exetest.Write(bad, []byte(script)); err != nil {
		t.Fatal(err)
	}
	res := r.run("backend", "test", "--only", "Frame", "--", bad)
	if res.exit != 1 || !strings.Contains(res.out, "FAIL  Frame_UnknownMethod") || !strings.Contains(res.out, "PASS  Frame_Initialize") {
		t.Errorf("exit %d\n%s%s", res.exit, res.out, res.err)
	}
	if res := r.run("backend", "test", "--", "sh", "-c", "exit 3"); res.exit != 6 || !strings.Contains(res.err, "exit status 3") {
		t.Errorf("exit %d %s", res.exit, res.err)
	}
	if res := r.run("backend", "test", "--", "no-such-program"); res.exit != 3 {
		t.Errorf("exit %d %s", res.exit, res.err)
	}
}
