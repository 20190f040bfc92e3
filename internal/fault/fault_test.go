package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

func TestOfFindsTheCode(t *testing.T) {
	coded := fault.New(fault.TeamNotFound, "team %q does not exist", "x").WithHint("team ls")
	for _, tc := range []struct {
		name string
		err  error
		code fault.Code
		exit int
	}{
		{"nil", nil, "", 0},
		{"coded", coded, fault.TeamNotFound, 3},
		{"wrapped", fmt.Errorf("spawn: %w", coded), fault.TeamNotFound, 3},
		{"bare code", fmt.Errorf("spawn: %w", fault.NoSpace), fault.NoSpace, 6},
		{"disk full", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, fault.DiskFull, 1},
		{"no permission", &fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, fault.PermissionDenied, 5},
		{"deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), fault.Timeout, 7},
		{"interrupted", fmt.Errorf("x: %w", context.Canceled), fault.Failed, 130},
		{"plain", errors.New("boom"), fault.Failed, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := fault.CodeOf(tc.err); got != tc.code {
				t.Errorf("CodeOf = %s, want %s", got, tc.code)
			}
			if got := fault.ExitOf(tc.err); got != tc.exit {
				t.Errorf("ExitOf = %d, want %d", got, tc.exit)
			}
		})
	}
}

func TestAStarvedMachineHasAWayOut(t *testing.T) {
	for _, cause := range []error{syscall.EMFILE, syscall.EAGAIN} {
		if e := fault.Of(fmt.Errorf("start: %w", &fs.PathError{Op: "fork/exec", Path: "x", Err: cause})); e.Code != fault.Failed || e.Hint != fault.Starved {
			t.Errorf("%v: %+v", cause, e)
		}
	}
}

func TestWrappingKeepsHintAndOuterWords(t *testing.T) {
	inner := fault.New(fault.SpawnFailed, "agent ended").WithHint("look at logs")
	e := fault.Of(fmt.Errorf("spawn bob: %w", inner))
	if e.Message != "spawn bob: agent ended" || e.Hint != "look at logs" {
		t.Errorf("got %q, hint %q", e.Message, e.Hint)
	}
	if !errors.Is(e, fault.SpawnFailed) {
		t.Error("the code is lost")
	}
}

func TestNewWrapsItsCause(t *testing.T) {
	err := fault.New(fault.CorruptFile, "read x: %w", fs.ErrNotExist)
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, fault.CorruptFile) {
		t.Error("cause or code is lost")
	}
}

func TestEveryCodeStandsOnceInTheTable(t *testing.T) {
	seen := map[fault.Code]int{}
	for _, g := range fault.Table() {
		for _, c := range g.Codes {
			seen[c]++
			if c.Exit() != g.Exit {
				t.Errorf("%s: exit %d, want %d", c, c.Exit(), g.Exit)
			}
		}
	}
	if len(seen) != 39 {
		t.Errorf("%d codes in the table, want the 39 of the surface", len(seen))
	}
	for c, n := range seen {
		if n != 1 {
			t.Errorf("%s stands %d times", c, n)
		}
	}
}
