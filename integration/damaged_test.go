package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// verbLimit is how long a verb may take whatever it finds. It is generous: what hangs
// in a pipe hangs for ever.
const verbLimit = 45 * time.Second

// TestXH09_DamagedFilesHarmNobody: whatever becomes of a file of a living team, no verb
// ends anybody who lives, but for the one that is told to and can prove him his; none
// touches another team or deletes what is not ours, and each ends in time. Each file meets
// a damage here, and each damage the files that most depends on; TestSoakDamagedFiles tries
// all of all.
func TestXH09_DamagedFilesHarmNobody(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		d := newDamaged(t, r)
		whats := slices.Sorted(maps.Keys(d.damages()))
		for i, file := range d.files() {
			if strings.Contains(file, "/locks/") && i%4 > 0 || asAnother(file) {
				continue // locks are alike
			}
			d.meet(file, whats[i%len(whats)], d.cleaners()[0], d.cleaners()[1+i%2])
		}
		for i, what := range whats { // of these the most depends on
			d.meet("base/teams/alpha/config.json", what, d.cleaners()[1+i%2])
			d.meet("base/leadlight/alpha/hosts/a.json", what, d.cleaners()[2-i%2])
		}
		for _, what := range []string{"cut", "a neighbour", "a stranger"} {
			d.meet("base/leadlight/alpha/hosts/d.json", what, d.cleaners()[3])
		}
		for _, what := range []string{"an object", "gone"} {
			d.meet("base/teams/alpha/config.json", what, d.cleaners()[3], d.down())
		}
		d.over()
	})
}

// damaged is a team of four, alpha, beside another one and a stranger. d of alpha may be
// ended by the verb that is told to; nobody else.
type damaged struct {
	*rig
	t        *testing.T
	stranger signals.Identity
	others   map[string][]signals.Identity // processes by who has them
	outside  map[string]string             // files that are nobody's of ours, and what is in them
	met      int                           // verbs that ran while a file was damaged
}

func newDamaged(t *testing.T, r *rig) *damaged {
	d := &damaged{rig: r, t: t, others: map[string][]signals.Identity{}, outside: map[string]string{}}
	stranger := exec.Command("sleep", "100000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	id, err := signals.Identify(stranger.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	d.stranger = id
	for name, text := range map[string]string{"precious/file": "precious\n", "precious/folder/file": "as precious\n"} {
		path := r.path(filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		d.outside[path] = text
	}
	r.team("beta")
	r.must("spawn", "x", "-t", "beta", "--", "sleep", "100000")
	d.up()
	d.outside[r.path("base", "teams", "beta", "config.json")] = d.read("base/teams/beta/config.json")
	return d
}

// team of the four: a file with hooks, commands of its own and a worker at work.
const fourOfAlpha = `
team: alpha
members:
- {name: a, command: [sleep, "100000"]}
- {name: b, agent: shell}
- {name: c, command: [sh, -c, 'exec sleep 100000']}
- {name: d, command: [sleep, "100000"]}
tasks: [{subject: long, owner: b, run: 'exec sleep 100000'}]
hooks: {TaskCompleted: [{type: command, command: 'true'}]}
`

// up starts what is missing of the four.
func (d *damaged) up() {
	d.t.Helper()
	file := d.path("work", "alpha.yaml")
	if err := os.WriteFile(file, []byte(fourOfAlpha), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.must("up", "alpha.yaml", "--detach")
	d.must("send", "a", "b", "c", "to have a mailbox", "-t", "alpha")
	const ours = "base/leadlight/alpha/"
	for name, text := range map[string]string{ // what takes longer to come about, and what the client and the user write
		ours + "ledger/.requests.json": `{"plans":[{"id":"p1","from":"a","status":"open","plan":"x"}],"permissions":[]}`, ours + "ledger/.withdrawn.json": `["shutdown-1@a"]`,
		ours + "ledger/.agreed.json": `{"a":"2026-01-02T15:04:05Z"}`, ours + "ledger/.objections.json": `{"1":1}`, ours + "launch/.worktrees.json": `{}`,
		ours + "ledger/.offers.json": `{"tasks":{"1":{"to":"b"}}}`, ours + "ledger/.unread.json": `["m1"]`, ours + "ledger/a": "m1\n", ours + "archive/a.jsonl": "{}\n",
		ours + "observed/b.json": `{"version":1,"run":"r","task":"1","seq":1,"state":null,"events":[]}`,
		"base/settings.json":     `{"teammateMode":"auto"}`, "base/.claude.json": `{"projects":{}}`, "work/.claude/settings.json": `{"hooks":{}}`, "work/.claude/settings.local.json": `{}`,
		"base/tasks/alpha/.lock": "", "home/leadlight/config.yaml": "lifecycle: {term: 5s}\n", "home/leadlight/trusted.json": "[]",
	} {
		path := d.path(filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			d.t.Fatal(err)
		}
	}
	d.others = map[string][]signals.Identity{"a stranger": {d.stranger}}
	d.eventually("b works", func() bool { return len(d.processes("alpha", "b")) > 1 })
	for _, of := range [][2]string{{"beta", "x"}, {"alpha", "a"}, {"alpha", "b"}, {"alpha", "c"}} {
		d.others[of[1]+" of "+of[0]] = d.processes(of[0], of[1])
	}
}

// processes are the host of a member, and what it runs.
func (d *damaged) processes(team, name string) []signals.Identity {
	d.t.Helper()
	rec := hostRecord(d.rig, team, name)
	out := []signals.Identity{rec.Process}
	marked, err := signals.Marked(rec.Host)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, p := range marked {
		if p.Identity != rec.Process {
			out = append(out, p.Identity)
		}
	}
	return out
}

// files are all of alpha, of the run folder, of the user's settings and state, and of the
// folder that they work in: ours and Claude's.
func (d *damaged) files() []string {
	d.t.Helper()
	var out []string
	for _, root := range []string{"base/teams/alpha", "base/tasks/alpha", "base/leadlight/alpha", "base/settings.json", "base/.claude.json", "run", "home", "work"} {
		err := filepath.WalkDir(d.path(filepath.FromSlash(root)), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == "tmux" {
				return err
			}
			name, err := filepath.Rel(d.dir, path)
			out = append(out, d.role(filepath.ToSlash(name)))
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	if len(out) < 20 {
		d.t.Fatalf("these are not all files of a team: %q", out)
	}
	return out
}

// cleaners are the verbs that look and clean up, and one that ends d.
func (d *damaged) cleaners() [][]string {
	return [][]string{{"ps", "-t", "alpha"}, {"gc"}, {"doctor", "--fix"}, {"stop", "d", "-t", "alpha", "--timeout", "100ms"}}
}

func (d *damaged) down() []string { return []string{"down", "alpha", "--force", "--timeout", "100ms"} }

// damages are what may become of a file.
func (d *damaged) damages() map[string]func(path string, was []byte) error {
	instead := func(put func(path string, was []byte) error) func(string, []byte) error {
		return func(path string, was []byte) error { return errors.Join(os.Remove(path), put(path, was)) }
	}
	write := func(data func(path string, was []byte) []byte) func(string, []byte) error {
		return instead(func(path string, was []byte) error { return os.WriteFile(path, data(path, was), 0o600) })
	}
	return map[string]func(string, []byte) error{
		"emptied":     write(func(string, []byte) []byte { return nil }),
		"cut":         write(func(_ string, was []byte) []byte { return was[:len(was)/2] }),
		"an object":   write(func(string, []byte) []byte { return []byte("{}") }),
		"gone":        instead(func(string, []byte) error { return nil }),
		"a pipe":      instead(func(path string, _ []byte) error { return syscall.Mkfifo(path, 0o600) }),
		"a folder":    instead(func(path string, _ []byte) error { return os.MkdirAll(filepath.Join(path, "of", "folders"), 0o700) }),
		"a link":      instead(func(path string, _ []byte) error { return os.Symlink(d.path("precious", "file"), path) }),
		"a name more": instead(func(path string, _ []byte) error { return os.Link(d.path("precious", "file"), path) }),
		"a neighbour": write(func(path string, was []byte) []byte { return d.neighbour(path, was) }),
		"a stranger":  write(func(path string, was []byte) []byte { return d.ofBeta(path, was) }),
	}
}

// neighbour is what the next file of the same folder holds.
func (d *damaged) neighbour(path string, was []byte) []byte {
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+filepath.Ext(path)))
	for i, other := range all {
		if data, err := os.ReadFile(all[(i+1)%len(all)]); other == path && err == nil {
			return data
		}
	}
	return was
}

// ofBeta is what the file holds that is the same of the other team.
func (d *damaged) ofBeta(path string, was []byte) []byte {
	name := strings.Replace(path, "/alpha/", "/beta/", 1)
	if filepath.Base(filepath.Dir(path)) == "headless" {
		name = d.file("run/leadlight/headless/x@beta")
	}
	for _, other := range []string{name, filepath.Join(filepath.Dir(name), "x"+filepath.Ext(name)), filepath.Join(filepath.Dir(name), "host-x")} {
		if data, err := os.ReadFile(other); err == nil && other != path {
			return data
		}
	}
	return was
}

// meet damages a file, runs the verbs, looks after each, and mends the file.
func (d *damaged) meet(file, what string, verbs ...[]string) {
	d.t.Helper()
	path := d.file(file)
	if strings.HasSuffix(file, ".sock") { // a host that lives makes it again
		d.eventually(file+" is there", func() bool { _, err := os.Lstat(path); return err == nil })
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		d.t.Logf("%s is not there, and so not %s", file, what)
		return
	}
	socket := err == nil && info.Mode()&fs.ModeSocket != 0
	var was []byte
	if !socket {
		if was, err = os.ReadFile(path); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := d.damages()[what](path, was); err != nil {
		d.t.Fatal(err)
	}
	ended := false
	for _, verb := range verbs {
		began := time.Now()
		res := d.run(verb...)
		d.met++
		if took := time.Since(began); took > verbLimit || res.exit < 0 {
			d.t.Errorf("%s is %s: %v took %s", file, what, verb, took)
		}
		ended = ended || verb[0] == "down"
		d.unharmed(file+" is "+what+": after "+strings.Join(verb, " "), ended, res)
	}
	if err := os.RemoveAll(path); err != nil {
		d.t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Dir(path)); err == nil && !socket {
		if err := os.WriteFile(path, was, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	if ended || slices.ContainsFunc(verbs, func(verb []string) bool { return slices.Contains(verb, "stop") }) {
		d.again(ended)
	}
}

// again brings back who was ended.
func (d *damaged) again(all bool) {
	d.t.Helper()
	if all {
		d.run(d.down()...) // with its files in order it ends what it could not prove before
	}
	d.up()
}

// unharmed fails the test if anybody was ended who was not meant, or anything outside is
// not as it was.
func (d *damaged) unharmed(when string, ended bool, res result) {
	d.t.Helper()
	for name, all := range d.others {
		for _, id := range all {
			if ended && strings.HasSuffix(name, " of alpha") {
				continue
			}
			if state := id.Probe(); state != signals.Alive {
				d.t.Fatalf("%s process %d of %s is %v\n%s%s", when, id.PID, name, state, res.out, res.err)
			}
		}
	}
	for path, was := range d.outside {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, []byte(was)) {
			d.t.Fatalf("%s %s was changed: %v\n%s\n%s%s", when, path, err, now, res.out, res.err)
		}
	}
	if strings.Contains(res.err, "panic:") || strings.Contains(res.err, "goroutine ") {
		d.t.Fatalf("%s: %s", when, res.err)
	}
}

// over ends the teams, and shows that nobody was forgotten.
func (d *damaged) over() {
	d.t.Helper()
	var left []struct{ Name, State string }
	if err := json.Unmarshal([]byte(d.must("ps", "-t", "alpha", "--json")), &left); err != nil || len(left) != 4 {
		d.t.Errorf("the team is %v: %v", left, err)
	}
	if tasks := into[[]api.Task](d.rig, "task", "ls", "-t", "alpha"); len(tasks) != 1 || tasks[0].Owner != "b" {
		d.t.Errorf("the tasks are %+v", tasks)
	}
	d.must("down", "alpha", "--force")
	d.must("down", "beta", "--force")
	tmuxtest.Eventually(d.t, "nothing is left", func() bool { return len(marked("LEADLIGHT_BASE_DIR="+d.path("base"))) == 0 })
}

func (d *damaged) read(file string) string {
	d.t.Helper()
	data, err := os.ReadFile(d.path(filepath.FromSlash(file)))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}
