package signals

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/leaktest"
)

// roleEnv makes the test binary play a part in a process tree.
const roleEnv = "SIGNALS_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		play(role)
		return
	}
	leaktest.Main(m)
}

// play is what a process of a test tree does. Every part ends by itself in the
// end, should a test not end it.
func play(role string) {
	const life = time.Minute
	switch role {
	case "sleep":
		time.Sleep(life)
	case "deaf": // ignores what it can
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		fmt.Println("ready")
		time.Sleep(life)
	case "fork": // leaves a child in a session of its own behind and says its pid
		c := part("deaf")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.StdoutPipe()
		must(err)
		must(c.Start())
		bufio.NewReader(out).ReadString('\n') // it is deaf now
		fmt.Println(c.Process.Pid)
	case "starved": // has no file descriptor left when it first asks who it is
		var limit syscall.Rlimit
		must(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
		must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: limit.Max}))
		_, first := Self()
		must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
		_, then := Self()
		fmt.Printf("%v, then %v\n", first, then)
	case "forkstorm": // a new process before the old one ends, TERM ignored
		signal.Ignore(syscall.SIGTERM)
		if born, err := strconv.ParseInt(os.Getenv("STORM_UNTIL"), 10, 64); err == nil && time.Now().UnixNano() < born {
			must(part("forkstorm").Start())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// part is the test binary in a part.
func part(role string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), roleEnv+"="+role), env...)
	return c
}

// begin runs a part, which may end by itself, until the end of the test.
func begin(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
}

// start runs a part that stays, and returns its identity.
func start(t *testing.T, c *exec.Cmd) Identity {
	t.Helper()
	begin(t, c)
	id, err := Identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// script runs a shell script as the root of a tree; it prints "ready" when the
// tree stands.
func script(t *testing.T, mark, text string, args ...string) Identity {
	t.Helper()
	c := exec.Command("bash", append([]string{"-c", text, "root"}, args...)...)
	c.Env = append(os.Environ(), Mark+"="+mark)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	id := start(t, c)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "ready" {
			return id
		}
	}
	t.Fatal("the tree did not come up")
	return id
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

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// mark of a test's own tree, never used twice.
func freshMark(t *testing.T) string {
	return fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid(), time.Now().UnixNano())
}

// noneLeft fails the test if anything still carries the mark.
func noneLeft(t *testing.T, mark string) {
	t.Helper()
	left, err := Marked(mark)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range left {
		t.Errorf("survived: %s", p)
		(Proof{id: p.Identity}).Signal(syscall.SIGKILL)
	}
}
