package headless_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/headless"
)

func open(t backendtest.T, dir string) *headless.Backend {
	b, err := headless.New(headless.Options{Dir: dir, Environ: os.Environ(), Viewer: func(m backend.Mark) []string {
		return []string{"view", m.Agent}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fresh is a backend on a folder of its own, with nothing left in it afterwards.
func fresh(t backendtest.T) (*headless.Backend, string) {
	run, err := os.MkdirTemp("", "headless")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	dir := filepath.Join(run, "headless")
	b := open(t, dir)
	t.Cleanup(func() {
		list, err := b.List(context.Background())
		for _, p := range list { // closing fifty one by one would take a while
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
		for end := time.Now().Add(10 * time.Second); len(list) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			list, err = b.List(context.Background())
		}
		if _, gone := os.Stat(dir); err != nil || gone == nil {
			t.Errorf("the folder stays: %v", err)
		}
	})
	return b, dir
}

func TestBackend(t *testing.T) {
	cases := backendtest.Cases(backendtest.Opts{
		New: func(t backendtest.T) backendtest.Terminal {
			b, dir := fresh(t)
			return backendtest.Terminal{
				Backend: b,
				At:      backend.Spec{Place: backend.Session},
				Other:   func() backend.Backend { return open(t, dir) },
			}
		},
		NoFocus: true, NoBorder: true, NoFreeze: true, NoKill: true,
	})
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}
