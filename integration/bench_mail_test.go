package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/storetest"
)

// boxSize is how many messages a box has at most before its reader takes them, and letter
// what the floor puts into it for each.
const (
	boxSize = 50
	letter  = `{"from":"team-lead","text":"hello","timestamp":"2026-01-01T00:00:00.000Z","color":"blue","msgV":1,"msg_id":"00000000-0000-0000-0000-000000000000","type":"message","read":false}`
)

// BenchmarkServiceSend measures from the call of Send to the moment when a reader that
// watches its box has the message. To the lead there is only the roster to read; to a
// teammate Send also looks whether its host lives. The floor is flock, mkdir, read,
// write, fsync, rename, an inotify event and the read of the other side, with boxes of the
// same size on the same file system. On both sides the reader is a goroutine of its own,
// so what the writer does after the rename (the sync of the folder, which only the product
// does) counts where it makes the reader wait.
func BenchmarkServiceSend(b *testing.B) {
	for _, to := range []string{store.Lead, "bob"} {
		b.Run(to, func(b *testing.B) {
			o := newRig(b, windowSize).office(b)
			ensure(b, o.createTeam("mail", ""))
			for _, s := range o.svc.Spawn(b.Context(), "mail", []teams.SpawnSpec{{Name: "bob", Command: []string{"sleep", "1000"}}}) {
				ensure(b, s.Err)
			}
			duel(b, boxSize, rawSend(b, o.base), o.send(to))
		})
	}
}

// send returns a work that sends a message and tells how long it took until its reader had
// it.
func (o *office) send(to string) func(int) time.Duration {
	b := o.b
	hints, err := o.mail.Watch(b.Context(), "mail", to)
	ensure(b, err)
	<-hints
	seen := storetest.Reader(hints, func() ([]store.Message, error) { return o.mail.List(b.Context(), "mail", to) })
	box := filepath.Join(o.base, "teams/mail/inboxes", to+".json")
	return func(i int) time.Duration {
		start := time.Now()
		sent, err := o.svc.Send(b.Context(), "mail", teams.SendSpec{To: to, Text: "hello"})
		ensure(b, err)
		at := seen(sent.ID)
		if i%boxSize == boxSize-1 { // the reader takes its mail, as readers do
			ensure(b, os.WriteFile(box, []byte("[]"), 0o600))
		}
		return at.Sub(start)
	}
}

// rawSend is the least that a program has to do that shares a box with others.
func rawSend(b *testing.B, base string) func(int) time.Duration {
	dir, err := os.MkdirTemp(base, "floor")
	ensure(b, err)
	box := filepath.Join(dir, "box.json")
	ensure(b, os.WriteFile(box, nil, 0o600))
	w, err := fsnotify.NewWatcher()
	ensure(b, err)
	b.Cleanup(func() { _ = w.Close() })
	ensure(b, w.Add(dir))
	arrived := make(chan time.Time)
	go func() {
		for e := range w.Events {
			if e.Name == box && e.Has(fsnotify.Create) {
				_, _ = os.ReadFile(box)
				arrived <- time.Now()
			}
		}
	}()
	return func(i int) time.Duration {
		start := time.Now()
		lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
		ensure(b, err)
		ensure(b, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
		data, err := os.ReadFile(box)
		ensure(b, err)
		f, err := os.CreateTemp(dir, "*.tmp")
		ensure(b, err)
		_, err = f.Write(append(data, letter...))
		ensure(b, err)
		ensure(b, f.Sync())
		ensure(b, f.Close())
		ensure(b, os.Mkdir(box+".lock", 0o700))
		ensure(b, os.Rename(f.Name(), box))
		ensure(b, os.Remove(box+".lock"))
		ensure(b, lock.Close())
		at := <-arrived
		if i%boxSize == boxSize-1 {
			ensure(b, os.WriteFile(box, nil, 0o600))
		}
		return at.Sub(start)
	}
}

// BenchmarkMaildirSend measures sending into a box of 10 000 messages; its floor is the
// same into a box of 10.
func BenchmarkMaildirSend(b *testing.B) {
	o := newRig(b, windowSize).office(b)
	send := func(team string, held int) func(int) time.Duration {
		ensure(b, o.createTeam(team, store.MailboxMaildir))
		box := filepath.Join(o.base, "teams", team, "inbox", store.Lead)
		spec := teams.SendSpec{To: store.Lead, Text: "hello"}
		_, err := o.svc.Send(b.Context(), team, spec)
		ensure(b, err)
		first, err := filepath.Glob(filepath.Join(box, "*.json"))
		ensure(b, err)
		if len(first) != 1 {
			b.Fatalf("%s holds %v", box, first)
		}
		text, err := os.ReadFile(first[0])
		ensure(b, err)
		ensure(b, os.Remove(first[0]))
		for i := range held { // older than what is sent from now on
			ensure(b, os.WriteFile(filepath.Join(box, fmt.Sprintf("msg-%019d-%d.json", i+1, i)), text, 0o600))
		}
		return func(int) time.Duration {
			start := time.Now()
			_, err := o.svc.Send(b.Context(), team, spec)
			took := time.Since(start)
			ensure(b, err)
			sent, err := filepath.Glob(filepath.Join(box, "msg-1*.json"))
			ensure(b, err)
			if len(sent) != 1 {
				b.Fatalf("%d messages were sent: %v", len(sent), sent)
			}
			ensure(b, os.Remove(sent[0]))
			return took
		}
	}
	duel(b, 50, send("small-box", 10), send("large-box", 10_000))
}
