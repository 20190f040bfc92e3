package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

func TestExitCodes(t *testing.T) {
	h := newHost(t, Options{})
	for _, pipes := range []bool{false, true} {
		for _, tc := range []struct {
			script, signal string
			code           int
		}{
			{"exit 0", "", 0}, {"exit 1", "", 1}, {"exit 137", "", 137},
			{"kill -KILL $$", "SIGKILL", 137}, {"kill -TERM $$", "SIGTERM", 143}, {"kill -SEGV $$", "SIGSEGV", 139},
		} {
			c := shell(tc.script)
			c.Pipes = pipes
			exit, err := h.Run(limited(t), c)
			if err != nil || exit.Code != tc.code || exit.Signal != tc.signal {
				t.Errorf("%s (pipes %v): %+v, %v", tc.script, pipes, exit, err)
			}
			if s := h.Status(); s.ExitCode == nil || *s.ExitCode != tc.code || s.Signal != tc.signal || s.Agent != nil {
				t.Errorf("%s: status %+v", tc.script, s)
			}
		}
	}
}

// https://github.com/anthropics/claude-code/issues/72985
func TestSP11_DeathAtOnceIsToldWithLastLines(t *testing.T) {
	h := newHost(t, Options{})
	exit, err := h.Run(limited(t), shell("echo first; echo 'no key configured' >&2; exit 3"))
	if err != nil || exit.Code != 3 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if tail := h.Tail(1); tail != "no key configured\n" {
		t.Errorf("tail %q", tail)
	}
}

func TestSP11_MissingProgram(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("only-theirs", "#!/bin/sh\nexit 7\n", 0o700)
	h := newHost(t, Options{})
	for _, tc := range []struct {
		name, program, path string
		want                fault.Code
		says                string
	}{
		{"not in the PATH", "no-such-agent", "/bin:/usr/bin", fault.ProgramNotFound, "no-such-agent"},
		{"in our PATH but not in theirs", "sh", dir, fault.ProgramNotFound, `"sh"`},
		{"no PATH at all", "sh", "", fault.ProgramNotFound, `"sh"`},
		{"an absolute path", filepath.Join(dir, "gone"), "", fault.ProgramNotFound, "gone"},
		{"not executable", write("text", "x", 0o600), "", fault.PermissionDenied, "text"},
		{"a folder", dir, "", fault.ProgramNotFound, dir},
		{"its interpreter is missing", write("script", "#!/no/such/sh\n", 0o700), "", fault.ProgramNotFound, "interpreter"},
		{"no #! line", write("noexec", "exit 0\n", 0o700), "", fault.SpawnFailed, "noexec"},
		{"a zero byte", "a\x00b", "", fault.InvalidArgument, "zero byte"},
		{"nothing", "", "", fault.InvalidArgument, "no program"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			exit, err := h.Run(limited(t), Command{Argv: []string{tc.program}, Dir: "/", Env: []string{"PATH=" + tc.path}})
			if fault.CodeOf(err) != tc.want || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v (%s), want %s with %q", err, fault.CodeOf(err), tc.want, tc.says)
			}
			if exit.StartErr != err || exit.Code < 126 {
				t.Errorf("exit %+v", exit)
			}
		})
	}
	exit, err := h.Run(limited(t), Command{Argv: []string{"only-theirs"}, Dir: "/", Env: []string{"PATH=/nowhere:" + dir}})
	if err != nil || exit.Code != 7 {
		t.Errorf("a program of the child's PATH: %+v, %v", exit, err)
	}
	exit, err = h.Run(limited(t), Command{Argv: []string{"./only-theirs"}, Dir: dir})
	if err != nil || exit.Code != 7 {
		t.Errorf("a relative path: %+v, %v", exit, err)
	}
}

// https://github.com/Untrivial-ai/agent-orchestrator/pull/2831
func TestSP13_MissingFolderIsRefused(t *testing.T) {
	h := newHost(t, Options{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/srv/gone-leadlight", file, ""} {
		c := shell("touch /tmp/must-not-run")
		c.Dir = dir
		if _, err := h.Run(limited(t), c); fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), dir) {
			t.Errorf("folder %q: %v", dir, err)
		}
	}
}

// https://github.com/anthropics/claude-code/issues/72343
func TestSP12_EverythingIsATerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	h := newHost(t, Options{})
	h.resize(33, 111)
	path := filepath.Join(t.TempDir(), "seen")
	if _, err := h.Run(limited(t), programIn(t, "report", "REPORT="+path)); err != nil {
		t.Fatal(err)
	}
	var s seen
	readJSON(t, path, &s)
	if s.Terminal != [3]bool{true, true, true} || s.Rows != 33 || s.Cols != 111 {
		t.Errorf("%+v", s)
	}
}

// https://github.com/mawww/kakoune/pull/2881 https://github.com/h0x91b/dev-3.0/pull/41
func TestQU10_EN08_ArgumentsAndEnvironmentArriveIntact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my dir", "it's $(touch X) `id`;x")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "seen")
	value := "a=b;c 'd' \"e\"\nf"
	long := strings.Repeat("0123456789", 12000)
	h := newHost(t, Options{})
	c := programIn(t, "report", "REPORT="+path, "X="+value, signals.Mark+"=someone-else", "LONG="+long, "EMPTY=")
	args := []string{"", "two words", "q\"uo'te", "$HOME", "!", "%s", "new\nline", "x;", ";", long}
	c.Argv, c.Dir = append(c.Argv, args...), dir
	if exit, err := h.Run(limited(t), c); err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	var s seen
	readJSON(t, path, &s)
	if !slices.Equal(s.Args[1:], args) {
		t.Errorf("arguments differ: %.200q", s.Args[1:])
	}
	for _, want := range []string{"X=" + value, "LONG=" + long, "EMPTY=", signals.Mark + "=" + h.opt.ID} {
		if !slices.Contains(s.Env, want) {
			t.Errorf("not in the environment: %.60q", want)
		}
	}
	if slices.Contains(s.Env, signals.Mark+"=someone-else") {
		t.Error("another host's mark is passed on")
	}
	if s.Dir != dir {
		t.Errorf("folder %q", s.Dir)
	}
}

func TestTooLongAnArgumentIsExplained(t *testing.T) {
	h := newHost(t, Options{})
	c := shell("")
	c.Argv = append(c.Argv, strings.Repeat("x", 8<<20))
	if _, err := h.Run(limited(t), c); fault.CodeOf(err) != fault.InvalidArgument || fault.Of(err).Hint == "" {
		t.Errorf("%v", err)
	}
}

func TestJobHasPipes(t *testing.T) {
	h := newHost(t, Options{})
	var stdout safeBuffer
	c := shell("cat; echo error >&2; test -t 0 || test -t 1 || echo piped; (exec 3<>/dev/tty) 2>/dev/null || echo alone")
	c.Pipes, c.Stdin, c.Stdout = true, []byte("{\"task\":1}\n"), &stdout
	exit, err := h.Run(limited(t), c)
	if err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	if got := stdout.String(); got != "{\"task\":1}\npiped\nalone\n" {
		t.Errorf("stdout %q", got)
	}
	if !strings.Contains(h.Tail(0), "error\n") {
		t.Errorf("the pane shows %q", h.Tail(0))
	}
	if err := h.Inject(limited(t), Input{Text: "x"}); fault.CodeOf(err) != fault.RecipientInactive {
		t.Errorf("typing after the end: %v", err)
	}
}

func TestJobThatReadsNothing(t *testing.T) {
	h := newHost(t, Options{})
	c := shell("exit 4")
	c.Pipes, c.Stdin = true, make([]byte, 4<<20)
	if exit, err := h.Run(limited(t), c); err != nil || exit.Code != 4 {
		t.Errorf("%+v, %v", exit, err)
	}
}

func TestDescendantsEndWithTheProgram(t *testing.T) {
	h := newHost(t, Options{})
	for _, pipes := range []bool{false, true} {
		c := shell(`setsid sleep 61 & (trap '' TERM HUP; nohup sleep 62) >/dev/null 2>&1 & env -i setsid sleep 63 & sleep 0.2; exit 5`)
		c.Pipes = pipes
		exit, err := h.Run(limited(t), c)
		if err != nil || exit.Code != 5 {
			t.Errorf("%+v, %v", exit, err)
		}
		table, err := signals.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range table.Descendants(os.Getpid()) {
			t.Errorf("pipes %v: still there: %s", pipes, p)
		}
	}
}

func TestSH03_SH04_EndTakesTheTreeDown(t *testing.T) {
	h := newHost(t, Options{})
	done := background(t, h, Command{Argv: []string{"bash", "--norc", "-i"}, Dir: "/", Env: os.Environ()})
	eventually(t, "bash", func() bool { return h.Status().Agent != nil })
	if err := h.Inject(limited(t), Input{Text: "setsid sleep 61 & trap '' TERM; echo up''on"}); err != nil {
		t.Fatal(err)
	}
	eventuallyTail(t, h, "upon")
	report, err := h.End(limited(t), 200*time.Millisecond, 5*time.Second)
	if err != nil || !report.Killed || len(report.Survivors) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if exit := endOf(t, done); exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
	if report, err = h.End(limited(t), time.Second, time.Second); err != nil || len(report.Ended) > 0 {
		t.Errorf("the second time: %+v, %v", report, err)
	}
}

func TestContextEndsTheProgram(t *testing.T) {
	h := newHost(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Exit, 1)
	go func() { exit, _ := h.Run(ctx, shell("sleep 1000")); done <- exit }()
	eventually(t, "the program", func() bool { return h.Status().Agent != nil })
	if _, err := h.Run(limited(t), shell("exit 0")); fault.CodeOf(err) != fault.LimitReached {
		t.Errorf("a second program: %v", err)
	}
	cancel()
	if exit := endOf(t, done); exit.Signal == "" {
		t.Errorf("%+v", exit)
	}
}

func TestNothingStartsWhileClosing(t *testing.T) {
	h := newHost(t, Options{})
	if _, err := h.Shutdown(limited(t), ShutdownRequest{Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Run(limited(t), shell("exit 0")); fault.CodeOf(err) != fault.RecipientInactive || h.Cause() != "enough" {
		t.Errorf("%v, cause %q", err, h.Cause())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{}, {ID: "a\nb"}, {ID: "x", Socket: "/tmp/" + strings.Repeat("x", 100)}} {
		if h, err := New(o); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%+v: %v", o, err)
			h.Close()
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := New(Options{ID: "x", Terminal: null}); fault.CodeOf(err) != fault.InvalidArgument || !errors.Is(err, syscall.ENOTTY) {
		t.Errorf("no terminal: %v", err)
	}
}

// A host knows of the end of its program while others are still told that it has started, and
// says that one has lasted only if it was still there then, however late the host looks, and
// not before the others know.
func TestProgramThatFailsAtOnceHasNotLasted(t *testing.T) {
	h, c := listening(t, Options{})
	unsettled := func(what string) {
		for end := time.Now().Add(2 * firstMoments); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if h.Status().Settled {
				t.Error(what)
				break
			}
		}
	}
	command := shell("exit 1")
	command.Started = func() error {
		eventually(t, "its end is seen", func() bool { return h.Status().Agent == nil })
		return nil
	}
	if exit, err := h.Run(limited(t), command); err != nil || exit.Code != 1 {
		t.Errorf("%+v, %v", exit, err)
	}
	unsettled("it has ended, and has lasted")
	command = shell("read x")
	command.Started = func() error { unsettled("it has lasted, and others are still told that it has started"); return nil }
	lasts := background(t, h, command)
	eventually(t, "it has lasted", func() bool { s, err := c.Status(limited(t)); return err == nil && s.Settled })
	if _, err := h.End(limited(t), 0, time.Minute); err != nil {
		t.Error(err)
	}
	endOf(t, lasts)
}

// Who asks for the end right after it was written down is told it.
func TestAnEndIsKnownOnceItIsRecorded(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{})
	for code := range 2 { // also of the second program
		if err := h.claim(); err != nil {
			t.Fatal(err)
		}
		h.record(Exit{Code: code})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if exit, err := waitFor(ctx, h); err != nil || exit.Code != code {
			t.Errorf("%+v, %v", exit, err)
		}
		cancel()
	}
}

// waitFor waits for the end of the program that runs, or of the last one.
func waitFor(ctx context.Context, h *Host) (Exit, error) {
	for {
		h.mu.Lock()
		exit, running, changed := h.exit, h.running, h.statusChanged
		h.mu.Unlock()
		if exit != nil && !running {
			return *exit, nil
		}
		select {
		case <-ctx.Done():
			return Exit{}, ctx.Err()
		case <-changed:
		}
	}
}
