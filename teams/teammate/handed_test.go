package teammate

import (
	"context"
	"log/slog"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// awayMail is mail of an engine that is away when something is to be written down.
type awayMail struct {
	store.Mail
	away bool
}

func (a *awayMail) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	if a.away {
		return fault.New(fault.EngineUnavailable, "the engine is away")
	}
	return a.Mail.MarkRead(ctx, team, owner, ids)
}

// What an agent was given while the engine was away is not given to it again, and is
// written down when the engine is back.
func TestGivenOnceWhileTheEngineIsAway(t *testing.T) {
	mem, ctx := memory.New(), t.Context()
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	manager := panes.NewManager(panes.Options{Dir: dir, Runtime: t.TempDir()})
	if err := mem.Roster().Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "bob"}}}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := mem.Mail().Put(ctx, "alpha", "bob", store.Message{From: store.Lead, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	mail := &awayMail{Mail: mem.Mail(), away: true}
	m := &teammate{o: Options{Team: "alpha", Agent: "bob", Log: slog.New(slog.DiscardHandler),
		Service: teams.New(teams.Config{Roster: mem.Roster(), Mail: mail, Tasks: mem.Tasks(), Panes: manager, Caller: teams.Caller{Name: "bob", Teammate: true}})}}
	look := func(want int) {
		t.Helper()
		if msgs, err := m.unread(ctx); err != nil || len(msgs) != want {
			t.Errorf("%d messages to be given, %v; want %d", len(msgs), err, want)
		}
	}
	look(2)
	msgs, err := mem.Mail().List(ctx, "alpha", "bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.markRead(ctx, []string{msgs[0].ID}); err == nil {
		t.Error("it was written down while the engine was away")
	}
	look(1)
	mail.away = false
	look(1)
	if msgs, err = mem.Mail().List(ctx, "alpha", "bob"); err != nil || !msgs[0].Read || msgs[1].Read || len(m.given) != 0 {
		t.Errorf("%+v, %v; still known as given: %v", msgs, err, m.given)
	}
}
