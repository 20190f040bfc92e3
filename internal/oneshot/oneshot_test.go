package oneshot_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/oneshot"
)

// What a program leaves running may hold its output open: it has answered all the same.
func TestOutputIsHeldOpen(t *testing.T) {
	out, err := oneshot.Output(exec.CommandContext(t.Context(), "sh", "-c", "echo said; sleep 3 &"))
	if err != nil || string(out) != "said\n" {
		t.Errorf("%q, %v", out, err)
	}
	var said strings.Builder
	c := exec.CommandContext(t.Context(), "sh", "-c", "echo said; sleep 3 & exit 4")
	c.Stdout = &said
	exit := (*exec.ExitError)(nil)
	if err := oneshot.Run(c); !errors.As(err, &exit) || exit.ExitCode() != 4 || said.String() != "said\n" {
		t.Errorf("%q, %v", said.String(), err)
	}
}

// Who is not waited for any more ends with all that it has started: a wrapper in shell would
// leave what it wraps, also in a session of its own, or deaf to TERM.
func TestXF15_WhatAProgramStartedEndsWithIt(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", `
		sleep 300 & echo $! >>"$0"
		setsid sh -c 'echo $$ >>"$0"; exec sleep 301' "$0" &
		(sleep 302 & echo $! >>"$0")
		sh -c 'trap "" TERM HUP; echo $$ >>"$0"; sleep 303; sleep 304' "$0"`, pids)
	var words []string
	go func() {
		defer cancel()
		for end := time.Now().Add(time.Minute); len(words) < 4 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			data, _ := os.ReadFile(pids)
			words = strings.Fields(string(data))
		}
	}()
	if err := oneshot.Run(c); err == nil {
		t.Error("it was ended, and that is no error")
	}
	<-ctx.Done()
	if len(words) != 4 {
		t.Fatalf("it has started %q", words)
	}
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil && !zombie(word); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("process %d is left", pid)
				break
			}
		}
	}
}

// One that is asked to end tidies up first; one that does not listen is killed.
func TestOneThatIsAskedTidiesUp(t *testing.T) {
	for deaf, script := range map[bool]string{
		false: `trap 'echo tidied >"$0"; exit' TERM; echo >"$0.on"; while :; do sleep 0.01; done`,
		true:  `trap "" TERM; echo >"$0.on"; while :; do sleep 0.01; done`,
	} {
		file, term := filepath.Join(t.TempDir(), "f"), time.Minute
		if deaf {
			term = 50 * time.Millisecond
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				if _, err := os.Stat(file + ".on"); err == nil {
					return
				}
			}
		}()
		if err := oneshot.RunAsked(exec.CommandContext(ctx, "sh", "-c", script, file), term); err == nil {
			t.Error("it was ended, and that is no error")
		}
		if data, _ := os.ReadFile(file); (string(data) == "tidied\n") == deaf {
			t.Errorf("deaf %v: %q", deaf, data)
		}
	}
}

func zombie(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// Where an answer counts to its last byte it is waited for.
func TestAWholeAnswerIsWaitedFor(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "echo said; (sleep 1.5; echo late) &")
	c.WaitDelay = oneshot.Whole
	if out, err := oneshot.Output(c); err != nil || string(out) != "said\nlate\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestXF14_AnAnswerIsBounded: a program that never stops to print is ended, and is no answer.
func TestXF14_AnAnswerIsBounded(t *testing.T) {
	for _, line := range []string{"cat /dev/zero >&2", "trap '' PIPE; cat /dev/zero; exit 0"} {
		out, err := oneshot.Output(exec.CommandContext(t.Context(), "sh", "-c", line))
		if err == nil || !strings.Contains(err.Error(), "prints more than") || len(out) > oneshot.Most {
			t.Errorf("%s: %d bytes, %v", line, len(out), err)
		}
	}
	_, err := oneshot.Output(exec.CommandContext(t.Context(), "sh", "-c", "echo why >&2; exit 3"))
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || string(exit.Stderr) != "why\n" {
		t.Errorf("%v", err)
	}
}
