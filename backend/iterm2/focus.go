package iterm2

import (
	"context"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// A focus is what is in front everywhere: the window with the keyboard, the selected tabs
// and the active sessions.
type focus struct {
	window         string
	tabs, sessions map[string]bool
}

// focused asks what is in front.
func (b *Backend) focused(ctx context.Context) (focus, error) {
	f := focus{tabs: map[string]bool{}, sessions: map[string]bool{}}
	a, err := b.ask(ctx, &wire.Request{Focus: &wire.Empty{}})
	switch {
	case err != nil:
		return f, err
	case a.Focus == nil:
		return f, odd("the focus")
	}
	for _, fact := range a.Focus.Facts {
		switch {
		case fact.Window != nil && fact.Window.Status != wire.Resigned:
			f.window = fact.Window.ID
		case fact.Tab != "":
			f.tabs[fact.Tab] = true
		case fact.Session != "":
			f.sessions[fact.Session] = true
		}
	}
	return f, nil
}

// refocus gives back what new sessions have taken: iTerm2 puts them in front. Who cannot
// get it back has closed it.
func (b *Backend) refocus(ctx context.Context, before focus) {
	now, err := b.focused(ctx)
	if err != nil {
		return
	}
	for id := range before.sessions {
		if !now.sessions[id] {
			_, _ = b.ask(ctx, &wire.Request{Activate: &wire.ActivateRequest{Session: id, SelectSession: true}})
		}
	}
	for id := range before.tabs {
		if !now.tabs[id] {
			_, _ = b.ask(ctx, &wire.Request{Activate: &wire.ActivateRequest{Tab: id, SelectTab: true}})
		}
	}
	if before.window != "" && before.window != now.window {
		_, _ = b.ask(ctx, &wire.Request{Activate: &wire.ActivateRequest{Window: before.window, FrontWindow: true}})
	}
}

// Focus brings the session to the front, and iTerm2 with it.
func (b *Backend) Focus(ctx context.Context, id backend.ID) error {
	if err := checkID(id); err != nil {
		return err
	}
	a, err := b.ask(ctx, &wire.Request{Activate: &wire.ActivateRequest{
		Session: string(id), FrontWindow: true, SelectTab: true, SelectSession: true, App: &wire.ActivateApp{Insist: true},
	}})
	if err == nil {
		err = done(a.Activate, id, "the focus", "focus")
	}
	if isAway(err) {
		return gone(id)
	}
	return err
}
