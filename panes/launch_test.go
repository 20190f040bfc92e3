package panes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/memory"
)

// aheadTerminal notes whether a folder was there when it was to get ready.
type aheadTerminal struct {
	*memory.Backend
	folder string
	there  bool
}

func (a *aheadTerminal) Ahead(context.Context) (release func()) {
	_, err := os.Stat(a.folder)
	a.there = err == nil
	return func() {}
}

// Our own server cannot be started ahead before the folder of its socket is there.
func TestTheRunFolderIsMadeAhead(t *testing.T) {
	t.Parallel()
	a := &aheadTerminal{Backend: memory.New(), folder: filepath.Join(t.TempDir(), "leadlight")}
	m := NewManager(Options{Base: t.TempDir(), Runtime: a.folder, Choose: func(context.Context) (Choice, error) {
		return Choice{Type: "memory", Backend: a}, nil
	}})
	m.GetReady(t.Context(), "code", nil)()
	if !a.there {
		t.Error("the terminal was to get ready before the run folder was made")
	}
}

// Whoever interrupts a start is not told that the host was too slow.
func TestAnInterruptedStartIsNotALateHost(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	m := managed(t, Options{}) // a late look reads its records
	launch := Launch{Record: LaunchRecord{Team: "code", Agent: "ann"}, Ready: time.Hour}
	for range 20 { // both contexts are done: each look may see either first
		if err := m.await(ctx, Choice{Backend: memory.New()}, launch, backend.Pane{ID: "%1"}); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted, and yet: %v", err)
		}
	}
}
