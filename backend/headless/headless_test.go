package headless_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/headless"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
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
		for end := time.Now().Add(time.Minute); len(list) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			list, err = b.List(context.Background())
		}
		if _, gone := os.Stat(dir); err != nil || gone == nil {
			t.Errorf("the folder stays: %v", err)
		}
	})
	return b, dir
}

func TestBackend(t *testing.T) {
	opts := backendtest.Opts{
		New: func(t backendtest.T) backendtest.Terminal {
			b, dir := fresh(t)
			return backendtest.Terminal{
				Backend: b,
				At:      backend.Spec{Place: backend.Session},
				Other:   func() backend.Backend { return open(t, dir) },
			}
		},
		NoFocus: true, NoBorder: true, NoFreeze: true, NoKill: true,
	}
	t.Logf("declared weak: %q", opts.Weaknesses())
	for _, c := range backendtest.Cases(opts) {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); c.Run(t) })
	}
}

// TestPI04_AStrangersNumber: what is on record has another process's number now, or was
// written before the machine was started. It is no pane, and nobody is signalled.
// https://github.com/mertkayacs/reevesagents/issues/17
func TestPI04_AStrangersNumber(t *testing.T) {
	stranger := exec.Command("sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	is, err := signals.Identify(stranger.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	earlier, rebooted := is, is
	earlier.Start--
	rebooted.Boot, rebooted.Start = "another-boot", is.Start+1
	for name, process := range map[string]signals.Identity{"an earlier process": earlier, "an earlier boot": rebooted} {
		t.Run(name, func(t *testing.T) {
			b, dir := fresh(t)
			mark := backend.Mark{Base: "b", Team: "alpha", Agent: "bob", Host: "h"}
			r := b.Open(t.Context(), []backend.Spec{{Argv: []string{"sleep", "1000"}, Dir: filepath.Dir(dir), Mark: mark, Place: backend.Session}})
			if r[0].Err != nil {
				t.Fatal(r[0].Err)
			}
			id := r[0].Pane.ID
			if err := backend.CloseOne(t.Context(), b, id, mark); err != nil {
				t.Fatal(err)
			}
			record, err := json.Marshal(map[string]any{"id": id, "mark": mark, "process": process})
			if err == nil {
				err = os.MkdirAll(dir, 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, string(id)+".json"), record, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := backend.CloseOne(t.Context(), b, id, mark); err != nil {
				t.Errorf("close: %v", err)
			}
			if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("panes: %+v, %v", list, err)
			}
			if is.Probe() != signals.Alive {
				t.Fatal("a stranger was ended")
			}
		})
	}
}

// A folder in which others may write is used for nothing, and it is said what to do.
func TestTheFolderIsOursAlone(t *testing.T) {
	b, dir := fresh(t)
	spec := backend.Spec{Argv: []string{"sleep", "1000"}, Dir: filepath.Dir(dir), Mark: backend.Mark{Base: "b", Team: "alpha", Agent: "bob", Host: "h"}, Place: backend.Session}
	opened := b.Open(t.Context(), []backend.Spec{spec})[0]
	if opened.Err != nil {
		t.Fatal(opened.Err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, listed := b.List(t.Context())
	other := spec
	other.Mark.Agent = "eve"
	for what, err := range map[string]error{
		"list": listed, "close": backend.CloseOne(t.Context(), b, opened.Pane.ID, spec.Mark), "open": b.Open(t.Context(), []backend.Spec{other})[0].Err,
	} {
		if fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(fault.Of(err).Hint, "chmod 700 "+dir) {
			t.Errorf("%s: %v, hint %q", what, err, fault.Of(err).Hint)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := backend.CloseOne(t.Context(), b, opened.Pane.ID, spec.Mark); err != nil {
		t.Error(err)
	}
}
