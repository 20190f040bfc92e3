package teams

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
)

// Keys presses keys in the pane of a teammate that leadlight started, by the names that the
// host knows: fault.NotLead for a teammate, fault.RecipientInactive if it has ended.
func (v *viewer) Keys(ctx context.Context, team, name string, keys []string) error {
	if err := v.leadOnly("press keys in a teammate's pane"); err != nil {
		return err
	}
	t, m, err := v.reach(ctx, team, name)
	if err != nil {
		return err
	}
	if v.routed(m) {
		return v.ask(ctx, m.Leadlight.Machine, verbKeys, order{Team: t.Name, Names: []string{m.Name}, Keys: keys}, nil, nil)
	}
	if m.Leadlight == nil {
		return fault.New(fault.Unsupported, "teammate %s was not started by leadlight", m.Name).WithHint("press the keys in its own terminal")
	}
	h, err := v.hosting(ctx, t, m)
	if err == nil {
		err = h.Keys(ctx, keys)
	}
	if errors.Is(err, host.ErrNoHost) || errors.Is(err, errNoEntry) || errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.RecipientInactive, "teammate %s takes no keys: its host has ended", m.Name).WithHint("%s", v.howToStart(t, m))
	}
	if err != nil {
		return fmt.Errorf("press keys in the pane of %s: %w", m.Name, err)
	}
	return nil
}
