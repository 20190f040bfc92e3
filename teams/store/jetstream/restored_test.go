package jetstream_test

import (
	"os"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// TestRestored: an engine that was restored from a backup has less than the machines have seen of
// it. They show what it has then, and what is written under the numbers that are given again.
func TestRestored(t *testing.T) {
	server := natstest.For(t)
	ctx := context20(t)
	s, err := openAt(server.URL, natstest.Prefix(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	restart := func(between func() error) {
		t.Helper()
		server.Kill()
		err := between()
		if err == nil {
			err = server.Restart()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for ; !ok(); time.Sleep(20 * time.Millisecond) {
			if ctx.Err() != nil {
				t.Fatalf("%s: %v", what, ctx.Err())
			}
		}
	}
	team := func(name string) {
		t.Helper()
		if err := s.Roster.Create(ctx, store.Team{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	write := func(text string) {
		t.Helper()
		if _, err := s.Tasks.Create(ctx, "alpha", store.Task{Subject: text}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Mail.Put(ctx, "alpha", "bob", store.Message{From: "ann", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	shown := func() (tasks, mail string) {
		list, _, _ := s.Tasks.List(ctx, "alpha")
		for _, task := range list {
			tasks += task.Subject + " "
		}
		box, _ := s.Mail.List(ctx, "alpha", "bob")
		for _, msg := range box {
			mail += msg.Text + " "
		}
		return tasks, mail
	}
	shows := func(want string) func() bool {
		return func() bool { tasks, mail := shown(); return tasks == want && mail == want }
	}

	team("alpha")
	write("kept")
	backup := t.TempDir()
	restart(func() error { return os.CopyFS(backup+"/copy", os.DirFS(server.Dir)) })
	eventually("the engine is back", shows("kept "))
	write("lost")
	write("lost")
	team("beta")
	eventually("all is shown", shows("kept lost lost "))
	hints, err := s.Tasks.Watch(ctx, "alpha")
	if err != nil {
		t.Fatal(err)
	}
	<-hints // at once, for the first time
	restart(func() error {
		if err := os.RemoveAll(server.Dir); err != nil {
			return err
		}
		return os.CopyFS(server.Dir, os.DirFS(backup+"/copy"))
	})
	select {
	case <-hints:
	case <-ctx.Done():
		t.Error("who watches is not told")
	}
	eventually("what the backup has is shown", shows("kept "))
	eventually("a team of later is gone", func() bool { _, err := s.Roster.Get(ctx, "beta"); return fault.CodeOf(err) == fault.TeamNotFound })
	write("new")
	if _, ok := <-hints; !ok {
		t.Error("who watches is told no more")
	}
	eventually("what is new is shown", shows("kept new "))
}
