package claudefs_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// The benchmarks do the bare work of the system calls (floor) and the store's by
// turns, so that both meet the same disk, and report how they compare.

func benchStore(b *testing.B) (string, *claudefs.FS) {
	b.Helper()
	base := b.TempDir()
	fs, err := claudefs.Open(base, claudefs.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { fs.Close() })
	err = fs.Roster().Create(b.Context(), store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "builder"}}})
	if err != nil {
		b.Fatal(err)
	}
	return base, fs
}

// duel runs two works by turns and reports their medians and the ratio. A work
// returns how long it took.
func duel(b *testing.B, floor, product func(i int) time.Duration) {
	b.Helper()
	var times [2][]time.Duration
	i := 0
	for b.Loop() {
		for n, work := range []func(int) time.Duration{floor, product} {
			times[n] = append(times[n], work(i))
		}
		i++
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	f, p := times[0][len(times[0])/2], times[1][len(times[1])/2]
	b.ReportMetric(float64(f.Microseconds()), "floor-p50-µs")
	b.ReportMetric(float64(p.Microseconds()), "product-p50-µs")
	b.ReportMetric(float64(p)/float64(f), "times-floor")
	b.ReportMetric(float64(f)/float64(p), "of-floor-throughput")
}

func check(b testing.TB, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}

// BenchmarkSend measures from the call of Put to the moment when a reader that
// watches has the message, against flock, mkdir, read, write, fsync, rename,
// rmdir and an inotify event.
func BenchmarkSend(b *testing.B) {
	base, fs := benchStore(b)
	floor := floorSend(b)
	mail := fs.Mail(nil)
	ctx, cancel := context.WithCancel(b.Context())
	hints, err := mail.Watch(ctx, "alpha", "builder")
	check(b, err)
	type sight struct {
		id string
		at time.Time
	}
	seen := make(chan sight, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		last := ""
		for range hints {
			list, err := mail.List(b.Context(), "alpha", "builder")
			if err != nil {
				b.Error(err)
				return
			}
			if n := len(list); n > 0 && list[n-1].ID != last {
				last = list[n-1].ID
				seen <- sight{last, time.Now()}
			}
		}
	}()
	box := filepath.Join(base, "teams/alpha/inboxes/builder.json")
	duel(b, floor, func(i int) time.Duration {
		start := time.Now()
		m, err := mail.Put(b.Context(), "alpha", "builder", store.Message{From: "a", Text: "hello"})
		check(b, err)
		s := <-seen
		for s.id != m.ID {
			s = <-seen
		}
		if i%50 == 49 { // the reader takes its mail, as readers do
			check(b, os.WriteFile(box, []byte("[]"), 0o600))
		}
		return s.at.Sub(start)
	})
	cancel()
	<-done
}

func floorSend(b *testing.B) func(int) time.Duration {
	dir := b.TempDir()
	box, lockPath := filepath.Join(dir, "box.json"), filepath.Join(dir, "lock")
	check(b, os.WriteFile(box, make([]byte, 4000), 0o600))
	w, err := fsnotify.NewWatcher()
	check(b, err)
	b.Cleanup(func() { w.Close() })
	check(b, w.Add(dir))
	return func(int) time.Duration {
		start := time.Now()
		unlock := flock(b, lockPath)
		check(b, os.Mkdir(box+".lock", 0o700))
		data, err := os.ReadFile(box)
		check(b, err)
		replace(b, box, data)
		check(b, os.Remove(box+".lock"))
		unlock()
		for seen := false; !seen; {
			e := <-w.Events
			seen = e.Name == box && e.Has(fsnotify.Create)
		}
		took := time.Since(start)
		for len(w.Events) > 0 {
			<-w.Events
		}
		return took
	}
}

// BenchmarkClaim measures ClaimNext in a list of 500 against flock, read, fsync
// and rename.
func BenchmarkClaim(b *testing.B) {
	base, fs := benchStore(b)
	dir := b.TempDir()
	const total = 500
	refill := func() {
		check(b, os.RemoveAll(filepath.Join(base, "tasks/alpha")))
		check(b, os.MkdirAll(filepath.Join(base, "tasks/alpha"), 0o700))
		for i := 1; i <= total; i++ {
			text := fmt.Sprintf("{\n  \"id\": \"%d\",\n  \"subject\": \"Piece\",\n  \"description\": \"Do it\",\n  \"status\": \"pending\",\n  \"blocks\": [],\n  \"blockedBy\": []\n}", i)
			check(b, os.WriteFile(filepath.Join(base, "tasks/alpha", strconv.Itoa(i)+".json"), []byte(text), 0o600))
			check(b, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".json"), []byte(text), 0o600))
		}
		_, _, err := fs.Tasks().List(b.Context(), "alpha")
		check(b, err)
	}
	refill()
	duel(b, func(i int) time.Duration {
		start := time.Now()
		unlock := flock(b, filepath.Join(dir, "lock-"+strconv.Itoa(i%total+1)))
		name := filepath.Join(dir, strconv.Itoa(i%total+1)+".json")
		data, err := os.ReadFile(name)
		check(b, err)
		replace(b, name, data)
		unlock()
		return time.Since(start)
	}, func(i int) time.Duration {
		if i > 0 && i%total == 0 {
			b.StopTimer()
			refill()
			b.StartTimer()
		}
		start := time.Now()
		_, err := fs.Tasks().ClaimNext(b.Context(), "alpha", "builder")
		check(b, err)
		return time.Since(start)
	})
}

func flock(b *testing.B, path string) func() {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	check(b, err)
	check(b, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	return func() { f.Close() }
}

func replace(b testing.TB, path string, data []byte) {
	f, err := os.CreateTemp(filepath.Dir(path), "t*.tmp")
	check(b, err)
	_, err = f.Write(data)
	check(b, err)
	check(b, f.Sync())
	check(b, f.Close())
	check(b, os.Rename(f.Name(), path))
}

// BenchmarkSendToLargeBox sends into a box of 1200 messages and 1.8 MB.
func BenchmarkSendToLargeBox(b *testing.B) {
	base, fs := benchStore(b)
	writeLargeBox(b, filepath.Join(base, "teams/alpha/inboxes/builder.json"))
	for b.Loop() {
		_, err := fs.Mail(nil).Put(b.Context(), "alpha", "builder", store.Message{From: "a", Text: "one more"})
		check(b, err)
	}
}

// writeLargeBox writes 1200 messages of 1.5 kB, ten of them unread.
func writeLargeBox(t testing.TB, path string) {
	f, err := os.Create(path)
	check(t, err)
	defer f.Close()
	text := make([]byte, 1400)
	for i := range text {
		text[i] = "lorem ipsum dolor "[i%18]
	}
	_, err = io.WriteString(f, "[")
	check(t, err)
	for i := range 1200 {
		sep := ","
		if i == 0 {
			sep = ""
		}
		_, err = fmt.Fprintf(f, "%s\n  {\n    \"from\": \"builder\",\n    \"text\": \"%d %s\",\n    \"timestamp\": \"2026-03-02T10:%02d:%02d.000Z\",\n    \"read\": %t\n  }", sep, i, text, i/60%60, i%60, i < 1190)
		check(t, err)
	}
	_, err = io.WriteString(f, "\n]")
	check(t, err)
}
