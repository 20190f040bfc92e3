package integration_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/internal/begin"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// begunHost is a host in a pane which starts a program before all else, by an order that a
// test has written, and then waits.
type begunHost struct {
	r       *rig
	records *panes.Records
	pane    string
	agent   string
}

// startBegun starts a host whose record says argv, and whose order says other things too.
func startBegun(t *testing.T, argv []string, order begin.Order) begunHost {
	t.Helper()
	r := newRig(t, "120x30")
	r.must("team", "create", "abc")
	dir, err := files.Open(r.path("base"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	m := panes.NewManager(panes.Options{Dir: dir, Base: r.path("base"), Runtime: r.path("run", "leadlight")})
	b := begunHost{r: r, records: panes.NewRecords(dir), agent: "bob"}
	host, socket := uuid.NewString(), m.SocketPath("abc", b.agent)
	l := panes.LaunchRecord{
		Host: host, Team: "abc", Agent: b.agent, Kind: profiles.Plain, Profile: profiles.Exec, Argv: argv, Dir: r.path("work"),
		EnvFile: filepath.Join(filepath.Dir(socket), "env-"+host), Socket: socket, Backend: "tmux", Terminal: r.tmux.Socket, LedByUs: true,
	}
	order.Host, order.Dir, order.Path = host, l.Dir, "/bin/sh"
	order.Over = []string{signals.Mark + "=" + host}
	data := begin.Encode([]string{"PATH=" + os.Getenv("PATH"), signals.Mark + "=" + host}, &order)
	for _, err := range []error{
		os.MkdirAll(filepath.Dir(l.EnvFile), 0o700), os.WriteFile(l.EnvFile, data, 0o600),
		b.records.WriteLaunch(t.Context(), l), m.Expect("abc", b.agent),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b.pane = r.tmux.Run("new-window", "-d", "-P", "-F", "#{pane_id}", "--", r.bin, "teammate", "--team", "abc", "--agent", b.agent, "--base-dir", r.path("base"))
	return b
}

// pid waits until a program has written its process into a file of the working folder.
func (b begunHost) pid(name string) signals.Identity {
	var id signals.Identity
	b.r.eventually(name+" was started", func() bool {
		data, err := os.ReadFile(b.r.path("work", name))
		if err != nil || !strings.HasSuffix(string(data), "\n") {
			return false
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err == nil {
			id, err = signals.Identify(pid)
		}
		return err == nil
	})
	return id
}

// writesPID is a program that says who it is, does not go on HUP, and stays.
func writesPID(name string) []string {
	return []string{"sh", "-c", `trap "" HUP; echo $$ >"$0"; while :; do sleep 1000; done`, name}
}

// ended waits until the host has written its end down and is gone.
func (b begunHost) ended() {
	b.r.eventually("the host's end is written down", func() bool {
		h, err := b.records.Host(b.r.t.Context(), "abc", b.agent)
		return err == nil && h.Ended != nil && h.Process.Probe() == signals.Gone
	})
}

// A pane that is closed while its host still waits with its own start takes the program along,
// and the end is written down.
func TestBegunInAPaneThatIsClosed(t *testing.T) {
	t.Parallel()
	argv := writesPID("early")
	b := startBegun(t, argv, begin.Order{Argv: argv, Pause: 2 * time.Second})
	program := b.pid("early")
	if _, err := b.records.Host(t.Context(), "abc", b.agent); err == nil {
		t.Skip("the machine is so busy that the host is there already")
	}
	b.r.tmux.Run("kill-pane", "-t", b.pane)
	b.r.eventually("the program is gone", func() bool { return program.Probe() == signals.Gone })
	b.ended()
	if h, _ := b.records.Host(t.Context(), "abc", b.agent); h.Ended.State != state.Stopped {
		t.Errorf("ended as %+v, want %s", *h.Ended, state.Stopped)
	}
}

// What was started and is not what the record says is ended, and what the record says runs.
func TestBegunThatTheRecordDoesNotName(t *testing.T) {
	t.Parallel()
	b := startBegun(t, writesPID("recorded"), begin.Order{Argv: writesPID("early"), Pause: 300 * time.Millisecond})
	early := b.pid("early")
	recorded := b.pid("recorded")
	if early.Probe() != signals.Gone {
		t.Errorf("the program that the record does not name still runs: %v", early)
	}
	b.r.tmux.Run("kill-pane", "-t", b.pane)
	b.r.eventually("the program is gone", func() bool { return recorded.Probe() == signals.Gone })
	b.ended()
}
