package document

import (
	"fmt"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// BenchmarkRoster reads a roster of a hundred members, and changes one of them.
func BenchmarkRoster(b *testing.B) {
	t := store.Team{Name: "many"}
	now := time.Now()
	for i := range 100 {
		name := fmt.Sprintf("m%03d", i)
		t.Members = append(t.Members, store.Member{
			AgentID: name + "@many", Name: name, Color: "blue", JoinedAt: now, Cwd: "/work", TmuxPaneID: "%1", BackendType: "tmux",
			Leadlight: &store.Bookkeeping{Host: "5a6d4ad0-0000-4000-8000-000000000000", Kind: "plain", Profile: "exec", State: "active", SpawnedAt: &now},
		})
	}
	data := NewTeam(t)
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := ReadTeam("many", data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("edit", func(b *testing.B) {
		for b.Loop() {
			open, err := OpenTeam("many", data)
			if err != nil {
				b.Fatal(err)
			}
			changed, err := open.Edit(func(t *store.Team) error {
				t.Members[50].Leadlight.State = "stopped"
				return nil
			})
			if err != nil || !changed {
				b.Fatal(changed, err)
			}
		}
	})
}

// BenchmarkTask reads a task, and claims it.
func BenchmarkTask(b *testing.B) {
	was, err := store.CheckNew(store.Task{Subject: "Read the code", CreatedBy: store.Lead}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	was.ID = "1"
	data := Bytes(NewTask(&was))
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := OpenTask("1", data, "alpha"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("claim", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			t, o, err := OpenTask("1", data, "alpha")
			if err != nil {
				b.Fatal(err)
			}
			next, err := store.Revise(&t, time.Now(), func(t *store.Task) error {
				t.Owner, t.Status = "w1", store.InProgress
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			SaveTask(o, &t, &next)
			_ = Bytes(o)
		}
	})
}
