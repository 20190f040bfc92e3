package signals

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestXH08_OnlyAProofSignals: a process that a record names, and that is not what the
// record says, gets no signal; nor does one that somebody else has started.
func TestXH08_OnlyAProofSignals(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	id, err := Identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Prove(id, func(p Process) bool { return len(p.Argv) > 1 && p.Argv[1] == "7" }); !errors.Is(err, ErrUnproven) || !errors.Is(p.Signal(syscall.SIGKILL), ErrUnproven) {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := Own(os.Getppid()); !errors.Is(err, ErrUnproven) {
		t.Errorf("who started us: %v", err)
	}
	if id.Probe() != Alive {
		t.Fatal("it was ended")
	}
	p, err := Prove(id, func(p Process) bool { return len(p.Argv) > 1 && p.Argv[1] == "1000" })
	if err != nil || p.Signal(syscall.SIGKILL) != nil {
		t.Errorf("ours: %v", err)
	}
	if _, err := Own(c.Process.Pid); err != nil && !errors.Is(err, ErrGone) {
		t.Errorf("a child: %v", err)
	}
	if err := id.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Prove(id, func(Process) bool { return true }); !errors.Is(err, ErrGone) {
		t.Errorf("one that has ended: %v", err)
	}
}

// TestXH08_AGroupOfOurOwn: a group gets a signal also when its leader has ended; a process
// that leads none, or is nobody's child here, proves none, and nor does a number that
// means another process by now.
func TestXH08_AGroupOfOurOwn(t *testing.T) {
	c := exec.Command("sh", "-c", "sleep 1000 & echo $!; exec sleep 1000")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	member := startPrinted(t, c)
	group, err := OwnGroup(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{member.PID, os.Getppid(), os.Getpid()} {
		if _, err := OwnGroup(pid); !errors.Is(err, ErrUnproven) {
			t.Errorf("pid %d: %v", pid, err)
		}
	}
	other := group
	other.id.Start++
	if err := other.Signal(syscall.SIGKILL); !errors.Is(err, ErrGone) || member.Probe() != Alive {
		t.Errorf("another process of that number: %v", err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if err := group.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("the group without its leader: %v", err)
	}
	if err := member.Wait(limited(t)); err != nil {
		t.Error(err)
	}
}
