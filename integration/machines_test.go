package integration_test

import (
	"crypto/rand"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// machine is a rig without a terminal that is to join an engine.
func machine(t testing.TB) *rig {
	r := newRig(t, "")
	r.env = append(r.env, "LEADLIGHT_BACKEND=headless", "LEADLIGHT_TEAM=alpha")
	return r
}

// twoMachines are two, of which no one has joined the engine yet. more are arguments of that.
func twoMachines(t testing.TB, more ...string) (engine *natstest.Server, a, b *rig) {
	t.Helper()
	engine = natstest.For(t, more...)
	a, b = machine(t), machine(t)
	t.Cleanup(func() { // before the rigs look for what is left
		for _, r := range []*rig{a, b} {
			r.run("down", "alpha", "--force", "--timeout", "1s")
		}
		for _, r := range []*rig{a, b} {
			r.run("machine", "leave", "--force")
		}
	})
	return engine, a, b
}

// joined lets both join as desk and hub, and makes the team alpha on the engine.
func joined(engine *natstest.Server, a, b *rig, flags ...string) {
	a.t.Helper()
	a.must(append([]string{"machine", "join", engine.URL, "--name", "desk"}, flags...)...)
	b.must(append([]string{"machine", "join", engine.URL, "--name", "hub"}, flags...)...)
	a.must("team", "create", "alpha", "--engine", engine.URL, "--cwd", a.path("work"))
}

// TestTeamOnTwoMachines: a team on an engine, seen and worked on from two machines, that
// lose a daemon and the engine.
func TestTeamOnTwoMachines(t *testing.T) {
	t.Parallel()
	secret := "t0ken-" + rand.Text()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	engine, a, b := twoMachines(t, "--auth", secret)
	if r := a.run("team", "create", "alpha", "--engine", engine.URL); r.exit != 6 || !strings.Contains(r.err, "ENGINE_UNAVAILABLE") {
		t.Errorf("before it joined: %d %s", r.exit, r.err)
	}
	joined(engine, a, b, "--token-file", token)
	cutOff(b, "machine", "join", engine.URL, "--name", "hub", "--token-file", token)
	a.must("spawn", "sleeper", "--cwd", a.path("work"), "--", "sleep", "1000")
	b.must("spawn", "worker", "--agent", "shell", "--cwd", b.path("work"))

	checkPlaces(t, a, b)
	a.must("task", "add", "one", "--owner", "worker", "--meta", "run=exit 0")
	b.must("send", "team-lead", "from the hub")
	if box := into[[]api.Message](a, "inbox"); !slices.ContainsFunc(box, func(m api.Message) bool { return m.Text == "from the hub" }) {
		t.Errorf("inbox on the desk: %+v", box)
	}
	b.must("task", "add", "two")
	if got := a.must("task", "claim", "2", "--as", "sleeper"); strings.TrimSpace(got) != "2" {
		t.Errorf("claimed %q", got)
	}
	if r := b.run("task", "claim", "2", "--as", "worker"); r.exit != 4 || !strings.Contains(r.err, "sleeper") {
		t.Errorf("claimed twice: %d %s", r.exit, r.err)
	}

	there, here := attachedThere(a, "worker"), attachedThere(b, "sleeper")
	status := into[api.DaemonStatus](b, "daemon", "status")
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	here.sees(b, "the daemon ended, or closed the connection")
	if list := into[[]api.Task](b, "task", "ls"); len(list) != 2 {
		t.Errorf("after the daemon was killed: %+v", list)
	}
	there.sees(a, "the connection to it is lost, and what was typed last may not have arrived (UNPROVEN)")
	checkSecret(t, secret, a, b)
	checkWithoutEngine(t, a, b, engine)
	b.must("stop", "worker", "--force")
	a.must("stop", "sleeper")
	a.must("down", "alpha")
	b.must("machine", "leave")
	if list := into[[]api.Machine](a, "machine", "ls"); len(list) != 1 {
		t.Errorf("who has left is listed: %+v", list)
	}
	wiped(a, engine, "--token-file", token)
}

// cutOff has a leave and a join cut off between the record and the daemon, which goes on with what
// was recorded before. The next verb is served by one of now.
func cutOff(r *rig, join ...string) {
	r.t.Helper()
	found, err := filepath.Glob(r.path("home", "leadlight", "*.machine.json"))
	if err != nil || len(found) != 1 {
		r.t.Fatal(found, err)
	}
	record, err := os.ReadFile(found[0])
	if err == nil {
		err = os.Remove(found[0])
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.must(join...)
	r.must("machine", "leave")
	r.must("daemon", "start")
	if err := os.WriteFile(found[0], record, 0o600); err != nil {
		r.t.Fatal(err)
	}
	if list := into[[]api.Machine](r, "machine", "ls"); len(list) != 2 {
		r.t.Errorf("machines: %+v", list)
	}
}

// wiped has the engine lose its disk while a teammate runs. What is said then is what helps.
func wiped(a *rig, engine *natstest.Server, flags ...string) {
	a.t.Helper()
	a.must("team", "create", "alpha", "--engine", engine.URL, "--cwd", a.path("work"))
	a.must("spawn", "left", "--", "sleep", "1000")
	engine.Kill()
	err := os.RemoveAll(filepath.Join(engine.Dir, "jetstream"))
	if err == nil {
		err = engine.Restart()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.eventually("it is said", func() bool { return strings.Contains(a.run("ps").err, "has lost what was kept there") })
	if r := a.run("doctor"); !strings.Contains(r.out, "fail  engine: "+engine.URL+", which this machine has joined as desk: ") || !strings.Contains(r.out, "→ leadlight machine leave --force, then ") {
		a.t.Errorf("doctor: %s", r.out)
	}
	if r := a.run("machine", "leave"); r.exit != 6 {
		a.t.Errorf("leave: %d %s", r.exit, r.err)
	}
	a.must("machine", "leave", "--force")
	a.must(append([]string{"machine", "join", engine.URL, "--name", "desk"}, flags...)...)
	if got := a.must("gc"); !strings.Contains(got, "of left@alpha") || !strings.Contains(got, "ended process") {
		a.t.Errorf("gc: %s", got)
	}
}

// checkSecret: the secret by which machines get in is in its file, and nowhere in what they
// keep, run and say.
func checkSecret(t *testing.T, secret string, rigs ...*rig) {
	t.Helper()
	for _, r := range rigs {
		for _, verb := range [][]string{{"machine", "ls", "--json"}, {"machine", "ls"}, {"team", "show", "--json"}, {"ps", "--all", "--json"}, {"daemon", "status", "--json"}, {"doctor", "-v"}} {
			if got := r.run(verb...); strings.Contains(got.out+got.err, secret) {
				t.Errorf("%v shows the secret", verb)
			}
		}
		seen := 0
		err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), secret) {
				t.Errorf("%s holds the secret", path)
			}
			seen++
			return nil
		})
		if err != nil || seen == 0 {
			t.Errorf("%d files: %v", seen, err)
		}
		processes, _ := filepath.Glob("/proc/[0-9]*") // none elsewhere
		for _, dir := range processes {
			env, _ := os.ReadFile(filepath.Join(dir, "environ"))
			argv, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			if all := string(env) + string(argv); strings.Contains(all, r.dir) && strings.Contains(all, secret) {
				t.Errorf("%s has the secret: %q", dir, argv)
			}
		}
	}
}

// checkPlaces: each machine sees all, and what runs on the other one is asked of it.
func checkPlaces(t *testing.T, a, b *rig) {
	t.Helper()
	for r, other := range map[*rig]string{a: "worker", b: "sleeper"} {
		r.eventually(other+" is seen from the other machine", func() bool {
			m := r.member(other)
			return (m.State == api.StateIdle || m.State == api.StateActive) && m.Machine != "" && m.PID != 0
		})
		r.must("gc")
	}
	for _, m := range into[[]api.Machine](a, "machine", "ls") {
		if m.State != api.MachineActive || m.Teammates != 1 || m.This != (m.Name == "desk") {
			t.Errorf("machine %+v", m)
		}
	}
	if r := a.run("machine", "leave"); r.exit != 4 || !strings.Contains(r.err, "ACTIVE_MEMBERS") {
		t.Errorf("left with a teammate: %d %s", r.exit, r.err)
	}
}

// checkWithoutEngine kills the engine, and starts it again.
func checkWithoutEngine(t *testing.T, a, b *rig, engine *natstest.Server) {
	t.Helper()
	b.must("spawn", "doer", "--kind", "worker", "--cwd", b.path("work"), "--", "sh", "-c", "touch begun; while [ ! -e go ]; do sleep 0.05; done")
	b.must("task", "add", "three", "--owner", "doer")
	b.eventually("the worker works", func() bool { _, err := os.Stat(b.path("work", "begun")); return err == nil })
	there := attachedThere(a, "doer")
	engine.Kill()
	a.eventually("it is noticed", func() bool { return a.run("task", "ls").exit == 6 })
	began := time.Now()
	if r := a.run("task", "claim", "--next"); r.exit != 6 || !strings.Contains(r.err, "ENGINE_UNAVAILABLE") {
		t.Errorf("a claim without the engine: %d %s", r.exit, r.err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if r := a.run("gc"); r.exit != 6 {
		t.Errorf("gc without the engine: %d %s", r.exit, r.err)
	}
	if r := a.run("machine", "ls"); r.exit != 6 || !strings.Contains(r.err, "this machine has joined "+engine.URL+" as desk: ") {
		t.Errorf("machine ls without the engine: %d %s", r.exit, r.err)
	}
	if err := os.WriteFile(b.path("work", "go"), nil, 0o600); err != nil { // the task ends while nobody can write that down
		t.Fatal(err)
	}
	a.must("team", "create", "files")
	a.must("task", "add", "here", "--team", "files")
	a.must("team", "delete", "files")
	there.sees(a, "(ENGINE_UNAVAILABLE)")
	if err := engine.Restart(); err != nil {
		t.Fatal(err)
	}
	b.eventually("the task is completed", func() bool {
		var task api.Task
		return json.Unmarshal([]byte(b.run("task", "show", "3", "--json").out), &task) == nil && task.Status == "completed"
	})
	b.eventually("it is back", func() bool { return b.run("task", "ls").exit == 0 })
	a.eventually("it is back", func() bool { return a.run("task", "ls").exit == 0 })
	if m := a.member("sleeper"); m.State != api.StateActive {
		t.Errorf("sleeper after that: %+v", m)
	}
}

// refusedThere: what cannot be started on another machine is refused there, by what is there.
func refusedThere(t *testing.T, a, b *rig) {
	t.Helper()
	for _, c := range []struct {
		args []string
		exit int
		text string
	}{
		{[]string{"--machine", "nowhere", "--", "true"}, 2, "desk, hub"},
		{[]string{"--machine", "hub", "--cwd", "/no/such/folder", "--", "true"}, 2, "on machine hub: the working folder /no/such/folder"},
		{[]string{"--machine", "hub", "--cwd", b.path("work"), "--", "no-such-program"}, 3, "on machine hub: "},
		{[]string{"--agent", "claude"}, 2, "(UNSUPPORTED)\nleadlight: hint: the profile claude-interactive"},
		{[]string{"--kind", "native", "--", "cat"}, 2, "(UNSUPPORTED)\nleadlight: hint: the profile claude-interactive"},
		{[]string{"--machine", "hub", "--cwd", b.path("work"), "--agent", "claude"}, 2, "(UNSUPPORTED)\nleadlight: hint: the profile claude-interactive"},
		{[]string{"--machine", "auto", "--cwd", b.path("work"), "--agent", "claude"}, 2, "(UNSUPPORTED)\nleadlight: hint: the profile claude-interactive"},
	} {
		if r := a.run(append([]string{"spawn", "far"}, c.args...)...); r.exit != c.exit || !strings.Contains(r.err, c.text) {
			t.Errorf("spawn %v: %d %s", c.args, r.exit, r.err)
		}
	}
	engine := into[[]api.Machine](a, "machine", "ls")[0].Engine
	for member, text := range map[string]string{
		"agent: claude":                                      "(UNSUPPORTED)\nleadlight: hint: the profile claude-interactive",
		"agent: claude, machine: hub":                        "(UNSUPPORTED)\nleadlight: hint: the profile claude-interactive",
		"command: [cat], machine: hub, git: {url: /no/such}": "teammate far: machine hub: the repository /no/such cannot be reached",
	} {
		file := a.path("work", "team.yaml")
		if err := os.WriteFile(file, []byte("team: beta\nengine: "+engine+"\nmembers: [{name: far, "+member+"}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := a.run("up", file, "--team", "beta"); r.exit != 2 || !strings.Contains(r.err, text) {
			t.Errorf("up with %s: %d %s", member, r.exit, r.err)
		}
	}
	if teams := a.must("team", "ls"); strings.Contains(teams, "beta") {
		t.Errorf("what was refused is there: %s", teams)
	}
}

// limitedThere: how many teammates there may be is what whoever asks says, not the other
// machine.
func limitedThere(a, b *rig) {
	a.t.Helper()
	settings := a.path("home", "leadlight", "config.yaml")
	err := os.MkdirAll(filepath.Dir(settings), 0o700)
	if err == nil {
		err = os.WriteFile(settings, []byte("lifecycle: {maxTeammates: 1}\n"), 0o600)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	if r := a.run("spawn", "more", "--machine", "hub", "--cwd", b.path("work"), "--", "sleep", "1000"); r.exit != 4 || !strings.Contains(r.err, "the limit is 1") {
		a.t.Errorf("a second teammate: %d %s", r.exit, r.err)
	}
	if err := os.Remove(settings); err != nil {
		a.t.Fatal(err)
	}
}

// endsMeanwhile has the daemon there end while a teammate begins: it waits until that is undone, for
// which the host needs it.
func endsMeanwhile(a, b *rig) {
	a.t.Helper()
	begins := a.start(nil, "spawn", "late", "--machine", "hub", "--cwd", b.path("work"), "--", "sh", "-c", "touch late; exec sleep 1000")
	a.eventually("it begins", func() bool { _, err := os.Stat(b.path("work", "late")); return err == nil })
	b.must("daemon", "stop")
	if r := begins.wait(); r.exit != 0 && (r.exit != 7 || !strings.Contains(r.err, "(UNPROVEN)") || !strings.Contains(r.err, "hint: leadlight ps")) {
		a.t.Errorf("the daemon there ended: %d %s", r.exit, r.err)
	}
	b.must("daemon", "start")
	a.run("stop", "late")
}

// TestVerbsForAnotherMachine: what is asked on one machine is done on the one where the
// teammate runs, and is refused there as it is here.
func TestVerbsForAnotherMachine(t *testing.T) {
	t.Parallel()
	engine, a, b := twoMachines(t)
	joined(engine, a, b)
	refusedThere(t, a, b)
	m := into1[api.Member](a, "spawn", "far", "--json", "--machine", "hub", "--cwd", b.path("work"), "--env", "WORD=hello", "--", "sh", "-c", "echo $WORD from the hub; exec cat")
	if m.Machine != "hub" || m.Cwd != b.path("work") {
		t.Errorf("spawned: %+v", m)
	}
	limitedThere(a, b)
	a.eventually("it shows what it wrote", func() bool { return strings.Contains(a.must("capture", "far"), "hello from the hub") })
	a.must("keys", "far", "x", "y", "z", "Enter")
	a.eventually("it took the keys", func() bool { return strings.Count(a.must("capture", "far"), "xyz") == 2 })
	a.eventually("both have the same logs", func() bool {
		got := a.must("logs", "far")
		return strings.Count(got, "xyz") == 2 && strings.Contains(got, "hello from the hub") && got == b.must("logs", "far")
	})
	follow := a.start(nil, "logs", "far", "--follow")
	a.eventually("logs are followed", func() bool { return strings.Contains(follow.out.String(), "hello from the hub") })
	b.must("keys", "far", "n", "e", "w", "Enter")
	a.eventually("what is new is told", func() bool { return strings.Contains(follow.out.String(), "new") })
	follow.signal(syscall.SIGINT)
	if r := follow.wait(); r.exit != 130 {
		t.Errorf("logs --follow ended: %d %s", r.exit, r.err)
	}

	differsThere(t, a, b)
	lookedAtThere(a, b)
	asksThere(a, b)
	answeredOnce(a, b)
	attachesThere(t, a, b)
	forge := a.stub("forge", into[api.DaemonStatus](a, "daemon", "status").Socket, "store.roster.delete", `{"team":"alpha"}`,
		"machine.do", `{"machine":"hub","id":"one","verb":"stop","params":{"team":"alpha","caller":{"name":"team-lead"},"names":["far"],"stop":{"Force":true}}}`)
	b.must(append([]string{"spawn", "near", "--machine", "auto", "--cwd", b.path("work"), "--"}, forge...)...)
	a.eventually("what a teammate asks as the lead is refused", func() bool { return strings.Count(a.must("capture", "near"), `was answered "NOT_LEAD"`) == 2 })
	if m := b.member("near"); m.Machine != "desk" { // one runs on the hub, none on the desk
		t.Errorf("auto chose %+v", m)
	}
	first := 0
	a.eventually("it runs", func() bool { first = a.member("far").PID; return first > 0 })
	if again := into[[]api.Member](a, "restart", "far", "near", "--json"); len(again) != 2 || again[0].PID == first || again[0].Machine != "hub" {
		t.Errorf("restarted: %+v", again)
	}
	for _, verb := range []string{"stop far", "restart far", "keys far x", "spawn eve --machine hub -- cat", "send team-lead x --as far", "task add x --as far", "team delegate on", "machine leave"} {
		if r := a.runEnv([]string{"LEADLIGHT_AGENT=near"}, strings.Fields(verb)...); r.exit != 4 || !strings.Contains(r.err, "NOT_LEAD") {
			t.Errorf("%s by a teammate: %d %s", verb, r.exit, r.err)
		}
	}
	a.must("team", "delegate", "on")
	if got := b.must("team", "show", "--json"); !strings.Contains(got, `"delegate":true`) {
		t.Errorf("delegate mode on the other machine: %s", got)
	}
	for _, wrong := range []string{"nobody", "team-lead"} {
		if r := a.run("stop", "far", wrong); r.exit == 0 || !strings.Contains(r.err, wrong) || a.member("far").State != api.StateActive {
			t.Errorf("stop of a teammate there and %s: %d %s, it is %+v", wrong, r.exit, r.err, a.member("far"))
		}
	}
	endsMeanwhile(a, b)
	a.must("spawn", "fails", "--machine", "hub", "--cwd", b.path("work"), "--", "sh", "-c", "until test -e over; do sleep 0.1; done; exit 3")
	if err := os.WriteFile(b.path("work", "over"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.eventually("it has failed", func() bool { return a.member("fails").State == api.StateFailed })
	ends := into[api.Endings](a, "stop", "near", "far", "--timeout", "1s")
	if !ends.OK || len(ends.Members) != 2 {
		t.Errorf("stopped: %+v", ends)
	}
	for _, m := range into[[]api.Member](b, "ps", "--all") {
		if m.State != api.StateStopped && m.Name != "fails" { // whose host the end of the team ends
			t.Errorf("after the stop: %+v", m)
		}
	}
}

// differsThere: what a teammate changed in its worktree on another machine is shown here,
// also when it is more than fits into one message of the engine.
func differsThere(t *testing.T, a, b *rig) {
	t.Helper()
	dir := b.path("work", "project")
	git := exec.Command("sh", "-c", "git init -q "+dir+" && git -C "+dir+" -c user.name=a -c user.email=a@b commit -q --allow-empty -m first")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a.must("spawn", "writer", "--machine", "hub", "--cwd", dir, "--worktree", "--", "sh", "-c", "seq 300000 >numbers; : >done; exec cat")
	tree := a.member("writer").Worktree
	a.eventually("it has written", func() bool { _, err := os.Stat(filepath.Join(tree, "done")); return err == nil })
	if got := a.must("diff", "writer"); !strings.Contains(got, "+1\n") || !strings.HasSuffix(strings.TrimSpace(got), "+300000") {
		t.Errorf("%d bytes: %.200q", len(got), got)
	}
	if got := a.must("diff", "writer", "--stat"); !strings.Contains(got, "numbers") || strings.Contains(got, "+300000\n") {
		t.Errorf("%.200q", got)
	}
	if m := a.member("writer"); m.Branch == "" || m.Added == nil || *m.Added < 300000 {
		t.Errorf("ps counts other changes: %+v", m)
	}
	a.must("stop", "writer", "--timeout", "1s")
	clonedThere(t, a, b, dir)
}

// clonedThere: a repository is fetched to the machine on which the teammate runs, which then
// works in a tree of it; what cannot be had there is said here.
func clonedThere(t *testing.T, a, b *rig, repo string) {
	t.Helper()
	if r := a.run("spawn", "cloner", "--machine", "hub", "--git", repo, "--ref", "nothing", "--", "cat"); r.exit != 2 || !strings.Contains(r.err, "on machine hub: the repository "+repo+" has no branch, tag or commit nothing") {
		t.Errorf("%d %s", r.exit, r.err)
	}
	if r := a.run("spawn", "cloner", "--machine", "auto", "--git", repo, "--ref", "nothing", "--", "cat"); r.exit != 2 || !strings.Contains(r.err, "has no branch, tag or commit nothing") {
		t.Errorf("where there is room: %d %s", r.exit, r.err)
	}
	r := a.run("spawn", "cloner", "--machine", "hub", "--git", repo, "--", "sh", "-c", "echo x >new; exec cat")
	if r.exit != 0 || !strings.Contains(r.err, "cloner: fetches "+repo) {
		t.Fatalf("%d %s", r.exit, r.err)
	}
	tree := a.member("cloner").Worktree
	if clones, _ := filepath.Glob(filepath.Join(tree, "..", "..", "..", "..", "clones", "project-*.git")); !strings.HasPrefix(tree, b.path("")) || len(clones) != 1 {
		t.Errorf("it works in %s, of %q", tree, clones)
	}
	a.eventually("its diff is seen", func() bool { return strings.Contains(a.must("diff", "cloner"), "+x") })
	if got := a.run("diff", "cloner"); !strings.Contains(got.err, "git push origin leadlight/alpha/cloner takes what of it is committed, in "+tree) {
		t.Errorf("how the work gets out of the clone: %s", got.err)
	}
	if ends := into[api.Endings](a, "stop", "cloner", "--timeout", "1s"); len(ends.Members[0].Leftovers) != 1 || !strings.Contains(ends.Members[0].Leftovers[0], "is kept") {
		t.Errorf("its work: %+v", ends)
	}
}

// TestAMachineIsSilent: while the daemon of a machine says nothing its teammates are
// unknown and keep their tasks. When it is back, who lived on is active, and the end of who
// was killed meanwhile is told once.
func TestAMachineIsSilent(t *testing.T) {
	t.Parallel()
	engine, a, b := twoMachines(t)
	joined(engine, a, b)
	for _, name := range []string{"lives", "dies"} {
		a.must("spawn", name, "--machine", "hub", "--cwd", b.path("work"), "--", "sleep", "1000")
	}
	a.must("task", "add", "one")
	a.must("task", "claim", "1", "--as", "dies")
	viewer := attachedThere(a, "lives")
	daemon := into[api.DaemonStatus](b, "daemon", "status").PID
	frozen(b)
	for _, m := range into[[]api.Member](a, "ps") {
		if m.State != api.StateUnknown || !strings.Contains(m.Reason, "machine hub is silent for ") {
			t.Errorf("seen while its machine is silent: %+v", m)
		}
	}
	viewer.sees(a, "UNPROVEN")
	viewer.sees(a, "machine hub is silent for ")
	if r := a.run("attach", "lives"); r.exit != 0 || !strings.HasPrefix(r.out, "leadlight attach lives ") {
		t.Errorf("attach: %d %s%s", r.exit, r.out, r.err)
	}
	if r := a.run("stop", "lives"); r.exit != 7 || !strings.Contains(r.err, "machine hub is silent for ") {
		t.Errorf("stop: %d %s", r.exit, r.err)
	}
	if task := into[api.Task](a, "task", "show", "1"); task.Owner != "dies" || task.Status != "in_progress" {
		t.Errorf("its task: %+v", task)
	}
	for _, pid := range []int{daemon, hostRecord(b, "alpha", "dies").Process.PID} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	again := a.sits(t, 24, 80, "attach", "lives")
	again.sees(a, "TIMEOUT")
	b.must("ps") // any verb there starts its daemon again
	a.eventually("it is written down who was lost", func() bool { return a.member("dies").State == api.StateLost })
	a.eventually("who lived on is active", func() bool { return a.member("lives").State == api.StateActive })
	a.eventually("its task is free again", func() bool { return into[api.Task](a, "task", "show", "1").Status == "pending" })
	toldOnce(a, "dies is lost")
	a.must("down", "alpha")
}

// toldOnce proves that the lead is told of something once. It is told after that is written down.
func toldOnce(r *rig, what string) {
	r.t.Helper()
	told := 0
	r.eventually("the lead is told: "+what, func() bool {
		told = 0
		for _, m := range into[[]api.Message](r, "inbox") {
			if strings.Contains(m.Text, what) {
				told++
			}
		}
		return told > 0
	})
	if told != 1 {
		r.t.Errorf("the lead was told %d times: %s", told, what)
	}
}
