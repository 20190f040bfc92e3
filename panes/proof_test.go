package panes

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// sleeper is a program with that environment, and what ends it.
func sleeper(t *testing.T, environ ...string) (signals.Identity, func()) {
	t.Helper()
	c := exec.Command("sleep", "1000")
	c.Env = append(environ, "A=b")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = c.Process.Kill(); _ = c.Wait() }
	t.Cleanup(end)
	id, err := signals.Identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return id, end
}

// A host that ends while it is looked at has lost its environment: it is not taken for
// another member's.
func TestXH08_AnEndingHostIsNotForeign(t *testing.T) {
	host := uuid.NewString()
	_, end := sleeper(t, signals.Mark+"="+host)
	var look signals.Processes
	table, err := look.Last()
	if err != nil {
		t.Fatal(err)
	}
	left := table.Marked(host)
	if len(left) != 1 || !stillMarked(t.Context(), left[0], host) {
		t.Errorf("while it runs: %v", left)
	} else if stillMarked(t.Context(), left[0], uuid.NewString()) {
		t.Errorf("%v counts for another host", left)
	}
	end()
	for _, p := range left {
		if stillMarked(t.Context(), p, host) {
			t.Errorf("%s has ended, and counts", p)
		}
	}
}

// A host belongs to one member: one that two entries of the rosters name is proved to be
// nobody's, and so is a process that a record names and that is no host. Nothing is done to
// either.
func TestXH08_OneHostOneMember(t *testing.T) {
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	d, x := Owner{"alpha", "d"}, Owner{"beta", "x"}
	var owners []Owner
	target := Target{Team: d.Team, Agent: d.Agent, Host: uuid.NewString()}
	m := NewManager(Options{Base: dir.Path(), Dir: dir, Runtime: t.TempDir(), Claims: func(context.Context) (Claims, error) {
		return Claims{Owners: map[string][]Owner{target.Host: owners}}, nil
	}})
	stranger, _ := sleeper(t)
	refused := func(what, why string) {
		t.Helper()
		if _, err := m.prove(t.Context(), target, &look{m: m}); fault.CodeOf(err) != fault.Unproven || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", what, err, why)
		}
		if end := m.End(t.Context(), target, 0, time.Second); end.Outcome != state.Unproven || !strings.Contains(end.Reason, why) {
			t.Errorf("%s: it is %s: %s", what, end.Outcome, end.Reason)
		}
		if stranger.Probe() != signals.Alive {
			t.Fatalf("%s: a stranger was ended", what)
		}
	}
	for _, owners = range [][]Owner{{d, x}, {x, d}, {x}, {d, d}} {
		refused("two entries", "rosters name one host")
	}
	owners = []Owner{d}
	rec := hostRecord(dir.Path(), d.Team, d.Agent)
	rec.Host, rec.Process, rec.Socket = target.Host, stranger, m.SocketPath(d.Team, d.Agent)
	data, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Write(t.Context(), hostPath(d.Team, d.Agent), data); err != nil {
		t.Fatal(err)
	}
	refused("a stranger's number", "is no host of it")
}
