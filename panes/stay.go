package panes

import (
	"context"
	"errors"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// where returns where a launch goes: where new panes go, or, for one that is started
// again, the terminal where it was, from wherever that is asked for, if it is still there.
func (m *Manager) where(ctx context.Context, again LaunchRecord) (Choice, error) {
	if again.Backend == "" {
		return m.Choice(ctx)
	}
	own := again.Backend == Headless || again.Terminal == OwnSocket(m.opt.Runtime)
	b, err := m.backendOf(terminal{again.Backend, again.Terminal})
	if !own && (err != nil || !serves(ctx, b)) {
		return m.Choice(ctx)
	}
	return Choice{Type: again.Backend, Socket: again.Terminal, Own: own, Why: "where it was", Backend: b}, err
}

// Beside names the lead's pane of the time when a pane was opened, and its terminal server.
type Beside struct {
	Pane   backend.ID `json:"pane"`
	Server string     `json:"server"`
}

// noteLead writes into the launch records of a set where the lead is.
func (m *Manager) noteLead(ctx context.Context, lead *backend.Pane, set []launching) {
	if lead == nil {
		return
	}
	each(len(set), func(i int) {
		r := &set[i].Record
		if now := (Beside{lead.ID, lead.Server}); r.Beside == nil || *r.Beside != now {
			r.Beside = &now
			_ = m.records.writeLaunchSoon(ctx, *r) // only a later restart would miss it
		}
	})
}

// stay makes v what there is for one who is started again: it comes back beside the lead's
// pane of before, if that is there, from wherever that is asked for; beside that of a lead
// who asks for it only if others of the team have not stayed there.
func (m *Manager) stay(ctx context.Context, c Choice, l Launch, v *View) {
	before := l.Record.Beside
	if before == nil || v.Lead != nil && v.Lead.ID == before.Pane {
		return
	}
	all, err := listAll(ctx, c)
	i := slices.IndexFunc(all, func(p backend.Pane) bool {
		return p.ID == before.Pane && p.Server == before.Server
	})
	if err != nil || i < 0 {
		return // it stands where a new one would
	}
	there := func(p backend.Pane) bool { return p.Window == all[i].Window }
	if v.Lead != nil && l.ByLead && !slices.ContainsFunc(v.Ours, there) {
		return
	}
	v.Lead, v.Window = &all[i], slices.DeleteFunc(slices.Clone(all), func(p backend.Pane) bool { return !there(p) })
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

// heldMark ends the mark of a pane that Hold opened.
const heldMark = "-held"

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
	b, err := m.backendOf(terminal{t.Backend, t.Terminal})
	if err != nil {
		return none
	}
	list, err := listAll(ctx, Choice{Type: t.Backend, Backend: b})
	if errors.Is(err, fault.Unsupported) {
		list, err = b.List(ctx)
	}
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
	if session == "" || others > 0 {
		return none
	}
	spec := backend.Spec{
		Place: backend.Window, Target: t.Pane, Argv: []string{"sleep", heldFor}, Dir: "/", Name: t.Team,
		Mark: m.mark(t.Team, t.Agent, t.Host+heldMark),
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
