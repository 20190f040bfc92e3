package teams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// View shows the pane of a teammate that leadlight started, wherever it is, and types into
// it, until the viewer detaches, the teammate's host ends or ctx does. Another teammate only
// looks: to press keys is the lead's.
func (v *viewer) View(ctx context.Context, team, name string, o host.AttachOptions) (detached bool, _ error) {
	t, m, err := v.find(ctx, team, name)
	if err != nil {
		return false, err
	}
	o.ReadOnly = o.ReadOnly || v.caller.Teammate
	if v.routed(m) {
		return v.viewThere(ctx, t, m, o)
	}
	c, err := v.viewed(ctx, t, m)
	if err != nil {
		return false, err
	}
	detached, err = c.Attach(ctx, o)
	return detached, v.showsNothing(ctx, t, m, err)
}

// viewed is the host of a teammate that is to be shown.
func (v *viewer) viewed(ctx context.Context, t store.Team, m store.Member) (*host.Client, error) {
	if err := v.notHere(m); err != nil {
		return nil, err
	}
	if m.Leadlight == nil {
		return nil, fault.New(fault.Unsupported, "teammate %s was not started by leadlight: its pane is seen in its own terminal", m.Name)
	}
	c, err := v.hosting(ctx, t, m)
	if err != nil {
		return nil, v.showsNothing(ctx, t, m, fmt.Errorf("show %s: %w", m.Name, err))
	}
	return c, nil
}

// showsNothing says so of a teammate whose host has ended, and of one whose host goes on
// without a viewer that took nothing.
func (v *viewer) showsNothing(ctx context.Context, t store.Team, m store.Member, err error) error {
	cut := errors.Is(err, host.ErrHungUp)
	if !cut && !errors.Is(err, host.ErrNoHost) {
		return err
	}
	if seen := v.observe(ctx, t, []store.Member{m})[0]; cut && seen.Live() && seen.State != api.StateUnknown {
		return fault.New(fault.LimitReached, "%s goes on, but this viewer took nothing of it for %s, and was cut", m.Name, host.TakeLimit).
			WithHint("leadlight attach %s shows it again", m.Name)
	}
	return fault.New(fault.RecipientInactive, "teammate %s shows nothing any more: its host has ended", m.Name).
		WithHint("leadlight logs %s shows what it wrote", m.Name)
}

// answerAttach shows a teammate of this machine to a viewer on another one.
func answerAttach(ctx context.Context, s *Service, o order, _ func(told)) (any, error) {
	if o.viewer == nil {
		return nil, fault.New(fault.InvalidArgument, "the order to %s comes without a stream", verbAttach)
	}
	t, m, err := s.find(ctx, o.Team, o.Names[0])
	if err != nil {
		return nil, err
	}
	c, err := s.viewed(ctx, t, m)
	if err != nil {
		return nil, err
	}
	return nil, s.showsNothing(ctx, t, m, c.Relay(ctx, o.viewer, s.caller.Teammate))
}

// leaveLimit bounds the wait for what was typed last, once a viewer has left.
const leaveLimit = 3 * time.Second

// viewThere is View for a teammate of another machine. What its host says comes out of a
// socket of this machine's daemon.
func (v *viewer) viewThere(ctx context.Context, t store.Team, m store.Member, o host.AttachOptions) (detached bool, _ error) {
	asking, enough := context.WithCancel(ctx)
	defer enough()
	socket, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- v.ask(asking, m.Leadlight.Machine, verbAttach, order{Team: t.Name, Names: []string{m.Name}}, nil, func(t told) {
			select {
			case socket <- t.Socket:
			default: // the first word is that of our own daemon
			}
		})
	}()
	select {
	case err := <-done:
		return false, err
	case path := <-socket:
		detached, err := host.Dial(path).Attach(ctx, o)
		select {
		case why := <-done:
			if err != nil && why != nil && ctx.Err() == nil && fault.CodeOf(err) != fault.LimitReached {
				err = why
			}
		case <-time.After(leaveLimit):
		}
		return detached, v.showsNothing(ctx, t, m, err)
	}
}

// attachable tells whether a teammate that may run is shown by asking another machine.
func (v *viewer) attachable(m store.Member, seen api.Member) bool { return v.routed(m) && seen.Live() }

// attachThere is the command that shows a teammate of another machine.
func (v *viewer) attachThere(t store.Team, m store.Member) []string {
	return []string{"leadlight", "attach", m.Name, "--team", t.Name, "--base-dir", v.base}
}
