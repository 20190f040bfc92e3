package teams

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestXF03_OwnMailIsNotUnread(t *testing.T) {
	team := store.Team{Name: "alpha"}
	for from, want := range map[string]bool{store.Lead: false, "team-lead@alpha": false, "bob": true, "team-lead@beta": true} {
		if got := (InboxFilter{Unread: true}).takes(team, store.Message{From: from, To: store.Lead, Text: "x"}); got != want {
			t.Errorf("from %s to the lead: unread %t, want %t", from, got, want)
		}
	}
	if !(InboxFilter{}).takes(team, store.Message{From: store.Lead, To: store.Lead}) {
		t.Error("it is not shown at all")
	}
}
