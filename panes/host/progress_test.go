package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// The limit counts from what went on last: what goes on slowly has all the time that there is
// for it, what stands still has not.
func TestAwaitWhileItGoesOn(t *testing.T) {
	t.Parallel()
	const never = time.Hour
	for name, tc := range map[string]struct {
		steps, done, hurry, took time.Duration // steps: until then something goes on, every 1.9 s
		came                     bool
	}{
		"it comes at once":     {done: 0, hurry: never, took: 0, came: true},
		"it stands still":      {done: 4 * time.Second, hurry: never, took: 2 * time.Second},
		"it is slow":           {steps: 19 * time.Second, done: 20 * time.Second, hurry: never, took: 20 * time.Second, came: true},
		"it gets stuck":        {steps: 19 * time.Second, done: never, hurry: never, took: 21 * time.Second},
		"it goes on for ever":  {steps: never, done: never, hurry: never, took: 30 * time.Second},
		"there is hurry":       {steps: never, done: never, hurry: 10 * time.Second, took: 12 * time.Second},
		"there was, all along": {steps: never, done: never, hurry: 0, took: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Minute)
				p, done, hurry, end := newProgress(), make(chan struct{}), make(chan struct{}), make(chan struct{})
				time.Sleep(time.Minute) // it stood still for long, and that does not count
				began := time.Now()
				closeAt := func(ch chan struct{}, at time.Duration) {
					if at == 0 {
						close(ch)
						return
					}
					time.AfterFunc(at, func() { close(ch) })
				}
				closeAt(done, tc.done)
				closeAt(hurry, tc.hurry)
				go func() {
					for time.Since(began) < tc.steps {
						select {
						case <-end:
							return
						case <-time.After(1900 * time.Millisecond):
							p.note()
						}
					}
				}()
				if came := p.await(done, 2*time.Second, 30*time.Second, hurry); came != tc.came || time.Since(began) != tc.took {
					t.Errorf("it came: %v, after %v", came, time.Since(began))
				}
				close(end)
			})
		})
	}
}

// A pane that takes slowly what a program wrote before its end has all of it.
func TestASlowPaneShowsTheEnd(t *testing.T) {
	t.Parallel()
	p := newPane(t, 24, 80)
	dir := t.TempDir()
	open, rename := transcriptFiles(dir)
	h := newHost(t, Options{Terminal: p.tty, Transcript: NewTranscript(open, rename, "t", 1<<20)})
	c, started := shell(`head -c 40000 /dev/zero | tr '\0' x; echo; echo the-end`), make(chan struct{})
	c.Started = func() error { close(started); return nil }
	done := background(t, h, c)
	take := func() {
		if p.out.Len() >= 40000 { // on a slow machine all may be taken before the end is seen
			return
		}
		buf := make([]byte, 2<<10)
		p.master.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := p.master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		p.out.Write(buf[:n])
	}
	<-started
	for h.Status().Agent != nil { // what it still had in its terminal then is the end
		take()
		time.Sleep(20 * time.Millisecond)
	}
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	for ended := time.Now(); time.Since(ended) < drainLimit+100*time.Millisecond; <-tick.C {
		take()
	}
	p.master.SetReadDeadline(time.Time{})
	p.watch(t)
	endOf(t, done)
	kept, err := os.ReadFile(filepath.Join(dir, "t"))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "all of it is shown", func() bool { return p.out.Len() >= len(kept) })
	if shown := p.out.String(); shown != string(kept) {
		t.Errorf("%d bytes are shown of %d", len(shown), len(kept))
	}
}

// A viewer that takes slowly what it has not seen yet when the host closes has all of it, and
// the end.
func TestASlowViewerSeesTheEnd(t *testing.T) {
	t.Parallel()
	h, c := listening(t, Options{})
	_, r, hangUp, err := c.begin(limited(t), opAttach, attachParams{})
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp()
	if err := c.answer(limited(t), opAttach, r, nil); err != nil {
		t.Fatal(err)
	}
	const size = 800 << 10
	h.Write(make([]byte, size))
	closed := make(chan struct{})
	go func() { h.Close(); close(closed) }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	seen, began, kind := 0, time.Now(), byte(0)
	for kind != frameEnd {
		var p []byte
		if kind, p, err = readFrame(r); err != nil {
			t.Fatalf("after %d bytes of %d and %v: %v", seen, size, time.Since(began), err)
		}
		if seen += len(p); time.Since(began) < closeLimit+300*time.Millisecond {
			for range 3 {
				<-tick.C
			}
		}
	}
	if seen < size {
		t.Errorf("%d bytes are seen of %d", seen, size)
	}
	<-closed
}

// Who follows the status is told the last one when the host closes, and does not hold that up.
func TestAFollowerDoesNotHoldTheCloseUp(t *testing.T) {
	t.Parallel()
	took := closeLimit
	for try := 0; try < 5 && took >= closeLimit; try++ { // the machine may be slow once
		h, c := listening(t, Options{})
		told, followed := make(chan Status, 8), make(chan error, 1)
		go func() { followed <- c.Follow(context.Background(), func(s Status) { told <- s }) }()
		<-told
		h.SetState(Shown{State: "last"})
		began := time.Now()
		h.Close()
		took = time.Since(began)
		if err := <-followed; !errors.Is(err, ErrNoHost) {
			t.Error(err)
		}
		if s := <-told; s.State != "last" {
			t.Errorf("it was told %+v", s)
		}
	}
	if took >= closeLimit {
		t.Errorf("took %v", took)
	}
}
