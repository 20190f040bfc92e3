package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// verbs of a team, NAME being the team's.
var verbs = [][]string{
	{"team", "create", "NAME", "--description", "x"}, {"team", "show", "NAME"}, {"team", "delete", "NAME"}, {"team", "delete", "NAME", "--force"},
	{"down", "NAME"}, {"down", "NAME", "--force"},
	{"ps", "--all", "-t", "NAME"}, {"spawn", "a", "-t", "NAME", "--", "sleep", "1"}, {"stop", "--all", "-t", "NAME"}, {"restart", "a", "-t", "NAME"},
	{"capture", "a", "-t", "NAME"}, {"logs", "a", "-t", "NAME"}, {"attach", "a", "-t", "NAME"},
	{"send", "a", "x", "-t", "NAME"}, {"send", "--all", "x", "-t", "NAME"}, {"inbox", "a", "-t", "NAME"}, {"inbox", "prune", "a", "-t", "NAME"},
	{"task", "add", "x", "-t", "NAME"}, {"task", "ls", "-t", "NAME"}, {"task", "show", "1", "-t", "NAME"}, {"task", "claim", "1", "-t", "NAME"},
	{"task", "update", "1", "--owner", "a", "-t", "NAME"}, {"task", "done", "1", "-t", "NAME"}, {"task", "fail", "1", "--reason", "x", "-t", "NAME"},
	{"task", "release", "1", "-t", "NAME"}, {"task", "rm", "1", "-t", "NAME"}, {"approve", "-t", "NAME"},
}

// TestSE01_EveryVerbRefusesTheNames: no verb takes a team's name that leads out of
// the base directory, however it is given.
// https://github.com/Yeachan-Heo/oh-my-codex/issues/155
func TestSE01_EveryVerbRefusesTheNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	for _, at := range []string{"precious", "base/precious"} { // what ../../precious and ../precious would name
		dir := r.path(at)
		err := errors.Join(os.MkdirAll(filepath.Join(dir, "inboxes"), 0o700),
			os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"name":"precious","members":[{"name":"team-lead"},{"name":"a"}]}`), 0o600),
			os.WriteFile(filepath.Join(dir, "1.json"), []byte(`{"id":"1","subject":"x","status":"pending","blocks":[],"blockedBy":[]}`), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"../../precious", "../precious", "..", ".", "", "/", r.path("precious"), "a/../../precious", `..\precious`,
		strings.Repeat("x", 300), "a\nb", ".hidden", "~"}
	before := tree(t, r.dir)
	for i, name := range names {
		for j, verb := range verbs {
			if i > 1 && (i+j)%5 != 0 { // the two that lead somewhere meet every verb, the others a fifth of them
				continue
			}
			args := slices.Clone(verb)
			args[slices.Index(args, "NAME")] = name
			res := r.run(args...)
			if res.exit != 2 && res.exit != 3 {
				t.Errorf("%q: exit %d\n%s%s", args, res.exit, res.out, res.err)
			}
			if strings.Contains(res.err, "panic") || strings.Contains(res.out, "precious") && res.exit == 0 {
				t.Errorf("%q: %s%s", args, res.out, res.err)
			}
		}
		if res := r.runEnv([]string{"LEADLIGHT_TEAM=" + name}, "send", "a", "x"); res.exit != 2 && res.exit != 3 {
			t.Errorf("LEADLIGHT_TEAM=%q: exit %d %s", name, res.exit, res.err)
		}
	}
	after := tree(t, r.dir)
	for name := range after {
		if strings.HasPrefix(name, "run/") || strings.HasPrefix(name, "base/leadlight") {
			delete(after, name) // our own locks
		}
	}
	if !maps.Equal(before, after) {
		t.Errorf("files changed: %v, were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
}

// TestSE02_MemberNameFromAFile: a roster that names a member ../../../outside. It is
// shown and flagged; nothing is done with the name, the others are served.
// https://github.com/code-yeongyu/oh-my-openagent/pull/1638
func TestSE02_MemberNameFromAFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	plant(r, "teams/alpha/config.json", sample(r, "traversal-member.json"))
	r.spawn("bob", nil, r.stub("mute")...)
	outside := func() map[string]string {
		all := tree(t, r.dir)
		for name := range all {
			if strings.HasPrefix(name, "run") || strings.HasPrefix(name, "base/teams/alpha") || strings.HasPrefix(name, "base/tasks") || strings.HasPrefix(name, "base/leadlight") {
				delete(all, name)
			}
		}
		return all
	}
	before := outside()
	bad := "../../../outside"
	for _, args := range [][]string{
		{"send", bad, "x"}, {"send", bad + "@alpha", "x"}, {"inbox", bad}, {"inbox", "prune", bad}, {"stop", bad}, {"stop", bad, "--force"},
		{"restart", bad}, {"capture", bad}, {"logs", bad}, {"attach", bad}, {"spawn", bad, "--", "sleep", "1"},
		{"task", "add", "x", "--owner", bad}, {"send", "bob", "x", "--as", bad},
	} {
		if res := r.run(args...); res.exit == 0 || strings.Contains(res.err, "panic") {
			t.Errorf("%v: exit %d %s%s", args, res.exit, res.out, res.err)
		}
	}
	if res := r.run("send", "--all", "hello all"); res.exit != 0 {
		t.Errorf("broadcast: %s", res.err)
	}
	if box := boxOf(r, "alpha", "bob"); len(box) != 1 || box[0].Text != "hello all" {
		t.Errorf("bob was not served: %v", box)
	}
	if m := r.member(bad); m.State != api.StateUnknown || m.Reason == "" {
		t.Errorf("it is shown as %+v", m)
	}
	r.must("stop", "bob", "--timeout", "1s")
	if res := r.run("team", "delete", "alpha"); res.exit != 4 {
		t.Errorf("delete with a member nobody can look at: exit %d %s", res.exit, res.err)
	}
	if res := r.run("down", "--force"); res.exit != 4 || !strings.Contains(res.err, "hint: leadlight team delete alpha --force") {
		t.Errorf("down with a member nobody can look at: exit %d %s", res.exit, res.err)
	}
	r.must("team", "delete", "alpha", "--force")
	if after := outside(); !maps.Equal(before, after) {
		t.Errorf("files changed: %v, were %v", after, before)
	}
}

// TestSE06_ModesUnderAnyUmask: what we make is private whatever the umask is.
// https://github.com/anthropics/claude-code/issues/29162
func TestSE06_ModesUnderAnyUmask(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"000", "077", "777"} {
		t.Run(umask, func(t *testing.T) {
			everywhere(t, func(t *testing.T, r *rig) {
				line := `umask ` + umask + `; set -e; for x in "team create alpha --description x" "task add one" "spawn a --prompt hello -- sleep 1000" ` +
					`"send a hello" "stop a --timeout 1s"; do ` + r.bin + ` $x; done`
				c := exec.Command("sh", "-c", line)
				c.Dir, c.Env = r.path("work"), r.env
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				err := filepath.WalkDir(r.path("base"), func(p string, d fs.DirEntry, err error) error {
					if err != nil || p == r.path("base") {
						return err
					}
					fi, err := d.Info()
					if err != nil {
						return err
					}
					want := fs.FileMode(0o600)
					if d.IsDir() {
						want = 0o700
					}
					if fi.Mode().Perm() != want {
						t.Errorf("%s has mode %s", p, fi.Mode())
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestUX02_FailuresSayWhatAndWhere: each step of a spawn fails in turn, says whose
// and why, and leaves nothing.
// https://github.com/anthropics/claude-code/issues/46349
func TestUX02_SP11_SP13_FailuresSayWhatAndWhere(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		roster := func() string { return fmt.Sprint(len(rosterOf(r, "alpha").Members), r.open()) }
		before := roster()
		for _, c := range []struct {
			flags, argv []string
			exit        int
			says        []string
		}{
			{nil, []string{"no-such-program"}, 3, []string{"a", "no-such-program", "PROGRAM_NOT_FOUND"}},
			{nil, []string{"/etc/passwd"}, 3, []string{"a", "/etc/passwd", "is no executable file", "PROGRAM_NOT_FOUND"}},
			{[]string{"--cwd", r.path("gone")}, []string{"sleep", "1"}, 2, []string{r.path("gone")}},
			{nil, []string{"sh", "-c", "echo first; echo last words; exit 7"}, 6, []string{"teammate a", "team alpha", "exit 7", "last words", "7", "SPAWN_FAILED"}},
			{nil, []string{"sh", "-c", "kill -9 $$"}, 6, []string{"teammate a", "team alpha", "SPAWN_FAILED"}},
			// its host does not run before it has ended, and then has something to end first
			{nil, []string{"sh", "-c", "trap '' HUP TERM; (sleep 0.4; kill -CONT $PPID; sleep 0.4) & kill -STOP $PPID; exit 4"}, 6, []string{"teammate a", "team alpha", "exited with 4", "SPAWN_FAILED"}},
		} {
			res := r.run(append(append(append([]string{"spawn", "a"}, c.flags...), "--"), c.argv...)...)
			if res.exit != c.exit {
				t.Errorf("%v %v: exit %d, want %d: %s", c.flags, c.argv, res.exit, c.exit, res.err)
			}
			for _, word := range c.says {
				if !strings.Contains(res.err, word) {
					t.Errorf("%v %v does not say %q: %s", c.flags, c.argv, word, res.err)
				}
			}
			if !strings.Contains(res.err, "hint:") {
				t.Errorf("%v: no way on: %s", c.argv, res.err)
			}
			if got := roster(); got != before {
				t.Errorf("%v left %s, was %s", c.argv, got, before)
			}
		}
		r.must("task", "ls")
	})
}

// TestSP06_SP08_FortyJoinAtOnce: forty processes join one team through the store
// while a forty-first, standing for Claude Code, rewrites another field under its
// own lock, and a reader parses every moment of it.
// https://github.com/win4r/ClawTeam-OpenClaw/pull/62
func TestSP06_SP08_FortyJoinAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	if err := os.MkdirAll(r.path("base", "tasks", "alpha"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.team("alpha")
	config := r.path("base", "teams", "alpha", "config.json")
	stop := make(chan struct{})
	rewrites, reads := make(chan int), make(chan error)
	go func() { rewrites <- rewriteField(config, stop) }()
	go func() { reads <- parseAlways(config, stop) }()
	var joins []*exec.Cmd
	for i := range 40 {
		argv := r.stub("join", r.path("base"), "alpha", fmt.Sprintf("m%d", i))
		c := exec.Command(argv[0], argv[1:]...)
		c.Stderr = new(bytes.Buffer)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		joins = append(joins, c)
	}
	for i, c := range joins {
		if err := c.Wait(); err != nil {
			t.Errorf("join %d: %v %s", i, err, c.Stderr)
		}
	}
	close(stop)
	n, err := <-rewrites, <-reads
	if err != nil {
		t.Errorf("a reader met a broken roster: %v", err)
	}
	var file struct {
		Rewrites int               `json:"rewrites"`
		Members  []json.RawMessage `json:"members"`
	}
	data, err := os.ReadFile(config)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil || file.Rewrites != n || len(file.Members) != 41 {
		t.Errorf("%d members of 41, %d rewrites of %d (%v)", len(file.Members), file.Rewrites, n, err)
	}
}

// rewriteField counts in a field of its own, as Claude Code saves: under the folder
// lock, the whole file, by rename.
func rewriteField(config string, stop <-chan struct{}) (n int) {
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-stop:
			return n
		case <-pace.C:
		}
		if os.Mkdir(config+".lock", 0o700) != nil {
			continue
		}
		var all map[string]any
		data, err := os.ReadFile(config)
		if err == nil && json.Unmarshal(data, &all) == nil {
			all["rewrites"] = n + 1
			if data, err = json.MarshalIndent(all, "", "  "); err == nil &&
				os.WriteFile(config+".tmp", data, 0o600) == nil && os.Rename(config+".tmp", config) == nil {
				n++
			}
		}
		_ = os.Remove(config + ".lock")
	}
}

// parseAlways reads the file again and again.
func parseAlways(config string, stop <-chan struct{}) error {
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-stop:
			return nil
		case <-pace.C:
		}
		data, err := os.ReadFile(config)
		if err == nil && !json.Valid(data) {
			err = fmt.Errorf("%d bytes do not parse", len(data))
		}
		if err != nil {
			return err
		}
	}
}

// TestTD08_FoldersOfTwoSpellings: a roster that calls itself otherwise than its
// folder, and a folder of that other name beside it.
// https://github.com/anthropics/claude-code/issues/59169
func TestTD08_TD10_FoldersOfTwoSpellings(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	plant(r, "teams/alpha-team/config.json", sample(r, "name-differs-from-dir.json"))
	plant(r, "teams/Alpha_Team/inboxes/builder.json", []byte(`[{"from":"team-lead","text":"hello","timestamp":"2026-03-02T10:00:00.000Z","read":false}]`))
	show := into[api.Team](r, "team", "show", "alpha-team")
	if show.Name != "alpha-team" || len(show.Warnings) == 0 {
		t.Errorf("shown as %q with warnings %v", show.Name, show.Warnings)
	}
	if res := r.run("doctor"); !strings.Contains(res.out, "Alpha_Team") {
		t.Errorf("doctor does not name the other folder:\n%s", res.out)
	}
	r.must("team", "delete", "alpha-team")
	if _, err := os.Stat(r.path("base", "teams", "alpha-team")); err == nil {
		t.Error("the folder is still there")
	}
	for _, args := range [][]string{{"ps", "-t", "alpha-team"}, {"task", "ls", "-t", "alpha-team"}, {"inbox", "builder", "-t", "alpha-team"}, {"team", "show", "alpha-team"}} {
		if res := r.run(args...); res.exit != 3 || !strings.Contains(res.err, "TEAM_NOT_FOUND") {
			t.Errorf("%v of a deleted team: exit %d %s", args, res.exit, res.err)
		}
	}
	plant(r, "teams/alpha-team/config.json", sample(r, "name-differs-from-dir.json"))
	plant(r, "teams/Alpha_Team/config.json", sample(r, "name-differs-from-dir.json"))
	other := tree(t, r.path("base", "teams", "Alpha_Team"))
	r.must("team", "delete", "alpha-team")
	if got := tree(t, r.path("base", "teams", "Alpha_Team")); !maps.Equal(got, other) {
		t.Errorf("a team of another name was touched: %v", got)
	}
}

// TestUX06_NamesInOtherScripts: a roster with members in two scripts, each with a
// box of its own.
// https://github.com/NanmiCoder/dsh-agent-teams/issues/15
func TestUX06_NamesInOtherScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "220x60")
	plant(r, "teams/équipe-β/config.json", sample(r, "non-ascii.json"))
	for _, name := range []string{"研究員", "зодчий"} {
		if m := r.member(name); m.State != api.StateLost {
			t.Errorf("%s is %s", name, m.State)
		}
		putMail(r, "équipe-β", "team-lead", name, "for "+name)
	}
	for _, name := range []string{"研究員", "зодчий"} {
		if got := into[[]api.Message](r, "inbox", name); len(got) != 1 || got[0].Text != "for "+name {
			t.Errorf("the box of %s: %+v", name, got)
		}
	}
	if res := r.run("spawn", "工程師", "--kind", "native", "--", "sleep", "1000"); res.exit != 2 || !strings.Contains(res.err, "Claude Code does not take the name") {
		t.Errorf("a name that Claude Code does not take: exit %d %s", res.exit, res.err)
	}
}
