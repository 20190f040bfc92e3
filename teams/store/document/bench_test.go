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
