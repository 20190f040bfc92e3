package exetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestWhatIsWrittenCanBeRun writes and runs programs while other processes begin.
func TestWhatIsWrittenCanBeRun(t *testing.T) {
	t.Parallel()
	whole, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				path := filepath.Join(dir, strconv.Itoa(i)+"-"+strconv.Itoa(j))
				if err := Write(path, content); err != nil {
					t.Error(err)
				} else if err := exec.Command(path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestStopped: only a process that a signal has stopped.
func TestStopped(t *testing.T) {
	t.Parallel()
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	if Stopped(c.Process.Pid) {
		t.Error("stopped before a signal")
	}
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !Stopped(c.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not stopped")
		}
	}
}
