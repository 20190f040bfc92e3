package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/cli"
	"github.com/leadlight-dev/leadlight/cmd/internal/longlived"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"leadlight": main, "leadlightd": longLived, "leadlight-teammate": seam, "stub": stub})
}

// longLived is leadlightd, which cmd/leadlightd only meets the system for.
func longLived() {
	os.Exit(longlived.Main(os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}

// seam is main under the name by which Claude Code starts teammates. testscript keeps
// nothing but the last part of it.
func seam() {
	os.Args[0] = os.Getenv("CALLED")
	main()
}

// limit is how long eventually waits.
const limit = time.Minute

// TestScripts runs every script of testdata/script with the real program, in a
// home, a base directory and tmux servers of its own. After each one nothing may
// be left: no process, no tmux server, no socket, no temporary file.
func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("these tests need tmux: apt-get install tmux, or brew install tmux")
	}
	work, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOTMPDIR", work)
	t.Cleanup(func() { // testscript leaves empty folders where only some of the scripts are run
		left, _ := filepath.Glob(filepath.Join(work, "*"))
		for _, dir := range append(left, work) {
			_ = os.Remove(dir)
		}
	})
	folders, err := filepath.Glob("testdata/script*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, dir := range folders {
		testscript.Run(t, params(testscript.Params{Dir: dir, Setup: setup}))
	}
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		testscript.Run(t, params(testscript.Params{Files: headless(t), Setup: func(env *testscript.Env) error {
			env.Setenv("LEADLIGHT_BACKEND", "headless")
			return setup(env)
		}}))
	})
}

func params(p testscript.Params) testscript.Params {
	p.RequireExplicitExec, p.RequireUniqueNames = true, true
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"eventually": eventually, "lead": lead, "json": checkJSON, "let": let, "big": big,
		"stopserver": stopServer, "contserver": contServer,
	}
	p.Condition = func(name string) (bool, error) {
		if name != "headless" {
			return false, fmt.Errorf("there is no condition %q", name)
		}
		return p.Dir == "", nil
	}
	return p
}

// headless are the scripts that also run without a terminal: what they show is not tmux's,
// and their first line says so.
func headless(t *testing.T) (scripts []string) {
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(string(text), "\n"); strings.HasSuffix(first, "(also headless)") {
			scripts = append(scripts, path)
		}
	}
	return scripts
}

// setup makes the script's private place: $LL holds home, run and base, and $SOCK is
// the socket of a tmux server that lead starts. Socket paths must be short.
func setup(env *testscript.Env) error {
	root, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		return err
	}
	for _, dir := range []string{"home", "run", "base"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			return err
		}
	}
	env.Setenv("LL", root)
	env.Setenv("SOCK", filepath.Join(root, "s"))
	env.Setenv("HOME", filepath.Join(root, "home"))
	env.Setenv("XDG_RUNTIME_DIR", filepath.Join(root, "run"))
	env.Setenv("LEADLIGHT_BASE_DIR", filepath.Join(root, "base"))
	env.Setenv("BASE", filepath.Join(root, "base"))
	env.Setenv("SHELL", "/bin/sh") // the user's may be any, or one that runs nothing
	env.Setenv("TERM", "xterm-256color")
	env.Setenv("LC_ALL", "C.UTF-8")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program sleeps for a second at its end, else
	t := env.T().(testing.TB)
	env.Defer(func() {
		if left := leftovers(root); left != "" {
			t.Errorf("left behind:\n%s", left)
		}
		clean(root)
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return nil
}

// leftovers names what a script has left in its place, lead's own server excepted.
func leftovers(root string) string {
	_ = exec.Command("tmux", "-S", filepath.Join(root, "s"), "kill-server").Run()
	var left string
	deadline := time.Now().Add(limit)
	for {
		left = look(root)
		if left == "" || time.Now().After(deadline) {
			return left
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func look(root string) string {
	var b strings.Builder
	for _, pid := range processes(root) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		fmt.Fprintf(&b, "process %d %q\n", pid, line)
	}
	_ = filepath.WalkDir(filepath.Join(root, "run"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintf(&b, "in the run folder: %s\n", path)
		}
		return nil
	})
	return b.String()
}

// processes are those whose environment names root (on Linux).
func processes(root string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var pids []int
	for _, f := range files {
		data, err := os.ReadFile(f)
		pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
		if err == nil && pid != os.Getpid() && strings.Contains(string(data), root+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// clean ends what a script that failed has left.
func clean(root string) {
	_ = exec.Command("tmux", "-S", filepath.Join(root, "run/leadlight/tmux"), "kill-server").Run()
	for _, pid := range processes(root) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// eventually REGEXP COMMAND ARG… runs the command until its output matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] eventually REGEXP COMMAND ARG…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline := time.Now().Add(limit); ; {
		began := time.Now()
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if re.MatchString(out) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("after %s: %v (matched %s: %v)\n%s", limit, err, args[0], !neg, out)
		}
		time.Sleep(min(2*time.Since(began), 200*time.Millisecond)) // what is waited for needs the processor, too
	}
}

// lead starts a private tmux server with one pane, and makes the script's later
// commands run as if in that pane.
func lead(ts *testscript.TestScript, _ bool, args []string) {
	size := []string{"-x", "220", "-y", "60"}
	if len(args) == 2 {
		size = []string{"-x", args[0], "-y", args[1]}
	}
	sock := ts.Getenv("SOCK")
	tmux := append([]string{"-u", "-S", sock, "-f", "/dev/null", "new-session", "-d", "-s", "lead"}, size...)
	ts.Check(ts.Exec("tmux", append(tmux, "-P", "-F", "#{pid} #{session_id} #{pane_id}", "--", "sleep", "1000")...))
	id := strings.Fields(ts.ReadFile("stdout"))
	resize := append(append([]string{"-S", sock, "resize-window", "-t", id[2]}, size...), ";", "set-option", "-w", "-u", "-t", id[2], "window-size")
	ts.Check(ts.Exec("tmux", resize...)) // 3.2 takes the size of nobody's terminal
	ts.Setenv("TMUX", fmt.Sprintf("%s,%s,%s", sock, id[0], strings.TrimPrefix(id[1], "$")))
	ts.Setenv("TMUX_PANE", id[2])
}

// checkJSON PATH WANT compares one value of the last output, as text. A path is
// keys and indexes with dots between; len is the number of elements, - the absence.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] json PATH WANT")
	}
	got := value(ts, args[0])
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q (negated: %v)", args[0], got, args[1], neg)
	}
}

// let NAME PATH puts one value of the last output into the environment.
func let(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], value(ts, args[1])) }

func value(ts *testscript.TestScript, path string) string {
	text := ts.ReadFile("stdout")
	if strings.TrimSpace(text) == "" {
		text = ts.ReadFile("stderr")
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	ts.Check(d.Decode(&v))
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			if key == "len" {
				return strconv.Itoa(len(x))
			}
			e, ok := x[key]
			if !ok {
				return "-"
			}
			v = e
		case []any:
			if key == "len" {
				return strconv.Itoa(len(x))
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return "-"
			}
			v = x[i]
		default:
			return "-"
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	ts.Check(err)
	return string(b)
}

// stopServer makes lead's tmux server answer nobody, contServer ends that.
func stopServer(ts *testscript.TestScript, _ bool, _ []string) { signalServer(ts, syscall.SIGSTOP) }
func contServer(ts *testscript.TestScript, _ bool, _ []string) { signalServer(ts, syscall.SIGCONT) }

func signalServer(ts *testscript.TestScript, sig syscall.Signal) {
	pid, err := strconv.Atoi(strings.Split(ts.Getenv("TMUX"), ",")[1])
	ts.Check(err)
	ts.Check(syscall.Kill(pid, sig))
	ts.Defer(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}

// big FILE BYTES writes a file of that size.
func big(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("x", n)), 0o600))
}
