package panes

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// listening is a socket, in a folder whose path is short enough for it.
func listening(t *testing.T) (l net.Listener, folder, socket string) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "ll")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket = filepath.Join(folder, "s")
	if l, err = net.Listen("unix", socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, folder, socket
}

// TestAHostThatAnswersIsWaitedFor: what it ends may wait for the CPU for longer than the
// limits say. Nobody kills behind its back what goes on its TERM.
func TestAHostThatAnswersIsWaitedFor(t *testing.T) {
	t.Parallel()
	l, folder, socket := listening(t)
	asked := make(chan struct{}, 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				line, _ := bufio.NewReader(conn).ReadString('\n')
				if strings.Contains(line, `"shutdown"`) {
					<-asked // whoever waits wants to know whether it still answers
				} else {
					defer func() { asked <- struct{}{} }()
				}
				fmt.Fprintln(conn, `{"v":1,"result":{}}`)
			}()
		}
	}()
	ended, end := sleeper(t)
	end()
	m := NewManager(Options{Base: folder, Runtime: folder})
	h := ownHost{m: m, seen: sighting{record: HostRecord{Socket: socket, Process: ended}}}
	if _, err := m.Stopper(time.Millisecond, time.Millisecond).shutDown(t.Context(), h, time.Millisecond); err != nil {
		t.Error(err)
	}
}

// TestAHostAtItsLastStepsIsWaitedFor: its end is written down and it listens no more, but
// it may still run programs for its pane. They are no teammate that was killed.
func TestAHostAtItsLastStepsIsWaitedFor(t *testing.T) {
	t.Parallel()
	id := uuid.NewString()
	last := exec.Command("sh", "-c", "sleep 1; exit 0")
	last.Env = append(os.Environ(), signals.Mark+"="+id)
	if err := last.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = last.Wait() }()
	process, err := signals.Identify(last.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	m := NewManager(Options{Base: t.TempDir(), Runtime: t.TempDir()})
	h := ownHost{m: m, Target: Target{Host: id}, seen: sighting{state: signals.Alive, silence: host.ErrNoHost,
		record: HostRecord{Host: id, Process: process, Ended: &ExitRecord{State: state.Stopped}}}}
	if got := m.Stopper(time.Second, time.Second).endHost(t.Context(), h); got.Outcome != state.AlreadyStopped || !got.complete {
		t.Errorf("got %+v", got)
	}
}

// TestXH04_AnEndWrittenDownElsewhere: of a host in another container its own record says whether
// it has ended. While its lock is held it stays to be read.
func TestXH04_AnEndWrittenDownElsewhere(t *testing.T) {
	target := Target{Team: "alpha", Agent: "bob", Host: uuid.NewString()}
	m := managed(t, Options{Claims: func(context.Context) (Claims, error) {
		return Claims{Owners: map[string][]Owner{target.Host: {{target.Team, target.Agent}}}}, nil
	}})
	rec := hostRecord(m.opt.Base, target.Team, target.Agent)
	rec.Host, rec.Socket = target.Host, m.SocketPath(target.Team, target.Agent)
	rec.Process, _ = sleeper(t)
	rec.Process.Namespace = "pid:[1]"
	want := func(outcome, why string) {
		t.Helper()
		data, err := json.Marshal(rec)
		if err == nil {
			err = m.opt.Dir.Write(t.Context(), hostPath(target.Team, target.Agent), data)
		}
		if err != nil {
			t.Fatal(err)
		}
		if end := m.End(t.Context(), target, time.Second, time.Second); end.Outcome != outcome || !strings.Contains(end.Reason, why) {
			t.Errorf("it is %s: %s, want %s: %s", end.Outcome, end.Reason, outcome, why)
		}
	}
	rec.Ended = nil
	want(state.Unproven, "in another pid namespace")
	rec.Ended = &ExitRecord{State: state.Stopped}
	want(state.AlreadyStopped, "")
	held, err := lock.Try(m.opt.Dir, HostLock(target.Team, target.Agent), "host")
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	defer held.Release()
	want(state.Unproven, "its lock is held")
}
