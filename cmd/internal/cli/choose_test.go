package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
)

// choice of a run with these variables and flags. ~ is the home, made with files.
func choiceOf(t *testing.T, env, flags, files map[string]string) (panes.Choice, string, error) {
	t.Helper()
	home := t.TempDir()
	environ := []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home}
	for k, v := range env {
		environ = append(environ, k+"="+v)
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := newApp(Stdio{Out: io.Discard, Err: io.Discard}, environ)
	t.Cleanup(a.close)
	for k, v := range flags {
		a.flags[k] = v
	}
	s, err := a.set(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.compose(s, teams.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	choice, err := a.choose(t.Context(), c)
	return choice, c.ownSocket(), err
}

func TestIT01_XS16_TheBackendIsChosenAndSaidWhy(t *testing.T) {
	type m = map[string]string
	for _, tc := range []struct {
		name              string
		env, flags, files m
		socket, why       string
		own               bool
	}{
		{"bare shell", nil, nil, nil, "", "not inside tmux: a session of our own", true},
		{"inside tmux", m{"TMUX": "/tmp/x,y,12,0"}, nil, nil, "/tmp/x,y", "inside tmux", false},
		{"flag over TMUX", m{"TMUX": "/tmp/x,12,0"}, m{"tmux-socket": "/tmp/f"}, nil, "/tmp/f", "--tmux-socket", false},
		{"variable over TMUX", m{"TMUX": "/tmp/x,12,0", "LEADLIGHT_TMUX_SOCKET": "/tmp/v"}, nil, nil, "/tmp/v", "LEADLIGHT_TMUX_SOCKET", false},
		{"asked for", m{"LEADLIGHT_BACKEND": "tmux"}, nil, nil, "", "asked for by LEADLIGHT_BACKEND", true},
		{"Claude's setting", nil, nil, m{".claude/settings.json": `{"teammateMode":"tmux"}`}, "", "settings.json", true},
		{"Claude's setting that is no mode", nil, nil, m{".claude/settings.json": `{"teammateMode":"bogus"}`}, "", `settings.json is no mode that is known`, true},
		{"Claude's setting that is not possible", nil, nil, m{".claude/settings.json": `{"teammateMode":"iterm2"}`}, "", "but not inside iTerm2", true},
		{"user file over Claude's", nil, nil, m{".config/leadlight/config.yaml": "backend: tmux\n", ".claude/settings.json": `{"teammateMode":"auto"}`}, "", "config.yaml:1:10", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, own, err := choiceOf(t, tc.env, tc.flags, tc.files)
			if err != nil {
				t.Fatal(err)
			}
			if tc.socket == "" {
				tc.socket = own
			}
			if c.Type != "tmux" || c.Socket != tc.socket || c.Own != tc.own || !strings.Contains(c.Why, tc.why) {
				t.Errorf("%+v, want socket %s because of %s", c, tc.socket, tc.why)
			}
		})
	}
}

// What is named and cannot serve is an error, never a silent fall-back.
func TestIT01_NoSilentFallBack(t *testing.T) {
	type m = map[string]string
	for _, tc := range []struct {
		name       string
		env, flags m
		code       fault.Code
		text       string
	}{
		{"iterm2", nil, m{"backend": "iterm2"}, fault.BackendUnavailable, "iTerm2"},
		{"inside", m{"ITERM_SESSION_ID": "w0t0p0:0EC1D2E3-A4B5-4C6D-8E9F-0123456789AB", "LEADLIGHT_BACKEND": "iterm2"}, nil, fault.BackendUnavailable, "iTerm2"},
		{"unknown", nil, m{"backend": "tmx"}, fault.BackendUnavailable, `did you mean "tmux"?`},
		{"a relative socket in TMUX", m{"TMUX": "sock,1,0"}, nil, fault.InvalidArgument, "relative"},
		{"a socket that is too long", nil, m{"tmux-socket": "/tmp/" + strings.Repeat("x", 120)}, fault.InvalidArgument, "125 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, _, err := choiceOf(t, tc.env, tc.flags, nil); fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%v, want %s with %q", err, tc.code, tc.text)
			}
		})
	}
	t.Run("no tmux on PATH", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		for _, env := range []m{{"LEADLIGHT_BACKEND": "tmux"}, {"LEADLIGHT_TMUX_SOCKET": "/tmp/v"}, {"TMUX": "/tmp/x,12,0"}} {
			_, _, err := choiceOf(t, env, nil, nil)
			if e := fault.Of(err); e == nil || e.Code != fault.BackendUnavailable {
				t.Errorf("with %v: %v", env, err)
			}
		}
	})
}

func TestM12_TheModesWithoutATerminal(t *testing.T) {
	type m = map[string]string
	check := func(name, why string, env, flags, files m) {
		t.Helper()
		c, own, err := choiceOf(t, env, flags, files)
		want := filepath.Join(filepath.Dir(own), "headless")
		if err != nil || c.Type != "headless" || c.Socket != want || !strings.Contains(c.Why, why) {
			t.Errorf("%s: %+v, %v, want headless in %s because of %q", name, c, err, want, why)
		}
	}
	check("flag", "--backend", m{"TMUX": "/tmp/x,12,0"}, m{"backend": "headless"}, nil)
	check("variable", "LEADLIGHT_BACKEND", m{"LEADLIGHT_BACKEND": "headless"}, nil, nil)
	check("Claude's setting", "settings.json", m{"TMUX": "/tmp/x,12,0"}, nil, m{".claude/settings.json": `{"teammateMode":"in-process"}`})
	t.Setenv("PATH", t.TempDir())
	check("no tmux on PATH", "not on PATH", nil, nil, nil)
	check("no tmux on PATH, auto", "not on PATH", nil, m{"backend": "auto"}, nil)
}

func TestXF01_WhoAsks(t *testing.T) {
	for _, tc := range []struct {
		agent, as string
		want      teams.Caller
		code      fault.Code
	}{
		{"", "", teams.Caller{Name: "team-lead"}, ""},
		{"", "bob", teams.Caller{Name: "bob"}, ""},
		{"bob", "", teams.Caller{Name: "bob", Teammate: true}, ""},
		{"bob", "bob", teams.Caller{Name: "bob", Teammate: true}, ""},
		{"bob", "eve", teams.Caller{}, fault.NotLead},
		{"bob", "team-lead", teams.Caller{}, fault.NotLead},
		{"", "../x", teams.Caller{}, fault.InvalidName},
		{"a/b", "", teams.Caller{}, fault.InvalidName},
		{"", "bob@alpha", teams.Caller{Name: "bob"}, ""},
		{"", "team-lead@alpha", teams.Caller{Name: "team-lead"}, ""},
		{"bob", "bob@alpha", teams.Caller{Name: "bob", Teammate: true}, ""},
		{"bob@alpha", "bob@beta", teams.Caller{}, fault.InvalidArgument},
		{"", "@alpha", teams.Caller{}, fault.InvalidName},
	} {
		a := newApp(Stdio{Out: io.Discard, Err: io.Discard}, []string{"HOME=/h", "LEADLIGHT_AGENT=" + tc.agent})
		if tc.as != "" {
			a.flags["as"] = tc.as
		}
		s, err := a.set(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.caller(s)
		if got != tc.want || fault.CodeOf(err) != tc.code || err == nil && strings.Contains(tc.as, "@") && s.Team.V != "alpha" {
			t.Errorf("%q as %q: %+v in %q, %v", tc.agent, tc.as, got, s.Team.V, err)
		}
	}
}
