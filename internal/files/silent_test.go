package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMH01_NoEventsNoSilence: where the system sends no events the watcher looks by
// itself, says so, and is not more than five seconds late while things happen.
func TestMH01_NoEventsNoSilence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := Watcher{far: func(string) bool { return true }}
	hints, err := w.Watch(t.Context(), []string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-hints
	w.mu.Lock()
	for s := range w.subs { // and really none comes
		for folder := range s.watched {
			if err := w.events.Remove(folder); err != nil {
				t.Error(err)
			}
		}
	}
	w.mu.Unlock()
	if !w.Polling() {
		t.Error("it does not say that it polls")
	}
	fast := 0 // an event comes at once every time, a look may
	for _, name := range []string{"a.json", "b.json"} {
		began := time.Now()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case <-hints:
			if time.Since(began) < 10*time.Millisecond {
				fast++
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: no hint within 30 s", name)
		}
	}
	if fast == 2 {
		t.Error("those were events")
	}
	if (&Watcher{}).Polling() {
		t.Error("one that watches nothing polls")
	}
}
