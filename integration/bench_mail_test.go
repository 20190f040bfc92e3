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
)

// BenchmarkServiceSend measures from the call of Send to the moment when a reader that
// watches its box has the message. To the lead there is only the roster to read; to a
// teammate Send also asks its host whether it lives. The floor is flock, mkdir, read,
// write, fsync, rename, rmdir and an inotify event, on the same file system.
func BenchmarkServiceSend(b *testing.B) {
	for _, to := range []string{store.Lead, "bob"} {
		b.Run(to, func(b *testing.B) {
			o := newRig(b, windowSize).office(b)
			ensure(b, o.createTeam("mail", ""))
			for _, s := range o.svc.Spawn(b.Context(), "mail", []teams.SpawnSpec{{Name: "bob", Command: []string{"sleep", "1000"}}}) {
				ensure(b, s.Err)
			}
			hints, err := o.mail.Watch(b.Context(), "mail", to)
			ensure(b, err)
			<-hints
			box := filepath.Join(o.base, "teams/mail/inboxes", to+".json")
			duel(b, 50, clocked(rawSend(b, o.base)), clocked(func(i int) {
				sent, err := o.svc.Send(b.Context(), "mail", teams.SendSpec{To: to, Text: "hello"})
				ensure(b, err)
				for seen := false; !seen; {
					<-hints
					list, err := o.mail.List(b.Context(), "mail", to)
					ensure(b, err)
					seen = len(list) > 0 && list[len(list)-1].ID == sent.ID
				}
				if i%50 == 49 { // the reader takes its mail, as readers do
					ensure(b, os.WriteFile(box, []byte("[]"), 0o600))
				}
			}))
		})
	}
}

// rawSend is the least that a program has to do that shares a box with others.
func rawSend(b *testing.B, base string) func(int) {
	dir, err := os.MkdirTemp(base, "floor")
	ensure(b, err)
	box := filepath.Join(dir, "box.json")
	ensure(b, os.WriteFile(box, []byte("[]"), 0o600))
	w, err := fsnotify.NewWatcher()
	ensure(b, err)
	b.Cleanup(func() { _ = w.Close() })
	ensure(b, w.Add(dir))
	return func(i int) {
		lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
		ensure(b, err)
		ensure(b, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
		ensure(b, os.Mkdir(box+".lock", 0o700))
		data, err := os.ReadFile(box)
		ensure(b, err)
		f, err := os.CreateTemp(dir, "*.tmp")
		ensure(b, err)
		_, err = f.Write(data)
		ensure(b, err)
		ensure(b, f.Sync())
		ensure(b, f.Close())
		ensure(b, os.Rename(f.Name(), box))
		ensure(b, os.Remove(box+".lock"))
		ensure(b, lock.Close())
		for e := range w.Events {
			if e.Name == box && e.Has(fsnotify.Create) {
				break
			}
		}
		for len(w.Events) > 0 {
			<-w.Events
		}
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
