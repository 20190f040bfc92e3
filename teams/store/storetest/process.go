package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Environment of the child processes, which are the test binary started again.
const (
	roleVar = "LEADLIGHT_STORETEST_ROLE"
	baseVar = "LEADLIGHT_STORETEST_BASE"
)

// Main is the TestMain of a package that calls TestDisk.
func Main(m *testing.M, open Opener) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Getenv(baseVar), os.Args[1:], open); err != nil {
		fmt.Printf("error %s %v\n", fault.CodeOf(err), err)
		os.Exit(1)
	}
	os.Exit(0)
}

// actor is what a role works with. Its words on out are lines.
type actor struct {
	ctx  context.Context
	args []string
	in   *bufio.Reader
	Stores
}

func (a actor) say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// curtain waits until the parent closes the child's input.
func (a actor) curtain() <-chan struct{} {
	c := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, a.in)
		close(c)
	}()
	return c
}

// play is the life of a child: it opens the stores, says that it is ready, waits
// for the word, and does its part.
func play(role, base string, args []string, open Opener) error {
	part, ok := roles()[role]
	if !ok {
		return fmt.Errorf("no role %q", role)
	}
	s, err := open(base)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	a := actor{ctx: ctx, args: args, in: bufio.NewReader(os.Stdin), Stores: s}
	a.say("ready")
	if _, err := a.in.ReadString('\n'); err != nil {
		return err
	}
	return part(a)
}

func roles() map[string]func(actor) error {
	return map[string]func(actor) error{
		"claim":           actor.claim,
		"claim one":       actor.claimOne,
		"create":          actor.create,
		"send":            actor.send,
		"join":            actor.join,
		"hold roster":     actor.holdRoster,
		"stand-in box":    actor.standInBox,
		"stand-in send":   actor.standInSend,
		"stand-in roster": actor.standInRoster,
		"unprivileged":    actor.unprivileged,
	}
}

// claim claims until nothing is ready, and says the ids.
func (a actor) claim() error {
	for {
		t, err := a.Tasks.ClaimNext(a.ctx, team, a.args[0])
		if fault.CodeOf(err) == fault.NoTaskReady {
			return nil
		}
		if err != nil {
			return err
		}
		a.say("%s", t.ID)
	}
}

// claimOne claims one task and says "ok" or the code.
func (a actor) claimOne() error {
	if _, err := a.Tasks.Claim(a.ctx, team, a.args[0], a.args[1]); err != nil {
		a.say("%s %v", fault.CodeOf(err), err)
		return nil
	}
	a.say("ok")
	return nil
}

// create creates tasks and says their ids.
func (a actor) create() error {
	for range number(a.args[0]) {
		t, err := a.Tasks.Create(a.ctx, team, store.Task{Subject: "made by a process"})
		if err != nil {
			return err
		}
		a.say("%s", t.ID)
	}
	return nil
}

// send sends numbered messages and says each number once it is accepted.
func (a actor) send() error {
	for i := range number(a.args[1]) {
		if _, err := a.Mail.Put(a.ctx, team, "builder", store.Message{From: a.args[0], Text: fmt.Sprint(i)}); err != nil {
			return err
		}
		a.say("%d", i)
	}
	return nil
}

// join adds members, as many as args[1] says, and says their names.
func (a actor) join() error {
	for i := range number(a.args[1]) {
		name := fmt.Sprintf("%s-%d", a.args[0], i)
		err := a.Roster.Update(a.ctx, team, func(t *store.Team) error {
			t.Members = append(t.Members, store.Member{Name: name})
			return nil
		})
		if err != nil {
			return err
		}
		a.say("%s", name)
	}
	return nil
}

// holdRoster keeps the lock of the roster until its input ends.
func (a actor) holdRoster() error {
	return a.Roster.Update(a.ctx, team, func(t *store.Team) error {
		a.say("held")
		<-a.curtain()
		return nil
	})
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err) // a mistake of the suite
	}
	return n
}

// child is a running child process, seen by the parent.
type child struct {
	t     testing.TB
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // read as they come, so that no child ever waits for its parent
}

// start starts a child and waits until it is ready.
func start(t testing.TB, base, role string, args ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role, baseVar+"="+base)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	ok(t, err)
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	c := &child{t: t, name: role + " " + strings.Join(args, " "), cmd: cmd, in: in, lines: make(chan string, 1<<16)}
	go func() {
		defer close(c.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			c.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() { c.kill() })
	if line, _ := c.line(); line != "ready" {
		t.Fatalf("%s: %q instead of ready", c.name, line)
	}
	return c
}

func startAll(t testing.TB, n int, base, role string, args func(i int) []string) []*child {
	t.Helper()
	all := make([]*child, n)
	for i := range all {
		all[i] = start(t, base, role, args(i)...)
	}
	return all
}

// act gives the word.
func act(children ...*child) {
	for _, c := range children {
		_, _ = io.WriteString(c.in, "act\n") // one that is dead is found when it is read
	}
}

func (c *child) line() (string, bool) {
	line, more := <-c.lines
	return line, more
}

// rest reads what the child says until its end, and wants it to end well.
func (c *child) rest() []string {
	c.t.Helper()
	c.in.Close()
	var all []string
	for line, more := c.line(); more; line, more = c.line() {
		all = append(all, line)
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("%s: %v, after %d lines: %.300q", c.name, err, len(all), all[max(0, len(all)-3):])
	}
	return all
}

// kill ends the child by SIGKILL, whatever it does, and returns what it had said.
func (c *child) kill() []string {
	if c.cmd.ProcessState != nil {
		return nil
	}
	_ = c.cmd.Process.Kill() // it may have ended by itself
	var all []string
	for line, more := c.line(); more; line, more = c.line() {
		all = append(all, line)
	}
	_ = c.cmd.Wait() // says "killed"
	c.in.Close()
	return all
}
