package host

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/leadlight-dev/leadlight/internal/leaktest"
	"github.com/leadlight-dev/leadlight/signals"
	"golang.org/x/term"
)

// roleEnv makes the test binary play the program in the pane.
const roleEnv = "HOST_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		play(role)
		return
	}
	leaktest.Main(m)
}

// quickExit spares a program under the race detector its second of sleep at the end.
const quickExit = "GORACE=atexit_sleep_ms=0"

// seen is what a program notes about how it was started.
type seen struct {
	Args       []string
	Env        []string
	Dir        string
	Terminal   [3]bool
	Rows, Cols int
}

func play(role string) {
	go func() { // no program of a test outlives it for long
		time.Sleep(time.Minute)
		os.Exit(99)
	}()
	switch role {
	case "report":
		must(report(os.Getenv("REPORT")))
	case "raw": // a raw reader; notes what it reads up to END
		must(readRaw(os.Getenv("REPORT"), os.Getenv("BEFORE")))
	case "mute":
		rawMode(os.Stdin)
		fmt.Print("mute\r\n")
		select {}
	case "burst":
		must(burst(burstSize))
	case "sizes":
		sizes()
	case "host":
		runHost()
	case "memory":
		must(restAndWork())
	case "editor":
		editor(os.Getenv("REPORT"))
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
}

func report(path string) error {
	s := seen{Args: os.Args, Env: os.Environ()}
	s.Dir, _ = os.Getwd()
	for i, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		_, err := termiosOf(f)
		s.Terminal[i] = err == nil
	}
	s.Rows, s.Cols, _ = sizeOf(os.Stdin)
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

func rawMode(f *os.File) {
	must(control(f, func(fd int) error {
		_, err := term.MakeRaw(fd)
		return err
	}))
}

const endOfInput = "<END>"

func readRaw(path, before string) error {
	rawMode(os.Stdin)
	fmt.Print(before, "ready\r\n")
	var all []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(all, []byte(endOfInput)) {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		all = append(all, buf[:n]...)
		fmt.Printf("have %d\r\n", len(all))
	}
	return os.WriteFile(path, all[:bytes.Index(all, []byte(endOfInput))], 0o600)
}

// burst writes n bytes whose sum is printed last.
func burst(n int) error {
	sum := sha256.New()
	out := bufio.NewWriter(io.MultiWriter(os.Stdout, sum))
	line := strings.Repeat("burst ", 20) + "\r\n"
	for written := 0; written < n; written += len(line) {
		out.WriteString(line)
	}
	out.Flush()
	fmt.Printf("sum %x\r\n", sum.Sum(nil))
	return nil
}

func sizes() {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	for {
		rows, cols, err := sizeOf(os.Stdin)
		must(err)
		fmt.Printf("size %dx%d\n", rows, cols)
		<-changed
	}
}

// editor is a line editor with bracketed paste that misses a return key within
// 40 ms of other input; it notes each submission.
func editor(path string) {
	rawMode(os.Stdin)
	fmt.Print("\x1b[?2004hready\r\n")
	var submissions []string
	var line []byte
	var last time.Time
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		must(err)
		if string(buf[:n]) == "\r" && time.Since(last) > 40*time.Millisecond {
			text := strings.TrimSuffix(strings.TrimPrefix(string(line), pasteBegin), pasteEnd)
			submissions, line = append(submissions, text), nil
			raw, _ := json.Marshal(submissions)
			must(os.WriteFile(path+"~", raw, 0o600))
			must(os.Rename(path+"~", path))
		} else {
			line = append(line, buf[:n]...)
		}
		last = time.Now()
	}
}

// runHost is a host in a process of its own, as it is in a pane.
func runHost() {
	o := Options{ID: os.Getenv("HOST_ID"), Socket: os.Getenv("HOST_SOCKET")}
	if _, err := termiosOf(os.Stdin); err == nil {
		o.Terminal = os.Stdin
	}
	h, err := New(o)
	must(err)
	done := make(chan Exit, 1)
	go func() {
		exit, _ := h.Run(context.Background(), Command{Argv: strings.Split(os.Getenv("HOST_ARGV"), "\x1f"), Dir: "/", Env: os.Environ()})
		done <- exit
	}()
	select {
	case <-done:
	case <-h.Closing():
		h.End(context.Background(), 200*time.Millisecond, 5*time.Second)
		<-done
		h.Write([]byte("closed: " + h.Cause() + "\n"))
		os.WriteFile(os.Getenv("HOST_SOCKET")+".cause", []byte(h.Cause()), 0o600)
	}
	h.Close()
}

// programIn is the test binary in a role, in a folder of its own.
func programIn(t *testing.T, role string, env ...string) Command {
	return Command{Argv: []string{self(t)}, Dir: t.TempDir(), Env: append(append(os.Environ(), roleEnv+"="+role, quickExit), env...)}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func shell(script string) Command {
	return Command{Argv: []string{"sh", "-c", script}, Dir: "/", Env: os.Environ()}
}

// shortDir is a folder whose path leaves room for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// newHost makes a host that is closed, with all it ran, when the test ends.
func newHost(t *testing.T, o Options) *Host {
	t.Helper()
	if o.ID == "" {
		o.ID = fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid(), time.Now().UnixNano())
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h.term = 300 * time.Millisecond
	t.Cleanup(func() {
		h.End(context.Background(), 0, 5*time.Second)
		h.Close()
		left, err := signals.Marked(o.ID)
		if err != nil {
			t.Error(err)
		}
		for _, p := range left {
			t.Errorf("left behind: %s", p)
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
	})
	return h
}

// background starts a Run and returns its result.
func background(t *testing.T, h *Host, c Command) <-chan Exit {
	t.Helper()
	done := make(chan Exit, 1)
	go func() {
		exit, err := h.Run(context.Background(), c)
		if err != nil {
			t.Errorf("run: %v", err)
		}
		done <- exit
	}()
	return done
}

// pane is a terminal as a pane has it: the host gets one side, the test the other.
type pane struct {
	master, tty *os.File
	out         *safeBuffer
}

func newPane(t *testing.T, rows, cols int) *pane {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if master, err = pollable(master); err != nil {
		t.Fatal(err)
	}
	if err := setSize(master, rows, cols); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); tty.Close() })
	return &pane{master: master, tty: tty, out: &safeBuffer{}}
}

// watch collects what the pane shows.
func (p *pane) watch(t *testing.T) {
	done := make(chan struct{})
	go func() { defer close(done); io.Copy(p.out, p.master) }()
	t.Cleanup(func() { p.master.Close(); <-done })
}

func (p *pane) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

func eventuallyTail(t *testing.T, h *Host, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q in the output", want), func() bool { return strings.Contains(h.Tail(0), want) })
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func endOf(t *testing.T, done <-chan Exit) Exit {
	t.Helper()
	select {
	case e := <-done:
		return e
	case <-time.After(time.Minute):
		t.Fatal("the program does not end")
		return Exit{}
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// files are the functions of a transcript in a folder.
func transcriptFiles(dir string) (OpenFunc, RenameFunc) {
	open := func(name string, flag int) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, name), flag, 0o600)
	}
	rename := func(old, new string) error { return os.Rename(filepath.Join(dir, old), filepath.Join(dir, new)) }
	return open, rename
}

// hostProcess starts a host in a process of its own.
func hostProcess(t *testing.T, id, socket string, tty *os.File, argv ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(self(t))
	c.Env = append(os.Environ(), roleEnv+"=host", quickExit, "HOST_ID="+id, "HOST_SOCKET="+socket, "HOST_ARGV="+strings.Join(argv, "\x1f"))
	if tty != nil {
		c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		(signals.TreeKiller{Host: id, Kill: 5 * time.Second}).Run(context.Background())
	})
	return c
}
