package interop_test

import (
	"bytes"
	"context"
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

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/integration/program"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

func TestMain(m *testing.M) {
	for _, kv := range os.Environ() { // a person's own settings are not on trial
		name, _, _ := strings.Cut(kv, "=")
		if name != clientsVariable && slices.ContainsFunc([]string{"CLAUDE", "ANTHROPIC", "LEADLIGHT", "AWS_"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(program.Main(m))
}

// clientsVariable names the folder of the agents' programs, as .ci/interop makes it: for
// each row of agents.tsv a folder with the program in bin, and its version.
const clientsVariable = "LEADLIGHT_INTEROP"

// installed returns the version of a row of agents.tsv and the folder with its program;
// it skips the test if that was not fetched.
func installed(t testing.TB, row string) (version, dir string) {
	t.Helper()
	version, dir, ok := fetched(row)
	if !ok {
		t.Skip(row + " was not fetched: make interop does that")
	}
	return version, dir
}

// fetched is installed for one that may be missing.
func fetched(row string) (version, dir string, ok bool) {
	folder := os.Getenv(clientsVariable)
	data, err := os.ReadFile(filepath.Join(folder, row, "version"))
	return strings.TrimSpace(string(data)), filepath.Join(folder, row, "bin"), folder != "" && row != "" && err == nil
}

// each runs a test with each of the clients: the newest Claude Code, and one that makes
// its teams explicitly.
func each(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Parallel()
	for _, row := range []string{"claude", "claude-explicit"} {
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			version, dir := installed(t, row)
			began := time.Now()
			r := newRig(t, version, dir)
			test(t, r)
			t.Logf("%s took %v", t.Name(), time.Since(began).Round(100*time.Millisecond))
		})
	}
}

// built is the program under test.
var built = program.Builder()

// rig is a person's machine with a client, without a person's things: a home, a
// project, a tmux server and a model of its own.
type rig struct {
	*model
	t       testing.TB
	version string
	bin     string
	tmux    *tmuxtest.S
	dir     string
	env     []string
	shell   string // the pane from which leadlight is run
}

func newRig(t testing.TB, version, clientDir string) *rig {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "lli")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{model: newModel(t), t: t, version: version, bin: bin, dir: dir, tmux: tmuxtest.Server(t)}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, d := range []string{"home/.claude", "run", "project", "tmp"} {
		if err := os.MkdirAll(r.path(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.home(object{"teammateMode": "tmux", "permissions": object{"defaultMode": "default"}})
	r.env = []string{
		"HOME=" + r.path("home"), "XDG_RUNTIME_DIR=" + r.path("run"), "XDG_CONFIG_HOME=" + r.path("home"), "XDG_STATE_HOME=" + r.path("home"),
		"TMPDIR=" + r.path("tmp"), "PATH=" + r.path("stubs") + ":" + filepath.Dir(bin) + ":" + clientDir + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "SHELL=/bin/sh",
		"ANTHROPIC_BASE_URL=" + r.URL, "ANTHROPIC_API_KEY=sk-ant-" + dummyKey, "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1",
		"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"ENABLE_TOOL_SEARCH=false",
	}
	r.must("git", "init", "-q", ".")
	r.shell = r.tmux.NewSession("220x60")
	r.export(r.env...)
	r.env = append(r.env, "TMUX="+r.tmux.Socket+","+strconv.Itoa(r.tmux.PID())+",0")
	t.Cleanup(r.end)
	return r
}

// export gives variables to what runs in the private server.
func (r *rig) export(env ...string) {
	r.t.Helper()
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		r.tmux.Run("set-environment", "-g", k, v)
	}
}

// dummyKey is what the client remembers of a key: its last 20 characters.
const dummyKey = "dummy-00000000000000"

// home writes what a person's first start of the client would leave, so that no
// dialog comes up, and the settings.
func (r *rig) home(settings object) {
	r.t.Helper()
	write := func(name string, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			r.t.Fatal(err)
		}
		r.write(filepath.Join("home", name), string(data))
	}
	write(".claude.json", object{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": r.version, "theme": "dark", "numStartups": 30,
		"customApiKeyResponses": object{"approved": []string{dummyKey}, "rejected": []string{}},
		"hasSeenTasksHint":      true, "hasSeenAutoDefaultNudge": true, "autoUpdates": false, "teammateMode": "tmux",
		"projects": object{r.path("project"): object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
			"projectOnboardingSeenCount": 5, "allowedTools": []string{}}},
	})
	write(".claude/settings.json", settings)
}

// write writes a file of the rig's.
func (r *rig) write(name, text string) {
	r.t.Helper()
	err := os.MkdirAll(filepath.Dir(r.path(name)), 0o700)
	if err == nil {
		err = os.WriteFile(r.path(name), []byte(text), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) path(elem ...string) string { return filepath.Join(append([]string{r.dir}, elem...)...) }

// run runs a program in the project, at most five minutes: a machine may be busy.
func (r *rig) run(argv ...string) (out, errs string, exit int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if argv[0] == "leadlight" {
		c.Path, c.Err = r.bin, nil
	}
	c.Dir, c.Env = r.path("project"), append(slices.Clone(r.env), "TMUX_PANE="+r.shell)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		r.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// must is run that fails the test.
func (r *rig) must(argv ...string) string {
	r.t.Helper()
	out, errs, exit := r.run(argv...)
	if exit != 0 {
		r.t.Fatalf("%s: exit %d\n%s%s", strings.Join(argv, " "), exit, out, errs)
	}
	return out
}

// into decodes what a verb of leadlight answers.
func into[T any](r *rig, args ...string) T {
	r.t.Helper()
	var v T
	if out := r.must(append([]string{"leadlight"}, args...)...); json.Unmarshal([]byte(out), &v) != nil {
		r.t.Fatalf("leadlight %s answers %s", strings.Join(args, " "), out)
	}
	return v
}

// member is a teammate as ps sees it.
func (r *rig) member(team, name string) (api.Member, bool) {
	r.t.Helper()
	for _, m := range into[[]api.Member](r, "ps", "--team", team, "--all", "--json") {
		if m.Name == name {
			return m, true
		}
	}
	return api.Member{}, false
}

// start runs a program in a new window of the private server and returns its pane.
func (r *rig) start(argv ...string) (pane string) {
	r.t.Helper()
	args := []string{"new-window", "-d", "-P", "-F", "#{pane_id}", "-c", r.path("project"), "--", "env", r.variable("PATH")}
	return r.tmux.Run(append(args, argv...)...)
}

// variable is NAME=value of the rig's environment. tmux gives a new pane the PATH of
// who asks for it.
func (r *rig) variable(name string) string {
	return r.env[slices.IndexFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })]
}

// lead starts a program that is, or becomes, a client that leads, and waits until
// it takes a prompt.
func (r *rig) lead(argv ...string) (pane string) {
	r.t.Helper()
	pane = r.start(argv...)
	r.eventually("the client takes a prompt", func() bool { return strings.Contains(r.screen(pane), "❯") || strings.Contains(r.screen(pane), "\n>") })
	return pane
}

// screen is what a pane shows, "" when it is gone.
func (r *rig) screen(pane string) string {
	out, err := r.tmux.Try("capture-pane", "-p", "-J", "-t", pane)
	if err != nil {
		return ""
	}
	return out
}

// say types a prompt and submits it once the client shows it.
func (r *rig) say(pane, prompt string) {
	r.t.Helper()
	r.tmux.Run("send-keys", "-t", pane, "-l", prompt)
	r.eventually("the prompt "+prompt+" stands in the input", func() bool { return strings.Contains(r.screen(pane), prompt) })
	r.tmux.Run("send-keys", "-t", pane, "Enter")
}

// patience is how long the client may take for anything.
const patience = 90 * time.Second

// eventually waits for a condition and ends the test without it.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	if !within(patience, ok) {
		r.t.Fatalf("not within %v: %s", patience, what)
	}
}

// within waits for a condition for a while.
func within(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// end stops all that runs, and proves that nothing is left.
func (r *rig) end() {
	if r.t.Failed() {
		r.tell()
	}
	for _, team := range into[[]api.TeamSummary](r, "team", "ls", "--json") {
		r.run("leadlight", "stop", "--team", team.Name, "--all", "--force", "--timeout", "1s")
	}
	for _, pane := range r.tmux.Panes() {
		_, _ = r.tmux.Try("kill-pane", "-t", pane)
	}
	mark := "HOME=" + r.path("home")
	var left []signals.Process
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if left = marked(mark); len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	for _, p := range left {
		r.t.Errorf("left behind: %s", p)
		_ = syscall.Kill(p.PID, 9)
	}
	// What an agent of a vendor leaves beside it is that vendor's: Qwen's socket, when it is ended in a dialog.
	_ = filepath.Walk(r.path("run", "leadlight"), func(p string, fi os.FileInfo, err error) error {
		if err == nil && !fi.IsDir() {
			r.t.Errorf("left behind: %s", p)
		}
		return nil
	})
}

// tell shows, for a test that failed, what the panes and the files hold.
func (r *rig) tell() {
	r.t.Log("the model was asked:\n" + r.lines())
	for _, pane := range r.tmux.Panes() {
		r.t.Logf("pane %s %s:\n%s", pane, r.tmux.Format(pane, "#{pane_current_command} #{pane_dead}"), strings.TrimRight(r.screen(pane), "\n "))
	}
	for _, d := range []string{"teams", "tasks", "leadlight"} {
		_ = filepath.Walk(r.path("home", ".claude", d), func(p string, fi os.FileInfo, err error) error {
			if err == nil && fi.Mode().IsRegular() && fi.Size() < 20000 && !strings.Contains(p, "transcripts") {
				data, _ := os.ReadFile(p)
				r.t.Logf("%s:\n%s", strings.TrimPrefix(p, r.dir), data)
			}
			return nil
		})
	}
}

// marked finds the processes that carry NAME=value in their environment.
func marked(mark string) []signals.Process {
	table, err := signals.Snapshot()
	if err != nil {
		return nil
	}
	var out []signals.Process
	for _, p := range table.Descendants(1) {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
		if err == nil && p.PID != os.Getpid() && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
			out = append(out, p)
		}
	}
	return out
}
