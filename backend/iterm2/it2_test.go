package iterm2_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/iterm2"
	"github.com/leadlight-dev/leadlight/backend/iterm2/iterm2test"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// withIt2 starts a server that has the command line, too, and refuses everything else.
func withIt2(t backendtest.T) (s *iterm2test.Server, program string) {
	s = iterm2test.Start(t)
	bin := filepath.Join(s.Home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.It2(bin); err != nil {
		t.Fatal(err)
	}
	s.Refuse(401)
	return s, filepath.Join(bin, "it2")
}

func openIt2(t backendtest.T, s *iterm2test.Server, change func(*iterm2.It2Options)) *iterm2.It2 {
	o := iterm2.It2Options{
		Program: filepath.Join(s.Home, "bin", "it2"), Dir: filepath.Join(s.Home, "notes"), Timeout: 20 * time.Second, Begin: 20 * time.Second,
		Getenv: func(name string) string { return map[string]string{iterm2.Variable: "w0t0p0:" + s.Lead}[name] },
	}
	if change != nil {
		change(&o)
	}
	b, err := iterm2.NewIt2(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestIt2(t *testing.T) {
	for _, weakness := range (&iterm2.It2{}).Weaknesses() {
		t.Log("WEAK", weakness)
	}
	opts := backendtest.Opts{
		New: func(t backendtest.T) backendtest.Terminal {
			s, _ := withIt2(t)
			hasty := openIt2(t, s, func(o *iterm2.It2Options) { o.Timeout = 300 * time.Millisecond })
			return backendtest.Terminal{
				Backend: openIt2(t, s, nil), At: backend.Spec{Place: backend.Window, Target: backend.ID(s.Lead)},
				Focus: s.Focus, Other: func() backend.Backend { return openIt2(t, s, nil) },
				Freeze: s.Freeze, Hasty: hasty, Patience: 4 * time.Second,
			}
		},
		NoBorder: true, NoKill: true,
	}
	t.Logf("declared weak: %q", opts.Weaknesses())
	for _, c := range backendtest.Cases(opts) {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}

// A shell that takes its time, or throws away what it was given meanwhile, and one that
// never does what is typed.
func TestIt2_ShellsThatAreNotReady(t *testing.T) {
	for _, tc := range []struct {
		name, shell string
		opens       bool
		sessions    int // with the lead's
	}{
		{"slow", "/bin/sh -c 'sleep 0.5; exec /bin/sh'", true, 2},
		{"throws the first line away", "/bin/sh -c '[ -e HOME/x ] || { : > HOME/x; read -r x; read -r x; }; exec /bin/sh'", true, 2},
		{"deaf", "/bin/sleep 1000", false, 1},
		{"ends", "/bin/true", false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, _ := withIt2(t)
			s.Shell(strings.ReplaceAll(tc.shell, "HOME", s.Home))
			b := openIt2(t, s, func(o *iterm2.It2Options) { o.Begin = 2 * time.Second })
			stays := filepath.Join(s.Home, "ran")
			sp := spec("one", backend.ID(s.Lead))
			sp.Argv = []string{"sh", "-c", "echo ran >> " + stays + "; exec sleep 1000"}
			r := b.Open(t.Context(), []backend.Spec{sp})[0]
			if (r.Err == nil) != tc.opens || r.Err != nil && !errors.Is(r.Err, fault.SpawnFailed) && !errors.Is(r.Err, fault.BackendUnavailable) {
				t.Errorf("%v", r.Err)
			}
			if got := s.Sessions(); len(got) != tc.sessions {
				t.Errorf("%d sessions, want %d", len(got), tc.sessions)
			}
			ran, _ := os.ReadFile(stays)
			for end := time.Now().Add(10 * time.Second); tc.opens && len(ran) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				ran, _ = os.ReadFile(stays)
			}
			if got := strings.Count(string(ran), "ran"); tc.opens != (got == 1) {
				t.Errorf("it ran %d times", got)
			}
			if r.Err != nil {
				if _, err := os.Stat(filepath.Join(s.Home, "notes")); err == nil {
					t.Error("the folder of notes stays")
				}
			}
		})
	}
}

// What is closed by hand is not split, and what is not noted is not closed.
func TestIT02_It2(t *testing.T) {
	s, _ := withIt2(t)
	b := openIt2(t, s, nil)
	list := opened(t, b, spec("one", backend.ID(s.Lead)), spec("two", backend.ID(s.Lead)))
	s.CloseByHand(string(list[1].ID))
	three := opened(t, b, spec("three", list[1].ID))[0]
	if s.Size(string(three.ID)).Cols >= s.Size(s.Lead).Cols {
		t.Errorf("three is beside somebody else: %v", s.Size(string(three.ID)))
	}
	if err := b.Label(t.Context(), three.ID, three.Mark, backend.Label{Name: "three", State: "idle"}); err != nil || !strings.HasPrefix(s.Shown(string(three.ID)), "three · idle") {
		t.Errorf("it shows %q, %v", s.Shown(string(three.ID)), err)
	}
	// One that has left is closed all the same, if its session was kept; then it is forgotten.
	if err := b.Leave(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context(), list[0].ID, list[0].Mark); err != nil || s.Size(string(list[0].ID)).Cols != 0 {
		t.Errorf("one that has left: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(s.Home, "notes")); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context(), three.ID, three.Mark); !errors.Is(err, fault.Unproven) || s.Size(string(three.ID)).Cols == 0 {
		t.Errorf("without its note it was closed: %v", err)
	}
	own := spec("four", "")
	own.Place = backend.Session
	if err := b.Open(t.Context(), []backend.Spec{own})[0].Err; !errors.Is(err, fault.Unsupported) {
		t.Errorf("a window of its own: %v", err)
	}
}

// it2 is missing, hangs, is refused, or is another program.
func TestIT01_IT05_It2(t *testing.T) {
	for _, tc := range []struct{ name, script, says string }{
		{"missing", "", "no such file"},
		{"refused", "echo 'Error: HTTP 401' >&2; exit 2", "exit status 2: Error: HTTP 401"},
		{"hangs", "sleep 1000", "did not end within 300ms"},
		{"another program", "echo usage: it2 split", `gave no list but "usage: it2 split"`},
		{"another list", `echo '{"sessions":[]}'`, "gave no list"},
		{"no list", "echo null", "gave no list"},
		{"lists, and splits in vain", `case $2 in list) echo '[{"id":"ID","window_id":1,"tab_id":2}]';; split) echo 'Error: Failed to split pane' >&2; exit 1;; esac`, "Failed to split pane"},
		{"splits without a word", `case $2 in list) echo '[{"id":"ID","window_id":1,"tab_id":2}]';; esac`, "does not tell which session"},
		{"names an old session", `case $2 in list) echo '[{"id":"ID","window_id":1,"tab_id":2}]';; split) echo 'Created new pane: ID';; esac`, "does not tell which session"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			const lead = "0EC1D2E3-A4B5-4C6D-8E9F-0123456789AB"
			dir := t.TempDir()
			program := filepath.Join(dir, "it2")
			if tc.script != "" {
				if err := iterm2test.Program(program, "#!/bin/sh\n"+strings.ReplaceAll(tc.script, "ID", lead)+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			timeout := 20 * time.Second
			if tc.name == "hangs" {
				timeout = 300 * time.Millisecond
			}
			b, err := iterm2.NewIt2(iterm2.It2Options{Program: program, Dir: filepath.Join(dir, "notes"), Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			err = b.Open(t.Context(), []backend.Spec{spec("one", lead)})[0].Err
			e := fault.Of(err)
			if !errors.Is(err, fault.BackendUnavailable) || !strings.Contains(fmt.Sprint(err), tc.says) || e.Hint == "" {
				t.Errorf("%v (hint %q), want %q", err, e.Hint, tc.says)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if _, err := os.Stat(filepath.Join(dir, "notes")); err == nil {
				t.Error("the folder of notes is there")
			}
		})
	}
}
