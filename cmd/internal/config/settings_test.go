package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
)

// machine is a home with settings files, and the variables that lead there.
func machine(t *testing.T, env map[string]string, files map[string]string) (home string, getenv func(string) string) {
	t.Helper()
	home = t.TempDir()
	for name, content := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, func(name string) string {
		if v, ok := env[name]; ok {
			return strings.ReplaceAll(v, "~", home)
		}
		if name == "HOME" {
			return home
		}
		return ""
	}
}

func TestEN02_TheBaseDirectory(t *testing.T) {
	for _, tc := range []struct {
		name   string
		env    map[string]string
		flags  map[string]string
		want   string
		origin string
	}{
		{"default", nil, nil, "~/.claude", "default"},
		{"claude's home", map[string]string{"CLAUDE_CONFIG_DIR": "~/c"}, nil, "~/c", "CLAUDE_CONFIG_DIR"},
		{"our own variable is stronger", map[string]string{"CLAUDE_CONFIG_DIR": "~/c", "LEADLIGHT_BASE_DIR": "~/l"}, nil, "~/l", "LEADLIGHT_BASE_DIR"},
		{"the flag is strongest", map[string]string{"LEADLIGHT_BASE_DIR": "~/l"}, map[string]string{"base-dir": "/f"}, "/f", "--base-dir"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home, getenv := machine(t, tc.env, nil)
			s, err := Load(Sources{Getenv: getenv, Flags: tc.flags})
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(tc.want, "~", home); s.BaseDir.V != want || s.BaseDir.Origin.String() != tc.origin {
				t.Errorf("%s from %s, want %s from %s", s.BaseDir.V, s.BaseDir.Origin, want, tc.origin)
			}
		})
	}
	_, err := Load(Sources{Getenv: func(string) string { return "" }})
	if fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("without HOME: %v", err)
	}
}

func TestProfilesThatATeamFileNames(t *testing.T) {
	home, getenv := machine(t, nil, map[string]string{".config/leadlight/config.yaml": "profiles:\n  mine: {kind: plain, command: [x]}\n"})
	for _, c := range []struct{ text, want string }{
		{"team: abc\ndefaults: {agent: codex}\nmembers:\n- {name: a, agent: mine}\n- {name: b, agent: own}\nprofiles:\n  own: {kind: plain, command: [y]}\n", ""},
		{"team: abc\nmembers:\n- name: a\n  agent: gemni\n", `t.yaml:4:10: there is no profile "gemni"; did you mean "gemini"?`},
		{"team: abc\ndefaults:\n  agent: nobody\n", `t.yaml:3:10: there is no profile "nobody"`},
	} {
		f, err := ParseTeamFile("t.yaml", home, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Load(Sources{Getenv: getenv, Team: f})
		if c.want == "" && err != nil || c.want != "" && (fault.CodeOf(err) != fault.TeamFile || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s\n%v, want %s", c.text, err, c.want)
		}
	}
}

func TestEverySettingKnowsItsOrigin(t *testing.T) {
	home, getenv := machine(t, map[string]string{"LEADLIGHT_BACKEND": "tmux"}, map[string]string{
		".config/leadlight/config.yaml": "backend: iterm2\ntmuxSocket: /s\nlayout: {arrange: tiled, min: 50x12}\ndefaults: {agent: mine, model: big}\nengine: nats://hub:4222\n" +
			"lifecycle: {ask: 1s, term: 2s}\nprofiles:\n  mine: {kind: plain, command: [x]}\n",
	})
	f, err := ParseTeamFile("t.yaml", home, []byte("team: abc\nlifecycle: {ask: 3s}\nmembers:\n- name: a\n- {name: b, agent: shell, run: ls}\nprofiles:\n  theirs: {kind: plain, command: [y]}\n  mine: {quit: bye}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(Sources{Getenv: getenv, Team: f, Flags: map[string]string{"team": "abc"}})
	if err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(home, ".config/leadlight/config.yaml")
	got := map[string]Line{}
	for _, l := range s.Lines() {
		got[l.Name] = l
	}
	for _, want := range []Line{
		{"backend", "tmux", "LEADLIGHT_BACKEND"},
		{"team", "abc", "--team"},
		{"tmux-socket", "/s", user + ":2:13"},
		{"layout.arrange", "tiled", user + ":3:19"},
		{"layout.min columns", "50", user + ":3:31"},
		{"layout.main", "40%", "default"},
		{"defaults.agent", "mine", user + ":4:19"},
		{"lifecycle.ask", "3s", "t.yaml:2:18"},
		{"lifecycle.term", "2s", user + ":6:28"},
		{"engine", "nats://hub:4222", user + ":5:9"},
		{"lifecycle.kill", "2s", "default"},
	} {
		if got[want.Name] != want {
			t.Errorf("got %v, want %v", got[want.Name], want)
		}
	}
	if s.Profiles["mine"].Command == nil || s.Profiles["mine"].Quit != "bye" || s.Profiles["theirs"].Command == nil {
		t.Errorf("profiles: %v", s.Profiles)
	}
	plan := f.Plan
	s.Complete(&plan)
	if plan.Members[0].Profile != "mine" || plan.Members[1].Profile != "shell" || plan.Members[1].Layout.MinCols != 50 {
		t.Errorf("%+v", plan.Members)
	}
	if s.Limits() != (teams.Limits{Ask: 3 * time.Second, Term: 2 * time.Second, Kill: 2 * time.Second, Ready: 20 * time.Second, MaxTeammates: 64, OnLeadExit: "keep", OnLoss: "release", Silent: 10 * time.Minute, Assign: "auto"}) {
		t.Errorf("%+v", s.Limits())
	}
}

func TestAMistakeInTheUserFileIsTold(t *testing.T) {
	for content, want := range map[string]string{
		"bakend: tmux\n":            `config.yaml:1:1: unknown key "bakend" in the user's settings; did you mean "backend"?`,
		"team: abc\n":               `config.yaml:1:1: unknown key "team"`,
		"defaults: {cwd: /x}\n":     `config.yaml:1:17: cwd belongs into a team file`,
		"lifecycle: {ask: never}\n": `config.yaml:1:18: ask: "never" is not a time`,
		"engine: hub\n":             `config.yaml:1:9: "hub" is not the address of an engine`,
		"a: [\n":                    `config.yaml:1:4: not YAML`,
	} {
		_, getenv := machine(t, nil, map[string]string{".config/leadlight/config.yaml": content})
		_, err := Load(Sources{Getenv: getenv})
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), want) || fault.Of(err).Hint == "" {
			t.Errorf("%q: %v, want %s and a hint", content, err, want)
		}
	}
	_, getenv := machine(t, map[string]string{"XDG_CONFIG_HOME": "~/x"}, map[string]string{"x/leadlight/config.yaml": "# nothing\n"})
	if _, err := Load(Sources{Getenv: getenv}); err != nil {
		t.Errorf("an empty user file: %v", err)
	}
	_, getenv = machine(t, map[string]string{"XDG_CONFIG_HOME": "/dev/null"}, nil)
	if _, err := Load(Sources{Getenv: getenv}); err != nil {
		t.Errorf("a folder that is none: %v", err)
	}
}

func TestM12_ClaudesTeammateModeIsRead(t *testing.T) {
	for _, tc := range []struct {
		name       string
		env, files map[string]string
		mode, file string
	}{
		{"none", nil, nil, "", ""},
		{"settings.json", nil, map[string]string{".claude/settings.json": `{"teammateMode":"tmux"}`, ".claude.json": `{"teammateMode":"auto"}`}, "tmux", ".claude/settings.json"},
		{"an older client", nil, map[string]string{".claude/settings.json": `{}`, ".claude.json": `{"teammateMode":"in-process"}`}, "in-process", ".claude.json"},
		{"another home", map[string]string{"CLAUDE_CONFIG_DIR": "~/h"}, map[string]string{"h/settings.json": `{"teammateMode":"auto"}`, ".claude.json": `{"teammateMode":"tmux"}`}, "auto", "h/settings.json"},
		{"damaged", nil, map[string]string{".claude/settings.json": `{"teammateMode":`}, "", ""},
		{"another type", nil, map[string]string{".claude/settings.json": `{"teammateMode":3}`}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home, getenv := machine(t, tc.env, tc.files)
			mode, file := ClaudeMode(getenv)
			if rel := strings.TrimPrefix(file, home+"/"); mode != tc.mode || rel != tc.file {
				t.Errorf("%q in %q, want %q in %q", mode, rel, tc.mode, tc.file)
			}
		})
	}
}

func TestEverySettingHasAnEnvironmentOrAFlagOnce(t *testing.T) {
	names, flags := map[string]bool{}, map[string]bool{}
	for _, v := range Variables() {
		if (v.Name != "" && names[v.Name]) || (v.Flag != "" && flags[v.Flag]) {
			t.Errorf("twice: %+v", v)
		}
		names[v.Name], flags[v.Flag] = true, true
		if v.Name != "" && v.Doc == "" {
			t.Errorf("%s has no description", v.Name)
		}
	}
	for _, name := range strings.Fields("LEADLIGHT_BASE_DIR LEADLIGHT_TEAM LEADLIGHT_AGENT LEADLIGHT_BACKEND LEADLIGHT_TMUX_SOCKET LEADLIGHT_DEBUG CLAUDE_CONFIG_DIR TMUX TMUX_PANE ITERM_SESSION_ID NO_COLOR") {
		if !names[name] {
			t.Errorf("%s is not in the table", name)
		}
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	for _, s := range append(TeamFileSections(), UserFileSection()) {
		for _, k := range s.Keys {
			if k.Name == "" || k.Form == "" || k.Doc == "" {
				t.Errorf("%s: %+v", s.Title, k)
			}
		}
	}
}

// TestC11_ModelsOfPreferences: the table that a preference is looked up in.
func TestC11_ModelsOfPreferences(t *testing.T) {
	_, getenv := machine(t, nil, map[string]string{".config/leadlight/config.yaml": "models: {claude: {cheaper: sonnet}, mine: {smarter: big}}\nlifecycle: {maxParallel: 3}\n"})
	s, err := Load(Sources{Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]string{
		"sonnet": s.Models["claude"]["cheaper"], "opus": s.Models["claude"]["smarter"], "haiku": s.Models["claude-worker"]["cheaper"], "big": s.Models["mine"]["smarter"],
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if s.MaxParallel.V != 3 || s.MaxParallel.Origin.Layer != UserFile {
		t.Errorf("%+v", s.MaxParallel)
	}
	_, getenv = machine(t, nil, map[string]string{".config/leadlight/config.yaml": "models: {claude: {best: opus}}\n"})
	if _, err := Load(Sources{Getenv: getenv}); err == nil || !strings.Contains(err.Error(), `unknown key "best"`) {
		t.Error(err)
	}
}
