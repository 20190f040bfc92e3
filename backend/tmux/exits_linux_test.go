package tmux

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
)

// A program that has ended is dead to us even while tmux has not noticed. Here this test
// is the parent that does not ask how it ended.
func TestLostExitIsNoticed(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	b, err := New(Options{Socket: "/tmp/none"})
	if err != nil {
		t.Fatal(err)
	}
	mark := backend.Mark{Host: "h"}
	pane := func(pid int, m backend.Mark) row {
		return row{Pane: backend.Pane{ID: "%1", PID: pid, Server: strconv.Itoa(os.Getpid()) + ".1", Mark: m}}
	}
	rows := []row{pane(cmd.Process.Pid, mark), pane(os.Getpid(), mark), pane(cmd.Process.Pid, backend.Mark{})}
	for end := time.Now().Add(time.Minute); !rows[0].Dead && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		b.notice(rows)
	}
	if !rows[0].Dead || rows[1].Dead || rows[2].Dead {
		t.Errorf("ended: %v, running: %v, a stranger's: %v", rows[0].Dead, rows[1].Dead, rows[2].Dead)
	}
}
