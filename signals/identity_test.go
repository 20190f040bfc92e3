package signals

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestSelfIsAlive(t *testing.T) {
	id, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	if id.PID != os.Getpid() || id.Start == 0 || id.Boot == "" {
		t.Errorf("identity %+v", id)
	}
	if got := id.Probe(); got != Alive {
		t.Errorf("probe of ourselves: %v", got)
	}
}

// That it could not be told once is not remembered.
func TestSelfAfterWant(t *testing.T) {
	said, err := part("starved").Output()
	first, then, _ := strings.Cut(strings.TrimSpace(string(said)), ", then ")
	if err != nil || then != "<nil>" || runtime.GOOS == "linux" && first == "<nil>" {
		t.Errorf("it said %q, %v", said, err)
	}
}

// TestXH04_XS48_OnlyProofIsGone: whatever differs in the place makes it unknown, never gone.
func TestXH04_XS48_OnlyProofIsGone(t *testing.T) {
	running := start(t, part("sleep"))
	with := func(change func(*Identity)) Identity {
		id := running
		change(&id)
		return id
	}
	for _, tc := range []struct {
		name string
		id   Identity
		want Liveness
	}{
		{"running", running, Alive},
		{"the pid was given out again", with(func(id *Identity) { id.Start++ }), Gone},
		{"before a reboot", with(func(id *Identity) { id.Boot = "another"; id.Start++ }), Gone},
		{"a file over the boot id", with(func(id *Identity) { id.Boot = "another" }), Unknown},
		{"another machine id", with(func(id *Identity) { id.Machine = "other" }), Unknown},
		{"another machine id, and nobody there", with(func(id *Identity) { id.Machine = "other"; id.Start++ }), Unknown},
		{"another host name, and nobody there", with(func(id *Identity) { id.HostName = "other"; id.Start++ }), Unknown},
		{"another time namespace, where it started at another time", with(func(id *Identity) { id.Clock = "time:[1]"; id.Start++ }), Unknown},
		{"another machine with the same folder", with(func(id *Identity) { id.Boot, id.Machine = "another", "other" }), Unknown},
		{"another pid namespace", with(func(id *Identity) { id.Namespace = "pid:[1]"; id.Start++ }), Unknown},
		{"another pid namespace of an earlier boot", with(func(id *Identity) { id.Boot, id.Namespace = "another", "pid:[1]" }), Unknown},
		{"no identity", Identity{}, Unknown},
		{"a pid without boot", Identity{PID: running.PID, Start: running.Start}, Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.id.Probe(); got != tc.want {
				t.Errorf("probe = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestProbeSeesTheEnd(t *testing.T) {
	c := part("sleep")
	id := start(t, c)
	c.Process.Kill()
	// A zombie first (nobody has waited), then free.
	eventually(t, "a zombie counts as gone", func() bool { return id.Probe() == Gone })
	if _, err := Identify(id.PID); !errors.Is(err, ErrGone) {
		t.Errorf("identify a zombie: %v", err)
	}
	c.Wait()
	if got := id.Probe(); got != Gone {
		t.Errorf("probe after wait: %v", got)
	}
	if err := (Proof{id: id}).Signal(syscall.SIGTERM); !errors.Is(err, ErrGone) {
		t.Errorf("signal after the end: %v", err)
	}
}

// A stored pid that was given out again must never be signalled.
// https://github.com/gastownhall/gastown/issues/923
func TestSH05_ReusedPidIsNotSignalled(t *testing.T) {
	stranger := start(t, part("sleep"))
	stored := stranger
	stored.Start-- // what was stored was started at another time
	if err := (Proof{id: stored}).Signal(syscall.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal = %v, want ErrGone", err)
	}
	if err := stored.Wait(limited(t)); err != nil {
		t.Errorf("wait for what is gone: %v", err)
	}
	if stranger.Probe() != Alive {
		t.Fatal("the stranger was hit")
	}
}

func TestSignalNeverReachesInitOrNobody(t *testing.T) {
	for _, pid := range []int{-1, 0, 1} {
		self, err := Self()
		if err != nil {
			t.Fatal(err)
		}
		self.PID = pid
		if err := (Proof{id: self}).Signal(0); !errors.Is(err, ErrUnproven) {
			t.Errorf("pid %d: %v", pid, err)
		}
	}
}

func TestWait(t *testing.T) {
	// Not our child: the shell says the pid of its own.
	c := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	id := startPrinted(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := id.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("wait for a running process: %v", err)
	}
	if err := (Proof{id: id}).Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := id.Wait(limited(t)); err != nil {
		t.Errorf("wait for the end: %v", err)
	}
	if id.Probe() != Gone {
		t.Error("waited, but not gone")
	}
}

func TestInterrupts(t *testing.T) {
	ctx, force, stop := Interrupts(t.Context())
	defer stop()
	self := os.Getpid()
	syscall.Kill(self, syscall.SIGTERM)
	<-ctx.Done()
	var cause Interrupted
	if !errors.As(context.Cause(ctx), &cause) || cause.Signal != syscall.SIGTERM {
		t.Errorf("cause = %v", context.Cause(ctx))
	}
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Error("the cause is no cancellation")
	}
	select {
	case <-force:
		t.Fatal("one signal is not two")
	case <-time.After(2 * asOne):
	}
	syscall.Kill(self, syscall.SIGINT)
	select {
	case <-force:
	case <-time.After(time.Minute):
		t.Fatal("the second signal does not force")
	}
}

// TestXD04_TwoSignalsAtOnceAreOne: as timeout(1) sends them. So a request to stop is taken
// back, and not forgotten.
func TestXD04_TwoSignalsAtOnceAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		arrived, done, forced := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
		go twoSteps(arrived, done, cancel, forced)
		arrived <- syscall.SIGTERM
		arrived <- syscall.SIGTERM
		time.Sleep(asOne)
		select {
		case <-forced:
			t.Error("they force")
		default:
		}
		if ctx.Err() == nil {
			t.Error("they end nothing")
		}
		arrived <- syscall.SIGTERM
		<-forced
	})
}

func TestInterruptsStop(t *testing.T) {
	ctx, _, stop := Interrupts(t.Context())
	stop()
	stop()
	if ctx.Err() == nil || errors.As(context.Cause(ctx), new(Interrupted)) {
		t.Errorf("after stop: %v", context.Cause(ctx))
	}
}
