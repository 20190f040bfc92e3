package teams

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// launch is the stage in which panes open and hosts start in them; those of one layout
// together. Of one that fails nothing is left.
func (r *spawning) launch(ctx context.Context, in []registeredMember) []launchedMember {
	out := make([]launchedMember, len(in))
	errs := make([]error, len(in))
	var layouts []panes.Layout
	groups := map[panes.Layout][]int{}
	for i, m := range in {
		out[i] = launchedMember{registeredMember: m, launch: r.launchOf(r.t, m)}
		layout := m.record.Layout
		if groups[layout] == nil {
			layouts = append(layouts, layout)
		}
		groups[layout] = append(groups[layout], i)
	}
	for _, layout := range layouts {
		var launches []panes.Launch
		for _, i := range groups[layout] {
			launches = append(launches, out[i].launch)
		}
		for n, res := range r.panes.Launch(ctx, layout, r.order, launches) {
			i := groups[layout][n]
			out[i].launch, out[i].pane, errs[i] = launches[n], res.Pane, res.Err // Launch fills the record in
		}
	}
	on, off := pass(r, out, func(i int, _ *launchedMember) error { return errs[i] })
	r.drop(off)
	return on
}

// drop notes that members have failed after they were registered.
func (r *spawning) drop(off []launchedMember) {
	for _, m := range off {
		r.dropped = append(r.dropped, m.registeredMember)
	}
}

// commit is the stage in which the roster learns who runs, and where. It returns those that
// do; one that runs but could not be written is ended.
func (r *spawning) commit(ctx context.Context, in []launchedMember) []launchedMember {
	if len(in) == 0 {
		return nil
	}
	errs := make([]error, len(in))
	err := r.roster.Update(ctx, r.t.Name, func(now *store.Team) error { // may run more than once
		for i := range in {
			errs[i] = r.confirm(ctx, now, &in[i])
		}
		return nil
	})
	on, off := pass(r, in, func(i int, _ *launchedMember) error {
		if errs[i] == nil && err != nil {
			return fmt.Errorf("write the roster of team %s: %w", r.t.Name, err)
		}
		return errs[i]
	})
	all(len(off), func(i int) { r.panes.Undo(context.WithoutCancel(ctx), off[i].launch, off[i].pane) })
	r.drop(off)
	return on
}

// confirm writes into a member's entry that it runs. It returns why its agent has failed
// already, if it has.
func (r *spawning) confirm(ctx context.Context, now *store.Team, m *launchedMember) error {
	e := now.Member(m.spec.Name)
	if hostOf(e) != m.record.Host {
		err := r.panes.EarlyEnd(ctx, m.launch)
		if err == nil && r.t.LedByUs() { // else it has ended already, and its entry with it
			err = fault.New(fault.SpawnFailed, "the entry of %s was taken out of the roster of team %s while it started", m.spec.Name, r.t.Name)
		}
		return err
	}
	if e.Leadlight.State == api.StateFailed { // since it was looked at last
		if err := r.panes.EarlyEnd(ctx, m.launch); err != nil {
			return err
		}
	}
	e.TmuxPaneID, e.BackendType = paneAsWritten(r.t, m.pane.ID, m.launch.Record.Backend)
	if m.tree != nil {
		e.Cwd = m.tree.Dir
		if r.t.LedByUs() { // a Claude lead removes what is named here, work or no work
			e.WorktreePath = m.tree.Path
		}
	}
	if e.Leadlight.State == api.StateStarting || e.Leadlight.State == api.StateLost {
		e.Leadlight.State = api.StateActive
	}
	m.entry = *e
	return nil
}

func (st *starter) launchOf(t store.Team, n registeredMember) panes.Launch {
	ready := n.spec.Ready
	if ready <= 0 {
		ready = st.limits.Ready
	}
	_ = n.command(t, n.entry.Color) // once more: only now the colour is known; what could fail was checked before
	return panes.Launch{
		Record: n.record,
		Env:    st.panes.Environment(t.Name, n.spec.Name, n.record.Host, n.variables()),
		Label:  backend.Label{Name: n.spec.Name, State: api.StateActive, Color: n.entry.Color},
		Ready:  ready,
		ByLead: t.LeadProcess != nil && t.LeadProcess.PID == os.Getpid(),
	}
}

func (spec SpawnSpec) layout() panes.Layout {
	l := spec.Layout
	l.Placement = cmp.Or(spec.Placement, l.Placement)
	return l
}
