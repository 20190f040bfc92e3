package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/external"
)

// TestMain lets the test binary be the backend and its holders, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "hold" || os.Args[1] == "serve") {
		main()
	}
	os.Exit(m.Run())
}

// frozen stands before the backend's program: while the file is there it hangs, as the
// program of a terminal does that does not answer.
const frozen = `while [ -e "$1" ]; do sleep 0.05; done; shift; exec "$@"`

func dial(t backendtest.T, dir string, limit time.Duration) *external.Backend {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	b, err := external.New(external.Options{
		Name: "pty", Argv: []string{sh, "-c", frozen, "sh", filepath.Join(dir, "frozen"), exe, "serve"},
		Environ: os.Environ(), StateDir: filepath.Join(dir, "state"), Limit: limit, Opening: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b
}

func fresh(t backendtest.T) backendtest.Terminal {
	dir, err := os.MkdirTemp("/tmp", "llpty")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := dial(t, dir, 20*time.Second)
	t.Cleanup(func() {
		ctx := context.Background()
		list, err := b.List(ctx)
		for _, p := range list {
			err = backend.CloseOne(ctx, b, p.ID, p.Mark)
		}
		if err != nil {
			t.Error(err)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, "state")); os.IsNotExist(err) {
				return
			}
			if time.Now().After(end) {
				t.Errorf("the state folder stays")
				return
			}
		}
	})
	return backendtest.Terminal{
		Backend: b,
		At:      backend.Spec{Place: backend.Session},
		Other:   func() backend.Backend { return dial(t, dir, 20*time.Second) },
		Freeze: func() func() {
			file := filepath.Join(dir, "frozen")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Remove(file) }
		},
		Impatient: dial(t, dir, 300*time.Millisecond), Patience: 20 * time.Second,
	}
}

func TestBackend(t *testing.T) {
	for _, c := range backendtest.Cases(backendtest.Opts{New: fresh, NoFocus: true, NoBorder: true, NoKill: true}) {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}
