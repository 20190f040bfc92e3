package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/GianlucaP106/gotmux/gotmux"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// hard are words that somebody between us and a program has spoilt before.
var hard = []string{
	"two words", "it's", `say "hi"`, "a;b", "closing;", ";", "line one\nline two", "$HOME", "`id`", "$(touch X)",
	"", "-rf", "--", "#{pane_id}", "#(touch X)", "%0", "!x", `back\slash`, "tab\tstop", "研究員", "*", "~",
}

// crew is ten teammates whose words, folders, variables and prompts are hard.
type crew struct {
	r       *rig
	dir     string
	prompts map[string]string
}

func newCrew(r *rig) *crew {
	r.t.Helper()
	c := &crew{r: r, dir: r.path("work", "my dir;", "it's $(touch X) `id` #(touch X) #{pid}"), prompts: map[string]string{}}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	for i, name := range c.names() {
		size := 1
		if i%7 == 0 { // two of 100 KB are enough to show that the size does not matter
			size = 100 << 10 / 26
		}
		c.prompts[name] = fmt.Sprintf("%d: %s", i, strings.Repeat("a $HOME; 'q' \"d\" `x` 研\n", size))
	}
	return c
}

func (c *crew) names() []string {
	var out []string
	for i := range 10 {
		out = append(out, fmt.Sprintf("member-%d", i))
	}
	return out
}

func (c *crew) file(name string) string { return c.r.path("seen-" + name) }

func (c *crew) argv(name string) []string {
	return c.r.stub("record", append([]string{c.file(name), "I am " + name}, hard...)...)
}

const hardValue = "a=b;c 'd' \"e\"\n$HOME `f`;"

// check looks at all ten from every side.
func (c *crew) check(team string) {
	r := c.r
	r.t.Helper()
	roster := rosterOf(r, team)
	for _, name := range c.names() {
		var rec record
		r.eventually(name+" has recorded what it sees", func() bool {
			b, err := os.ReadFile(c.file(name))
			return err == nil && json.Unmarshal(b, &rec) == nil
		})
		if want := append([]string{"I am " + name}, hard...); !slices.Equal(rec.Argv, want) {
			r.t.Errorf("%s: argv %q, want %q", name, rec.Argv, want)
		}
		if rec.Dir != c.dir {
			r.t.Errorf("%s: works in %q, want %q", name, rec.Dir, c.dir)
		}
		for _, kv := range []string{"HARD=" + hardValue, "WHO=" + name, "LEADLIGHT_AGENT=" + name, "LEADLIGHT_TEAM=" + team} {
			if !slices.Contains(rec.Env, kv) {
				r.t.Errorf("%s: %q is not in its environment", name, kv)
			}
		}
		if slices.Contains(rec.Env, "GOMAXPROCS=1") && os.Getenv("GOMAXPROCS") != "1" {
			r.t.Errorf("%s: it has what its host was started with", name)
		}
		if rec.TTY != [3]bool{true, true, true} {
			r.t.Errorf("%s: terminals %v", name, rec.TTY)
		}
		m := roster.Member(name)
		if m == nil {
			r.t.Fatalf("%s is not in the roster", name)
		}
		r.eventually("the pane of "+name+" shows it", func() bool { return r.screenHas(api.Member{Name: name, TmuxPaneID: m.TmuxPaneID}, "recorded "+name) })
		var box []struct {
			Text string
			Read bool
		}
		data, err := os.ReadFile(r.path("base", "teams", team, "inboxes", name+".json"))
		if err == nil {
			err = json.Unmarshal(data, &box)
		}
		if err != nil || len(box) == 0 || box[0].Text != c.prompts[name] || box[0].Read {
			r.t.Errorf("%s: its first message is not intact: %d messages, %v", name, len(box), err)
		}
	}
	if r.isHeadless() {
		if got := r.headlessPanes(); !slices.Equal(got, c.names()) {
			r.t.Errorf("panes without a terminal: %v", got)
		}
	} else {
		c.checkPanes(roster)
	}
	for _, x := range []string{c.dir, r.path("work"), r.path("home")} {
		if _, err := os.Stat(x + "/X"); err == nil {
			r.t.Errorf("a shell made %s/X", x)
		}
	}
}

// checkPanes looks at the panes as tmux and a second witness have them.
func (c *crew) checkPanes(roster store.Team) {
	r := c.r
	r.t.Helper()
	witness, err := gotmux.NewTmux(r.tmux.Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	panes := map[string]bool{}
	for _, name := range c.names() {
		m := roster.Member(name)
		if m.BackendType != "tmux" || panes[m.TmuxPaneID] || m.TmuxPaneID == r.lead {
			r.t.Fatalf("%s: the roster says %+v", name, m)
		}
		panes[m.TmuxPaneID] = true
		if p := seenByGotmux(r, witness, m.TmuxPaneID); p == nil || p.Dead {
			r.t.Errorf("%s: gotmux sees %+v as pane %s", name, p, m.TmuxPaneID)
		}
	}
	for pane := range panes { // nobody's command was typed anywhere
		if text := r.tmux.Run("capture-pane", "-p", "-S", "-", "-t", pane); strings.Contains(text, "teammate") || strings.Contains(text, "I am") {
			r.t.Errorf("pane %s holds a command: %q", pane, text)
		}
	}
	if n := r.open(); n != 10 {
		r.t.Errorf("%d panes, want ten", n)
	}
	if got := r.tmux.Format(r.lead, "#{pane_active}#{window_active}"); got != "11" {
		r.t.Errorf("the lead's pane and window are no longer in front: %s", got)
	}
}

// seenByGotmux asks a second witness about a pane. It panics on some servers'
// answers, which is then its word.
func seenByGotmux(r *rig, t *gotmux.Tmux, id string) (pane *gotmux.Pane) {
	r.t.Helper()
	defer func() {
		if p := recover(); p != nil {
			r.t.Errorf("gotmux: %v", p)
		}
	}()
	all, err := t.ListAllPanes()
	if err != nil {
		r.t.Errorf("gotmux: %v", err)
	}
	for _, p := range all {
		if p.Id == id {
			return p
		}
	}
	return nil
}

// TestQU01_QU10_EN01_EN08_EN09_SE09_TenFromOneFile: up starts ten teammates from a
// file in which every word is a trap.
// https://github.com/diazoxide/charter/issues/957
func TestQU01_QU10_EN01_EN08_EN09_SE09_TenFromOneFile(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		c := newCrew(r)
		var members []map[string]any
		for _, name := range c.names() {
			members = append(members, map[string]any{"name": name, "command": c.argv(name), "cwd": c.dir, "prompt": c.prompts[name],
				"env": map[string]string{"HARD": hardValue, "WHO": name}})
		}
		file, err := json.Marshal(map[string]any{"team": "ten-of-us", "members": members,
			"tasks": []any{map[string]any{"subject": "never done", "owner": "member-0"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.path("work", "leadlight.yaml"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		up := r.start(nil, "up")
		r.eventually("ten teammates are there", func() bool { return r.run("ps", "-t", "ten-of-us", "--json").exit == 0 && r.alive("ten-of-us") == 10 })
		r.eventually("up has made everything", func() bool { return len(boxOf(r, "ten-of-us", "member-0")) > 1 })
		c.check("ten-of-us")
		up.signal(syscall.SIGINT)
		if res := up.wait(); res.exit != 130 || !strings.Contains(res.err, "teammates go on") {
			t.Errorf("interrupted: exit %d, %s", res.exit, res.err)
		}
		if n := r.alive("ten-of-us"); n != 10 {
			t.Errorf("after the lead left %d go on", n)
		}
		r.must("down", "ten-of-us", "--timeout", "1s")
	})
}

// alive counts a team's active members.
func (r *rig) alive(team string) (n int) {
	var all []api.Member
	_ = json.Unmarshal([]byte(r.run("ps", "-t", team, "--json").out), &all)
	for _, m := range all {
		if m.State == api.StateActive && m.TmuxPaneID != "" { // the roster names its pane last
			n++
		}
	}
	return n
}

// TestSP02_TenAtOneInstant: ten spawns begin together.
// https://github.com/anthropics/claude-code/issues/23615
func TestSP02_TenAtOneInstant(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		c := newCrew(r)
		runs := map[string]*running{}
		for _, name := range c.names() {
			if err := os.WriteFile(r.path("prompt-"+name), []byte(c.prompts[name]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range c.names() {
			runs[name] = r.start(nil, append([]string{"spawn", name, "--prompt", "@" + r.path("prompt-"+name), "--cwd", c.dir,
				"--env", "HARD=" + hardValue, "--env", "WHO=" + name, "--"}, c.argv(name)...)...)
		}
		for name, run := range runs {
			if res := run.wait(); res.exit != 0 {
				t.Errorf("spawn %s: exit %d, %s", name, res.exit, res.err)
			}
		}
		c.check("alpha")
	})
}

// TestSP03_LongerThanAnyLine: name, folder and argument at their limits.
// https://github.com/anthropics/claude-code/issues/42391
func TestSP03_LongerThanAnyLine(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *rig) {
		r.team("alpha")
		name, dir := strings.Repeat("n", 60), r.path("work")
		for len(dir) < 700 {
			dir += "/" + strings.Repeat("d", 100)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("0123456789abcde;", 9<<10/16)
		r.spawn(name, []string{"--cwd", dir}, r.stub("record", r.path("seen"), "--settings", long)...)
		var rec record
		r.eventually("it has recorded", func() bool {
			b, err := os.ReadFile(r.path("seen"))
			return err == nil && json.Unmarshal(b, &rec) == nil
		})
		if !slices.Equal(rec.Argv, []string{"--settings", long}) || rec.Dir != dir {
			t.Errorf("got %d words in %s", len(rec.Argv), rec.Dir)
		}
		if res := r.run("stop", name, "--timeout", "1s"); res.exit != 0 {
			t.Errorf("stop: %s", res.err)
		}
	})
}
