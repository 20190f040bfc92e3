package cli

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
)

// TestForegroundLeavesInterrupts: ^C is the program's, however often it is pressed.
func TestForegroundLeavesInterrupts(t *testing.T) {
	ctx, force, stop := signals.Interrupts(t.Context())
	defer signal.Reset(syscall.SIGINT)
	defer stop()
	enough := filepath.Join(t.TempDir(), "enough")
	go func() {
		for end := time.Now().Add(time.Minute); !signal.Ignored(syscall.SIGINT); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Error("interrupts still end this process")
				break
			}
		}
		for range 2 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		}
		if err := os.WriteFile(enough, nil, 0o600); err != nil {
			t.Error(err)
		}
	}()
	status, err := foreground(ctx, []string{"/bin/sh", "-c", `while [ ! -e "$1" ]; do sleep 0.02; done; exit 7`, "sh", enough}, os.Environ())
	if err != nil || status != 7 || ctx.Err() != nil {
		t.Errorf("status %d, %v, %v", status, err, ctx.Err())
	}
	select {
	case <-force:
		t.Error("it was not waited for")
	default:
	}
}
