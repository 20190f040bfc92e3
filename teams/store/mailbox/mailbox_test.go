package mailbox_test

import (
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/mailbox"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

func TestEachTeamHasItsLayout(t *testing.T) {
	one, two := memory.New(), memory.New()
	for name, s := range map[string]*memory.Store{"alpha": one, "beta": two} {
		if err := s.Roster().Create(t.Context(), store.Team{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	layouts := map[string]string{"alpha": store.MailboxClaude, "beta": store.MailboxMaildir, "gamma": "nats"}
	m := mailbox.New(func(team string) (string, error) {
		if layouts[team] == "" {
			return "", fault.TeamNotFound
		}
		return layouts[team], nil
	}, map[string]store.Mail{store.MailboxClaude: one.Mail(), store.MailboxMaildir: two.Mail()})
	for team, code := range map[string]fault.Code{"alpha": "", "beta": "", "gamma": fault.Unsupported, "delta": fault.TeamNotFound} {
		if _, err := m.Put(t.Context(), team, "bob", store.Message{From: "a", Text: team}); fault.CodeOf(err) != code {
			t.Errorf("%s: %v, want %q", team, err, code)
		}
	}
	if box, err := two.Mail().List(t.Context(), "beta", "bob"); err != nil || len(box) != 1 {
		t.Errorf("%+v %v", box, err)
	}
}
