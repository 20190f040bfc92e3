package panes

import (
	"context"

	"github.com/leadlight-dev/leadlight/backend"
)

// where returns where a launch goes: where new panes go, or, for one that is started
// again, the terminal where it was, from wherever that is asked for, if it is still there.
func (m *Manager) where(ctx context.Context, again LaunchRecord) (Choice, error) {
	if again.Backend == "" {
		return m.Choice(ctx)
	}
	own := again.Backend == Headless || again.Terminal == OwnSocket(m.opt.Runtime)
	b, err := m.backendOf(again.Backend, again.Terminal)
	if !own && (err != nil || !serves(ctx, b)) {
		return m.Choice(ctx)
	}
	return Choice{Type: again.Backend, Socket: again.Terminal, Own: own, Why: "where it was", Backend: b}, err
}

// serves tells whether a terminal is there and holds panes of anybody.
func serves(ctx context.Context, b backend.Backend) bool {
	ctx, cancel := context.WithTimeout(ctx, terminalLimit)
	defer cancel()
	list := b.List
	if l, ok := backend.As[backend.Lister](b); ok {
		list = l.ListAll
	}
	all, err := list(ctx)
	return err == nil && len(all) > 0
}

// heldFor bounds what Hold leaves behind if its process is killed, in seconds.
const heldFor = "60"

// Hold keeps the session of a pane open while that is closed and a new one takes its
// place: a session ends with its last pane, and whoever looks at it is thrown out. It
// does nothing where other panes stand, or where there are no sessions. What fails is
// not held.
func (m *Manager) Hold(ctx context.Context, t Target) (release func()) {
	none := func() {}
	if t.Backend == "" || t.Backend == Headless {
		return none
	}
	b, err := m.backendOf(t.Backend, t.Terminal)
	if err != nil {
		return none
	}
	list, err := b.List(ctx)
	if err != nil {
		return none
	}
	session, others := "", 0
	for _, p := range list {
		if p.ID == t.Pane {
			session = p.Session
		}
	}
	for _, p := range list {
		if p.Session == session && p.ID != t.Pane {
			others++
		}
	}
	if self, _, ok, _ := b.Self(ctx); session == "" || others > 0 || ok && self.Session == session {
		return none
	}
	spec := backend.Spec{
		Place: backend.Window, Target: t.Pane, Argv: []string{"sleep", heldFor}, Dir: "/", Name: t.Team,
		Mark: m.mark(t.Team, t.Agent, t.Host+"-held"),
	}
	held := b.Open(ctx, []backend.Spec{spec})[0]
	if held.Err != nil {
		return none
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), terminalLimit)
		defer cancel()
		_ = Close(ctx, b, Opened(spec, held)) // it ends by itself
	}
}
