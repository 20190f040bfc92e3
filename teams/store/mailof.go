package store

import "context"

// MailOf is mail that each team keeps somewhere else: it returns where, and every call goes
// there.
type MailOf func(ctx context.Context, team string) (Mail, error)

var _ Mail = MailOf(nil)

// Put is Mail's.
func (of MailOf) Put(ctx context.Context, team, to string, msg Message) (Message, error) {
	mail, err := of(ctx, team)
	if err != nil {
		return msg, err
	}
	return mail.Put(ctx, team, to, msg)
}

// List is Mail's.
func (of MailOf) List(ctx context.Context, team, owner string) ([]Message, error) {
	mail, err := of(ctx, team)
	if err != nil {
		return nil, err
	}
	return mail.List(ctx, team, owner)
}

// MarkRead is Mail's.
func (of MailOf) MarkRead(ctx context.Context, team, owner string, ids []string) error {
	mail, err := of(ctx, team)
	if err != nil {
		return err
	}
	return mail.MarkRead(ctx, team, owner, ids)
}

// Prune is Mail's.
func (of MailOf) Prune(ctx context.Context, team, owner string, keep int) (int, error) {
	mail, err := of(ctx, team)
	if err != nil {
		return 0, err
	}
	return mail.Prune(ctx, team, owner, keep)
}

// Archive is Mail's.
func (of MailOf) Archive(ctx context.Context, team, owner string) (int, error) {
	mail, err := of(ctx, team)
	if err != nil {
		return 0, err
	}
	return mail.Archive(ctx, team, owner)
}

// Watch is Mail's.
func (of MailOf) Watch(ctx context.Context, team, owner string) (<-chan struct{}, error) {
	mail, err := of(ctx, team)
	if err != nil {
		return nil, err
	}
	return mail.Watch(ctx, team, owner)
}
