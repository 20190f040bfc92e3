package teams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Capture returns the text that a teammate's pane shows now; lines > 0 only the
// last ones. It types nothing, resizes nothing and moves no focus.
func (v *viewer) Capture(ctx context.Context, team, name string, lines int, ansi bool) (text string, err error) {
	t, m, err := v.reach(ctx, team, name)
	if err != nil {
		return "", err
	}
	if v.routed(m) {
		err := v.ask(ctx, m.Leadlight.Machine, verbCapture, order{Team: t.Name, Names: []string{m.Name}, Lines: lines, ANSI: ansi}, &text, nil)
		return text, err
	}
	seen := v.observeOne(ctx, t, m)
	if m.Leadlight == nil {
		if text, err = v.panes.CaptureForeign(ctx, m.BackendType, backend.ID(m.TmuxPaneID), lines, ansi); err != nil {
			err = fmt.Errorf("capture %s: %w", m.Name, err)
		}
		return text, err
	}
	var c host.Capture
	h, err := v.hosting(ctx, t, m)
	if err == nil {
		c, err = h.Capture(ctx, lines, ansi) // one without a terminal may still be there, to be read
	}
	switch {
	case err == nil:
		return c.Text, nil
	case seen.Live():
		return "", fmt.Errorf("capture %s: %w", m.Name, err)
	}
	if text, err := v.panes.CaptureStaying(ctx, v.target(t, m, v.observed(ctx, t.Name, m)), lines, ansi); err == nil {
		return text, nil
	}
	return "", fault.New(fault.RecipientInactive, "teammate %s is %s: its pane shows nothing any more", m.Name, seen.State).
		WithHint("leadlight logs %s shows what it wrote", m.Name)
}

// Logs writes a teammate's transcript, its last lines if lines > 0, and goes on
// with what comes until ctx ends if follow is set. It is there after the pane is
// gone.
func (v *viewer) Logs(ctx context.Context, team, name string, lines int, follow bool, out io.Writer) error {
	t, err := v.get(ctx, team)
	if err != nil {
		return err
	}
	return v.logs(ctx, t, name, lines, follow, out)
}

// LogsOf is Logs for several of a team, whose roster is read once.
func (v *viewer) LogsOf(ctx context.Context, team string) (logs func(name string, lines int, follow bool, out io.Writer) error, err error) {
	t, err := v.get(ctx, team)
	return func(name string, lines int, follow bool, out io.Writer) error {
		return v.logs(ctx, t, name, lines, follow, out)
	}, err
}

func (v *viewer) logs(ctx context.Context, t store.Team, name string, lines int, follow bool, out io.Writer) error {
	m, err := v.reachable(t, name)
	if err != nil {
		return err
	}
	if v.routed(m) {
		return v.logsThere(ctx, m, order{Team: t.Name, Names: []string{m.Name}, Lines: lines, Follow: follow}, out)
	}
	err = v.panes.Transcript(ctx, t.Name, m.Name, lines, follow, out)
	switch {
	case errors.Is(err, fs.ErrNotExist) && m.Leadlight != nil:
		return nil // it has written nothing
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.MemberNotFound, "there is no transcript of %s", m.Name).
			WithHint("only teammates that leadlight started have one")
	}
	return err
}

// logsThere is Logs for a teammate of another machine.
func (v *viewer) logsThere(ctx context.Context, m store.Member, o order, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	return v.ask(ctx, m.Leadlight.Machine, verbLogs, o, nil, func(t told) {
		if _, err := out.Write(t.Text); err != nil {
			stop(err) // nobody reads it
		}
	})
}

// Focus takes the person's terminal to a teammate's pane.
func (v *viewer) Focus(ctx context.Context, team, name string) error {
	t, m, seen, err := v.member(ctx, team, name)
	if err != nil {
		return err
	}
	target, err := v.liveTarget(ctx, t, m, seen)
	if v.attachable(m, seen) {
		return fault.New(fault.Unsupported, "teammate %s runs on machine %s: no terminal here holds its pane", m.Name, store.Shown(m.Leadlight.Machine)).
			WithHint("leadlight attach %s --team %s shows it here", m.Name, shell.Line(t.Name))
	}
	if err != nil {
		return err
	}
	if err := v.panes.Focus(ctx, target); err != nil {
		return fmt.Errorf("focus %s: %w", m.Name, err)
	}
	return nil
}

// Attach returns the command that shows a teammate's pane, or that of the first
// live teammate, in the person's terminal.
func (v *viewer) Attach(ctx context.Context, team, name string) ([]string, error) {
	at, err := v.Where(ctx, team, name)
	if err != nil {
		return nil, err
	}
	t, m, seen, err := v.member(ctx, team, at.Member)
	if err != nil {
		return nil, err
	}
	target, err := v.liveTarget(ctx, t, m, seen)
	if v.attachable(m, seen) {
		return v.attachThere(t, m), nil
	}
	if err != nil {
		return nil, err
	}
	return v.panes.Attach(ctx, target)
}

// AttachEach returns, by name, the command that shows the pane of each of the members that
// runs, where there is one.
func (v *viewer) AttachEach(ctx context.Context, team string, members []api.Member) (map[string][]string, error) {
	t, err := v.get(ctx, team)
	if err != nil {
		return nil, err
	}
	entries := map[string]store.Member{}
	for _, m := range t.Members {
		entries[m.Name] = m
	}
	targets, found := make([]panes.Target, len(members)), make([]bool, len(members))
	some(len(members), func(i int) {
		if m, ok := entries[members[i].Name]; ok {
			target, err := v.liveTarget(ctx, t, m, members[i])
			targets[i], found[i] = target, err == nil
		}
	})
	out := map[string][]string{}
	var names []string
	var asked []panes.Target
	for i := range members {
		if m := entries[members[i].Name]; v.attachable(m, members[i]) {
			out[m.Name] = v.attachThere(t, m)
		}
		if found[i] {
			names, asked = append(names, members[i].Name), append(asked, targets[i])
		}
	}
	for i, words := range v.panes.AttachEach(ctx, asked) {
		if words != nil {
			out[names[i]] = words
		}
	}
	return out, nil
}

// Place is where a member's pane is.
type Place struct {
	Member  string
	Backend string // that holds it; headless on another machine, since nothing holds it here
	Machine string // "": this one
	Looks   bool   // whoever asks is a teammate, and types nothing there
}

// Where names the teammate that attach and focus are about, the first live one if name is
// "", and where its pane is.
func (v *viewer) Where(ctx context.Context, team, name string) (Place, error) {
	p, err := v.where(ctx, team, name)
	p.Looks = v.caller.Teammate
	return p, err
}

func (v *viewer) where(ctx context.Context, team, name string) (Place, error) {
	if name == "" {
		members, _, err := v.Members(ctx, team, false)
		if err != nil {
			return Place{}, err
		}
		i := slices.IndexFunc(members, isLive)
		if i < 0 {
			return Place{}, fault.New(fault.MemberNotFound, "team %s has no live teammate to show", team).WithHint("leadlight ps --all shows them")
		}
		name = members[i].Name
	}
	t, m, err := v.find(ctx, team, name)
	if err == nil && t.IsLead(m) {
		target, err := v.leadTarget(ctx, t)
		return Place{Member: m.Name, Backend: target.Backend}, err
	}
	switch {
	case err != nil || m.Leadlight == nil:
		return Place{Member: m.Name, Backend: m.BackendType}, err
	case v.routed(m):
		return Place{Member: m.Name, Backend: panes.Headless, Machine: m.Leadlight.Machine}, nil
	}
	o := v.observed(ctx, t.Name, m)
	return Place{Member: m.Name, Backend: v.target(t, m, o).Backend}, nil
}

// liveTarget names the pane of a teammate that runs.
func (v *viewer) liveTarget(ctx context.Context, t store.Team, m store.Member, seen api.Member) (panes.Target, error) {
	if t.IsLead(m) {
		return v.leadTarget(ctx, t)
	}
	if !seen.Live() {
		return panes.Target{}, fault.New(fault.RecipientInactive, "teammate %s is %s", m.Name, inState(seen)).
			WithHint("%s", v.howToStart(t, m))
	}
	if err := v.notHere(m); err != nil {
		return panes.Target{}, err
	}
	if m.Leadlight == nil {
		return panes.Target{Team: t.Name, Agent: m.Name, Backend: m.BackendType, Pane: backend.ID(m.TmuxPaneID)}, nil
	}
	return v.target(t, m, v.observed(ctx, t.Name, m)), nil
}

// leadTarget names the pane in which the lead works.
func (v *viewer) leadTarget(ctx context.Context, t store.Team) (panes.Target, error) {
	pid := 0
	if t.LeadProcess != nil {
		if alive := leadAlive(t); alive != signals.Alive {
			return panes.Target{}, fault.New(fault.RecipientInactive, "the lead of team %s, process %d, is %s", t.Name, t.LeadProcess.PID, alive)
		}
		pid = t.LeadProcess.PID
	}
	return v.panes.LeadPane(ctx, t.Name, pid)
}
