package integration_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
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
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// verbLimit is how long a verb may take whatever it finds. It is generous: what hangs
// in a pipe hangs for ever.
const verbLimit = 2 * time.Minute

// TestXH09_DamagedFilesHarmNobody: whatever becomes of a file of a living team, no verb
// ends anybody who lives, but for the one that is told to and can prove him his; none
// touches another team or deletes what is not ours, and each ends in time. Each file meets
// a damage here, and each damage the files that most depends on; TestSoakDamagedFiles tries
// all of all. It is done in parts, since it takes longer than any other test.
func TestXH09_DamagedFilesHarmNobody(t *testing.T) {
	t.Parallel()
	const parts = 4
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			damageEverywhere(t, part, parts)
		})
	}
}

// damageEverywhere does one of so many parts.
func damageEverywhere(t *testing.T, part, parts int) {
	everywhere(t, func(t *testing.T, r *rig) {
		d := newDamaged(t, r)
		n := 0
		meet := func(file, what string, verbs ...[]string) {
			if n++; n%parts == part {
				d.meet(file, what, verbs...)
			}
		}
		whats := slices.Sorted(maps.Keys(d.damages("")))
		for i, file := range d.files() {
			if strings.Contains(file, "/locks/") && i%4 > 0 || asAnother(file) {
				continue // locks are alike
			}
			meet(file, whats[i%len(whats)], d.cleaners()[0], d.cleaners()[1+i%2])
		}
		for i, what := range whats { // of these the most depends on
			meet("base/teams/alpha/config.json", what, d.cleaners()[1+i%2])
			meet("base/leadlight/alpha/hosts/a.json", what, d.cleaners()[2-i%2])
		}
		meet("base/leadlight/alpha/hosts/a.json", strangersNumber, d.cleaners()[1])
		for _, what := range []string{"cut", "a neighbour", "a stranger", strangersNumber} {
			meet("base/leadlight/alpha/hosts/d.json", what, d.cleaners()[3])
		}
		for _, what := range []string{"an object", "gone"} {
			meet("base/teams/alpha/config.json", what, d.cleaners()[3], d.down())
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
	outside  map[string]string             // the files outside, and what is in them
	met      int                           // verbs that ran while a file was damaged
}

func newDamaged(t *testing.T, r *rig) *damaged {
	d := &damaged{rig: r, t: t, stranger: r.stranger()}
	for name, text := range map[string]string{"precious/file": "precious\n", "precious/folder/file": "as precious\n"} {
		path := r.path(filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r.team("beta")
	r.must("spawn", "x", "-t", "beta", "--", "sleep", "100000")
	d.up()
	d.outside = d.foreign()
	return d
}

// foreign are the files that are nobody's, and those of beta but for its locks and what its
// member writes, by their names; what is in them.
func (d *damaged) foreign() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for _, root := range []string{"precious", "base/teams/beta", "base/tasks/beta", "base/leadlight/beta"} {
		err := filepath.WalkDir(d.path(filepath.FromSlash(root)), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // beta has no such folder, or not any more
			}
			if err != nil || e.Name() == "locks" || e.Name() == "transcripts" {
				return cmp.Or(err, fs.SkipDir)
			}
			if e.IsDir() {
				return nil
			}
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) { // gone since
				return nil
			}
			out[path] = string(text)
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	return out
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
	for _, of := range [][2]string{{"beta", "x"}, {"alpha", "a"}, {"alpha", "b"}, {"alpha", "c"}, {"alpha", "d"}} {
		d.others[of[1]+" of "+of[0]] = d.processes(of[0], of[1])
	}
}

// stranger is a program that nobody here has started for a team.
func (r *rig) stranger() signals.Identity {
	r.t.Helper()
	c := exec.Command("sleep", "100000")
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	id, err := signals.Identify(c.Process.Pid)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// processes are the host of a member, and what it runs: that leads a session of its own, which
// a program that the host asks something does not.
func (r *rig) processes(team, name string) []signals.Identity {
	r.t.Helper()
	rec := hostRecord(r, team, name)
	out := []signals.Identity{rec.Process}
	marked, err := signals.Marked(rec.Host)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range marked {
		if p.Identity != rec.Process && p.SID == p.PID {
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
		top := d.path(filepath.FromSlash(root))
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if path != top && errors.Is(err, fs.ErrNotExist) {
				return nil // a lock that somebody has given back
			}
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

// strangersNumber is what only the record of a host has: its process.
const strangersNumber = "a stranger's number"

// damages are what may become of a file.
func (d *damaged) damages(file string) map[string]func(path string, was []byte) error {
	instead := func(put func(path string, was []byte) error) func(string, []byte) error {
		return func(path string, was []byte) error { return errors.Join(os.Remove(path), put(path, was)) }
	}
	write := func(data func(path string, was []byte) []byte) func(string, []byte) error {
		return instead(func(path string, was []byte) error { return os.WriteFile(path, data(path, was), 0o600) })
	}
	out := map[string]func(string, []byte) error{
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
	if strings.HasSuffix(file, ".json") && strings.Contains(file, "/hosts/") {
		out[strangersNumber] = write(func(_ string, was []byte) []byte { return d.numbered(was) })
	}
	return out
}

// numbered is the record of a host with the stranger's process for its own.
func (d *damaged) numbered(was []byte) []byte {
	d.t.Helper()
	var rec panes.HostRecord
	err := json.Unmarshal(was, &rec)
	rec.Process = d.stranger
	now, err2 := json.Marshal(rec)
	if err := errors.Join(err, err2); err != nil {
		d.t.Fatal(err)
	}
	return now
}

// neighbour is what another file of the folder holds, or of the folders beside it.
func (d *damaged) neighbour(path string, was []byte) []byte {
	d.t.Helper()
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+filepath.Ext(path)))
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(path)), "*", "*"+filepath.Ext(path)))
	return d.differs(was, append(all, beside...)...)
}

// differs is what the first of those files holds that is not as was, or else beta's roster.
func (d *damaged) differs(was []byte, files ...string) []byte {
	d.t.Helper()
	for _, file := range append(files, d.path("base", "teams", "beta", "config.json")) {
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if data, err := os.ReadFile(file); err == nil && !bytes.Equal(data, was) {
			return data
		}
	}
	d.t.Fatalf("no file differs from %q", was)
	return nil
}

// ofBeta is what the file holds that is the same of the other team.
func (d *damaged) ofBeta(path string, was []byte) []byte {
	d.t.Helper()
	name := strings.Replace(path, "/alpha/", "/beta/", 1)
	if filepath.Base(filepath.Dir(path)) == "headless" {
		name = d.file("run/leadlight/headless/x@beta")
	}
	return d.differs(was, name, filepath.Join(filepath.Dir(name), "x"+filepath.Ext(name)), filepath.Join(filepath.Dir(name), "host-x"))
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
	if err := d.damages(file)[what](path, was); err != nil {
		d.t.Fatal(err)
	}
	var ended string // who of alpha was told to end
	for _, verb := range verbs {
		began := time.Now()
		res := d.run(verb...)
		d.met++
		if took := time.Since(began); took > verbLimit || res.exit < 0 {
			d.t.Errorf("%s is %s: %v took %s", file, what, verb, took)
		}
		switch verb[0] {
		case "stop":
			ended = "d of alpha"
		case "down":
			ended = " of alpha"
		}
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
	if ended != "" {
		d.again(ended == " of alpha")
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

// unharmed fails the test if anybody was ended who was not told to, or anything outside is
// not as it was. ended is how the names end of those who were told, "" for nobody.
func (d *damaged) unharmed(when, ended string, res result) {
	d.t.Helper()
	for name, all := range d.others {
		for _, id := range all {
			if ended != "" && strings.HasSuffix(name, ended) {
				continue
			}
			if state := id.Probe(); state != signals.Alive {
				d.t.Fatalf("%s process %d of %s is %v\n%s%s", when, id.PID, name, state, res.out, res.err)
			}
		}
	}
	if now := d.foreign(); !maps.Equal(now, d.outside) {
		d.t.Fatalf("%s there is outside\n%q\nnot\n%q\n%s%s", when, now, d.outside, res.out, res.err)
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
