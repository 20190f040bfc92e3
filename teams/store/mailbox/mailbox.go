// Package mailbox sends each team's mail to the layout that the team has chosen.
// It is a package of its own because the layouts must not know of each other.
package mailbox

import (
	"context"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// New returns mail in the layout of the team. layoutOf returns that: a key of layouts, or
// fault.TeamNotFound.
func New(layoutOf func(team string) (string, error), layouts map[string]store.Mail) store.Mail {
	return store.MailOf(func(_ context.Context, team string) (store.Mail, error) {
		layout, err := layoutOf(team)
		if err != nil {
			return nil, err
		}
		if mail, ok := layouts[layout]; ok {
			return mail, nil
		}
		return nil, fault.New(fault.Unsupported, "team %s keeps its mail in a layout %q that is not known here", team, store.Shown(layout)).
			WithHint("known are claude and maildir; perhaps a newer leadlight made the team")
	})
}
