package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shim is leadlight called by the name tmux.
type shim struct {
	*rig
	backend string
}

func (s shim) tmuxCall(args ...string) result {
	s.t.Helper()
	c := exec.Command(s.path("shim", "tmux"), args...)
	c.Dir, c.Env = s.path("work"), append(append([]string{}, s.env...), "LEADLIGHT_BACKEND="+s.backend)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return result{out: out.String(), err: errs.String(), exit: c.ProcessState.ExitCode()}
}

func newShim(t *testing.T, r *rig, backend string) shim {
	t.Helper()
	if err := os.Mkdir(r.path("shim"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(r.bin, r.path("shim", "tmux")); err != nil {
		t.Fatal(err)
	}
	return shim{r, backend}
}

// row is one call of tmux as the client made it, with tmux's own answer.
type row struct {
	Argv   []string
	Status int
	Out    string
	Err    string
}

// What two generations of the client ask tmux, and tmux's answers, word for word: a
// team outside tmux with three teammates, of which some leave by themselves.
func TestTmuxShimReplaysTheClient(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"2.1.41", "2.1.332"} {
		for _, by := range []string{"headless", "iterm2"} {
			t.Run(client+" "+by, func(t *testing.T) {
				t.Parallel()
				r, server := inITerm2(t)
				s := newShim(t, r, by)
				s.replay("testdata/tmux-shim/" + client + ".jsonl")
				for _, id := range []string{"%0", "%1", "%2"} { // who is left
					s.tmuxCall("-L", "claude-swarm-1", "kill-pane", "-t", id)
				}
				r.onlyTheLead(server)
				s.eventually("nothing is left in the run folder", func() bool { // of those who left by themselves
					_, err := os.ReadDir(r.path("run", "leadlight"))
					return err != nil
				})
			})
		}
	}
}

func (s shim) replay(file string) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var want row
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			s.t.Fatal(err)
		}
		target := want.Argv[len(want.Argv)-1]
		for i, word := range want.Argv {
			switch {
			case word == "-t":
				target = want.Argv[i+1]
			case word == "COMMAND": // until it is told to leave, and then by itself
				want.Argv[i] = "touch '" + s.path("begun-"+target) + "'; while ! [ -e '" + s.path("leave-"+target) + "' ]; do sleep 0.02; done; rm '" + s.path("leave-"+target) + "'"
			}
		}
		if want.Err != "" && strings.HasPrefix(target, "%") {
			s.leaves(target)
		}
		got := s.tmuxCall(want.Argv...)
		if got.out != want.Out || got.exit != want.Status || !strings.Contains(got.err, want.Err) || want.Err == "" && got.err != "" {
			s.t.Errorf("%q: %d %q %q, tmux: %d %q %q", want.Argv, got.exit, got.out, got.err, want.Status, want.Out, want.Err)
		}
	}
}

// leaves lets a teammate end by itself.
func (s shim) leaves(pane string) {
	s.t.Helper()
	s.eventually("the program of "+pane+" has begun", func() bool { _, err := os.Stat(s.path("begun-" + pane)); return err == nil })
	if err := os.WriteFile(s.path("leave-"+pane), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.eventually(pane+" is gone", func() bool {
		return s.tmuxCall("-L", "claude-swarm-1", "display-message", "-t", pane, "-p", "x").exit == 1
	})
}

// The lead tells people to run tmux attach: what a pane without a terminal shows is drawn
// there, and it gets what they type.
func TestTmuxShimShowsAPane(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	s := newShim(t, r, "headless")
	s.tmuxCall("-L", "x", "new-session", "-d", "-s", "s", "-n", "w")
	if got := s.tmuxCall("-L", "x", "capture-pane", "-p", "-t", "%0"); got.exit != 1 || !strings.Contains(got.err, "no program yet") {
		t.Errorf("before it begins: %d %s", got.exit, got.err)
	}
	s.tmuxCall("-L", "x", "respawn-pane", "-k", "-t", "%0", "--", "echo 研究; while read -r line; do echo \"got $line\"; done")
	s.eventually("it is captured", func() bool {
		return strings.Contains(s.tmuxCall("-L", "x", "capture-pane", "-p", "-t", "%0").out, "研究\n")
	})
	p := r.sits(t, 24, 80, "tmux-shim", "-L", "x", "a")
	p.sees(r, "研究")
	p.types("hello\r")
	p.sees(r, "got hello")
	if got := s.tmuxCall("-L", "x", "send-keys", "-t", "%0", "no", " enter", " between", "Enter"); got.exit != 0 {
		t.Errorf("send-keys: %d %s", got.exit, got.err)
	}
	p.sees(r, "got no enter between")
	if got := s.tmuxCall("-L", "x", "send-keys", "-t", "%0", "typed", "Up"); got.exit != 2 || !strings.Contains(got.err, `the key "Up"`) {
		t.Errorf("a key that cannot be pressed: %d %s", got.exit, got.err)
	}
	s.tmuxCall("-L", "x", "send-keys", "-l", "-t", "%0", "Up")
	s.tmuxCall("-L", "x", "send-keys", "-t", "%0", "Enter")
	p.sees(r, "got Up")
	p.types("\x1cd")
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("detached: %v", err)
	}
	if got := s.tmuxCall("-L", "x", "kill-pane", "-t", "%0"); got.exit != 0 {
		t.Errorf("kill: %d %s", got.exit, got.err)
	}
}

// A program may have ended, as one that cannot start, before anybody has met its host:
// nobody waits for that.
func TestTmuxShimOfAShortProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	s := newShim(t, r, "headless")
	slow, rounds := 0, 5
	for range rounds {
		begun := time.Now()
		got := s.tmuxCall("-L", "x", "new-session", "-d", "-s", "s", "-P", "-F", "#{pane_id}", "--", r.path("no-such-program"), "x")
		if got.exit != 0 || got.out != "%0\n" {
			t.Fatalf("%d %q %q", got.exit, got.out, got.err)
		}
		if time.Since(begun) > 15*time.Second {
			slow++
		}
		s.eventually("it is gone", func() bool {
			return strings.Contains(s.tmuxCall("-L", "x", "has-session", "-t", "s").err, "no server running")
		})
	}
	if slow == rounds { // who is waited for is so each time
		t.Error("a host that has ended is waited for")
	}
	s.eventually("nothing is left in the run folder", func() bool {
		left, err := os.ReadDir(r.path("run", "leadlight"))
		return err != nil || len(left) == 0
	})
}

// What the shim does not know fails by name and changes nothing; and it puts no pane into
// the tmux that it stands for.
func TestTmuxShimRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	s := newShim(t, r, "headless")
	for _, tc := range []struct {
		args []string
		exit int
		says string
	}{
		{[]string{"choose-tree"}, 2, `the tmux verb "choose-tree" (UNSUPPORTED)`},
		{[]string{"-L", "x", "kill-pane", "-Z"}, 2, "flag -Z"},
		{[]string{"-L", "x", "list-panes", "-t", "y"}, 1, "no server running on x"},
		{[]string{"host", "/no/such/file"}, 2, "INVALID_ARGUMENT"},
	} {
		if got := s.tmuxCall(tc.args...); got.exit != tc.exit || !strings.Contains(got.err, tc.says) || got.out != "" {
			t.Errorf("%q: %d %q %q", tc.args, got.exit, got.out, got.err)
		}
	}
	s.tmuxCall("-L", "x", "new-session", "-d", "-s", "s", "-n", "w")
	into := s
	into.backend = "tmux"
	if got := into.tmuxCall("-L", "x", "respawn-pane", "-k", "-t", "%0", "--", "sleep 1000"); got.exit != 2 || !strings.Contains(got.err, "cannot put panes into tmux") {
		t.Errorf("into tmux: %d %s", got.exit, got.err)
	}
	if got := s.tmuxCall("-L", "x", "respawn-pane", "-k", "-t", "%0", "--", "sleep 1000"); got.exit != 0 {
		t.Errorf("afterwards: %d %s", got.exit, got.err)
	}
	if got := s.tmuxCall("-L", "x", "respawn-pane", "-k", "-t", "%0", "--", "sleep 1000"); got.exit != 2 {
		t.Errorf("a second program: %d %s", got.exit, got.err)
	}
	if got := s.tmuxCall("-L", "x", "attach"); got.exit != 1 || !strings.Contains(got.err, "not a terminal") {
		t.Errorf("attach: %d %s", got.exit, got.err)
	}
	if got := s.tmuxCall("-L", "x", "kill-pane", "-t", "%0"); got.exit != 0 {
		t.Errorf("kill: %d %s", got.exit, got.err)
	}
}

// What calls that were killed have left is told by doctor and removed by gc, and nothing
// else is.
func TestGCAfterTheShim(t *testing.T) {
	t.Parallel()
	r := newRig(t, "")
	s := newShim(t, r, "headless")
	folder := r.path("run", "leadlight", "shim")
	for _, name := range []string{"stays", "lost"} {
		s.tmuxCall("-L", name, "new-session", "-d", "-s", "s", "-n", "w")
		if got := s.tmuxCall("-L", name, "respawn-pane", "-k", "-t", "%0", "--", "exec sleep 1000"); got.exit != 0 {
			t.Fatalf("%s: %s", name, got.err)
		}
	}
	if doctor := r.must("doctor"); !strings.Contains(doctor, "stays (1 panes)") || strings.Contains(doctor, "that were killed") {
		t.Errorf("doctor: %s", doctor)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "server-*.json"))
	for _, file := range files { // as if the call that should have written it had been killed
		if data, _ := os.ReadFile(file); bytes.Contains(data, []byte(`"lost"`)) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "launch-NOBODY"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "DEAD.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()

	if doctor := r.must("doctor"); !strings.Contains(doctor, "3 things left by calls that were killed") {
		t.Errorf("doctor: %s", doctor)
	}
	said := r.must("gc", "--dry-run")
	for _, want := range []string{"tmux-shim's server lost: no server of tmux-shim names it", "launch-NOBODY: no host took it", "DEAD.sock: nobody listens on it"} {
		if !strings.Contains(said, want) {
			t.Errorf("gc does not say %q but\n%s", want, said)
		}
	}
	if again := r.must("gc", "--dry-run"); again != said {
		t.Errorf("to look has changed something:\n%s", again)
	}
	if said := r.must("gc"); strings.Count(said, "removed ")+strings.Count(said, "closed ") != 3 || strings.Contains(said, "kept") {
		t.Errorf("gc says\n%s", said)
	}
	if said := r.must("gc"); strings.Contains(said, "removed ") {
		t.Errorf("gc again says\n%s", said)
	}
	if list, _ := filepath.Glob(r.path("run", "leadlight", "headless", "*.json")); len(list) != 1 {
		t.Errorf("the panes are %v", list)
	}
	if got := s.tmuxCall("-L", "stays", "kill-pane", "-t", "%0"); got.exit != 0 {
		t.Errorf("kill: %d %s", got.exit, got.err)
	}
	if left, err := os.ReadDir(r.path("run", "leadlight")); err == nil {
		t.Errorf("left in the run folder: %v", left)
	}
}
