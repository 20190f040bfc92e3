// Package mailbox sends each team's mail to the layout that the team has chosen.
// It is a package of its own because the layouts must not know of each other.
package mailbox

import (
	"context"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Mail is a store.Mail that hands every call on to the layout of the team.
type Mail struct {
	// LayoutOf returns a team's layout: a key of Layouts, or fault.TeamNotFound.
	LayoutOf func(team string) (string, error)
	Layouts  map[string]store.Mail
}

var _ store.Mail = Mail{}

func (m Mail) of(team string) (store.Mail, error) {
	layout, err := m.LayoutOf(team)
	if err != nil {
		return nil, err
	}
	if mail, ok := m.Layouts[layout]; ok {
		return mail, nil
	}
	return nil, fault.New(fault.Unsupported, "team %s keeps its mail in a layout %q that is not known here", team, store.Shown(layout)).
		WithHint("known are claude and maildir; perhaps a newer leadlight made the team")
}

// Put is store.Mail's.
func (m Mail) Put(ctx context.Context, team, to string, msg store.Message) (store.Message, error) {
	mail, err := m.of(team)
	if err != nil {
		return msg, err
	}
	return mail.Put(ctx, team, to, msg)
}

// List is store.Mail's.
func (m Mail) List(ctx context.Context, team, owner string) ([]store.Message, error) {
	mail, err := m.of(team)
	if err != nil {
		return nil, err
	}
	return mail.List(ctx, team, owner)
}

// MarkRead is store.Mail's.
func (m Mail) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	mail, err := m.of(team)
	if err != nil {
		return err
	}
	return mail.MarkRead(ctx, team, owner, ids)
}

// Prune is store.Mail's.
func (m Mail) Prune(ctx context.Context, team, owner string, keep int) (int, error) {
	mail, err := m.of(team)
	if err != nil {
		return 0, err
	}
	return mail.Prune(ctx, team, owner, keep)
}

// Archive is store.Mail's.
func (m Mail) Archive(ctx context.Context, team, owner string) (int, error) {
	mail, err := m.of(team)
	if err != nil {
		return 0, err
	}
	return mail.Archive(ctx, team, owner)
}

// Watch is store.Mail's.
func (m Mail) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	mail, err := m.of(team)
	if err != nil {
		return nil, err
	}
	return mail.Watch(ctx, team, owner)
}
