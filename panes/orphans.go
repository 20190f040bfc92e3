package panes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// Orphan is one thing that belongs to no living team, and how it is removed.
type Orphan struct {
	Kind   string // pane, process, record, socket, file, folder
	What   string
	Why    string
	Kept   string // why it will not be removed; "": it can be
	remove func(context.Context) error
}

// Remove removes it. What does not prove to be ours is left alone with an error.
func (o Orphan) Remove(ctx context.Context) error {
	if o.Kept != "" {
		return errors.New(o.Kept)
	}
	return o.remove(ctx)
}

// envFileAge is how old a handed-over environment must be before it counts as
// never taken.
const envFileAge = time.Minute

// tempAge is how old a temporary file must be before its writer counts as killed.
const tempAge = time.Hour

// oldTemps are what killed writers have left in the base directory.
func (m *Manager) oldTemps() []Orphan {
	var out []Orphan
	for _, folder := range []string{"teams", "tasks", "leadlight"} {
		for _, name := range m.opt.Dir.OldTemps(folder, tempAge) {
			out = append(out, Orphan{
				Kind: "file", What: m.opt.Dir.Join(name), Why: "whoever was writing it has been killed",
				remove: func(context.Context) error { return m.opt.Dir.Remove(name) },
			})
		}
	}
	return out
}

// Orphans looks for panes, processes, sockets, files and records that carry our mark and
// belong to no member of any team. The rosters are read after the panes and records, and
// again before each removal: a pending member is in its roster before it has a pane.
func (m *Manager) Orphans(ctx context.Context) ([]Orphan, error) {
	marked, paneErr := m.markedPanes(ctx)
	recorded, recErr := m.recorded()
	claims, err := m.claims(ctx)
	if err != nil {
		return nil, errors.Join(err, paneErr, recErr)
	}
	table, err := signals.Snapshot()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look for processes: %w", err), paneErr, recErr)
	}
	running := table.ByMark()
	var out []Orphan
	for _, t := range marked {
		if len(claims.Owners[t.Host]) == 0 {
			out = append(out, Orphan{
				Kind: "pane", What: fmt.Sprintf("%s of %s@%s", t.Pane, t.Agent, t.Team), Why: "no team names it",
				Kept: m.unowned(ctx, claims, t), remove: m.removing(t),
			})
		}
	}
	found, remnants := make([][]Orphan, len(recorded)), m.Remnants()
	each(len(recorded), func(i int) { found[i] = m.orphanRecord(ctx, recorded[i], claims, running, remnants) })
	out = append(out, slices.Concat(found...)...)
	out = append(out, m.orphanFiles(ctx)...)
	return append(out, m.oldTemps()...), errors.Join(paneErr, recErr)
}

// removing ends a host that no roster names, with its pane, and forgets its records.
func (m *Manager) removing(t Target) func(context.Context) error {
	return func(ctx context.Context) error {
		s := m.Stopper(2*time.Second, 2*time.Second)
		s.prove = m.proveOrphan
		r := s.endAndClose(ctx, t)
		if r.Outcome == state.Unproven || r.taken != "" {
			return errors.New(cmp.Or(r.Reason, r.taken))
		}
		return m.forget(ctx, t)
	}
}

// forget removes the records of a host that no roster names and that is gone, if they are its own.
func (m *Manager) forget(ctx context.Context, t Target) error {
	if now, known := m.recordedTarget(ctx, Owner{t.Team, t.Agent}); !known || now.Host != t.Host {
		return nil
	}
	h, err := m.proveOrphan(ctx, t, &look{m: m})
	if err != nil || h.seen.state != signals.Gone {
		return err
	}
	return m.records.Forget(t.Team, t.Agent)
}

// markedPanes are the panes with a mark of this base directory.
func (m *Manager) markedPanes(ctx context.Context) ([]Target, error) {
	var out []Target
	var errs []error
	for _, c := range m.inUse(ctx) {
		ctx, cancel := context.WithTimeout(ctx, terminalLimit)
		all, err := c.Backend.List(ctx)
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("list panes: %w", err))
		}
		for _, p := range all {
			if p.Mark.Base == m.baseKey && !strings.HasSuffix(p.Mark.Host, heldMark) { // such a pane ends by itself
				out = append(out, Target{Team: p.Mark.Team, Agent: p.Mark.Agent, Host: p.Mark.Host, Backend: c.Type, Terminal: c.Socket, Pane: p.ID})
			}
		}
	}
	return out, errors.Join(errs...)
}

// inUse is where panes of ours may be: where new ones go, and without a terminal.
func (m *Manager) inUse(ctx context.Context) []Choice {
	var out []Choice
	c, err := m.Choice(ctx)
	if err == nil {
		out = append(out, c)
	}
	if folder := HeadlessFolder(m.opt.Runtime); c.Type != Headless {
		if b, err := m.backendOf(terminal{Headless, folder}); err == nil {
			out = append(out, Choice{Type: Headless, Socket: folder, Backend: b})
		}
	}
	return out
}

// recorded are the members of whom there are records, whatever became of their teams.
func (m *Manager) recorded() ([]Owner, error) {
	teams, err := m.opt.Dir.ReadDir("leadlight")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list host records: %w", err)
	}
	var out []Owner
	for _, team := range teams {
		hosts, _ := m.records.members(OwnPath(team.Name(), "hosts")) // what cannot be read has none
		launched, _ := m.records.members(OwnPath(team.Name(), "launch"))
		agents := append(hosts, launched...)
		slices.Sort(agents)
		for _, agent := range slices.Compact(agents) {
			out = append(out, Owner{team.Name(), agent})
		}
	}
	return out, nil
}

// orphanRecord is what the records of a member lead to: processes that no team has, or
// whose host was killed, and the records themselves. Of records that cannot be read
// nothing is known, and nothing is done about them; doctor tells of them.
func (m *Manager) orphanRecord(ctx context.Context, o Owner, claims Claims, running map[string][]signals.Process, remnants *Remnants) []Orphan {
	t, known := m.recordedTarget(ctx, o)
	if !known {
		return nil
	}
	if owners := claims.Owners[t.Host]; slices.Contains(owners, o) && len(running[t.Host]) > 0 {
		if left, found := remnants.Of(ctx, t); found {
			return []Orphan{left}
		}
		return nil
	} else if len(owners) > 0 {
		return nil
	}
	kept := m.unowned(ctx, claims, t)
	if len(running[t.Host]) > 0 {
		if what, _ := leftOf(t, nil); what != "" {
			return []Orphan{{Kind: "process", What: what, Why: "no team names their host", Kept: kept, remove: m.removing(t)}}
		}
	}
	if m.sight(ctx, o.Team, o.Agent, t.Host).state != signals.Gone {
		return nil
	}
	return []Orphan{{
		Kind: "record", What: path.Join("leadlight", o.Team, "hosts", o.Agent+".json"), Why: "no team names its host", Kept: kept,
		remove: func(ctx context.Context) error { return m.forget(ctx, t) },
	}}
}

// recordedTarget is the host that the records of a member speak of.
func (m *Manager) recordedTarget(ctx context.Context, o Owner) (t Target, known bool) {
	rec, hostErr := m.records.Host(ctx, o.Team, o.Agent)
	launch, launchErr := m.records.Launch(ctx, o.Team, o.Agent)
	t = Target{Team: o.Team, Agent: o.Agent, Host: rec.Host}
	if hostErr != nil {
		t.Host = launch.Host
	}
	if launchErr == nil && launch.Host == t.Host {
		t.Backend, t.Terminal = launch.Backend, launch.Terminal
	}
	return t, hostErr == nil || launchErr == nil
}

// leftOf says what runs under the id of a host and would be ended, "" if nothing does.
func leftOf(t Target, look *signals.Processes) (string, error) {
	left, err := signals.TreeKiller{Host: t.Host, Processes: look}.Left()
	if err != nil || len(left) == 0 {
		return "", err
	}
	what := fmt.Sprintf("%d (%s) of %s@%s", left[0].PID, left[0].Command, t.Agent, t.Team)
	if len(left) > 1 {
		what += fmt.Sprintf(", and %d more", len(left)-1)
	}
	return what, nil
}

// Remnants finds what hosts have left running, for a set of them with one look at the
// rosters and one at the processes.
type Remnants struct{ now *look }

// Remnants looks when it is first asked.
func (m *Manager) Remnants() *Remnants { return &Remnants{&look{m: m}} }

// Of finds what a host that is proved to be gone has left running. Before anything is
// removed, all is looked at anew.
func (r *Remnants) Of(ctx context.Context, t Target) (Orphan, bool) {
	m := r.now.m
	gone := func(ctx context.Context, now *look) (ownHost, error) {
		h, err := m.prove(ctx, t, now)
		if err == nil && h.seen.state != signals.Gone {
			err = errors.New("its host may run")
		}
		return h, err
	}
	h, err := gone(ctx, r.now)
	if err != nil {
		return Orphan{}, false
	}
	m.sweep(h)
	what, err := leftOf(t, &r.now.processes)
	if err == nil && what == "" {
		return Orphan{}, false
	}
	out := Orphan{Kind: "process", What: what, Why: "their host was killed", remove: func(ctx context.Context) error {
		h, err := gone(ctx, &look{m: m})
		if err != nil {
			return err
		}
		if e := killTree(ctx, h, 2*time.Second, false, nil); e.Outcome == state.Unproven {
			return errors.New(e.Reason)
		}
		return nil
	}}
	if err != nil {
		out.Kept = fault.Of(err).Message
	}
	return out, true
}

// orphanFiles are sockets that nobody listens on, environments nobody took, and the
// folders of leads that are gone.
func (m *Manager) orphanFiles(ctx context.Context) []Orphan {
	entries, err := os.ReadDir(m.runDir())
	if err != nil {
		return nil
	}
	found := make([]Orphan, len(entries))
	each(len(entries), func(i int) { // their hosts are asked side by side
		if f, kind, why := m.staleFile(ctx, entries[i]); why != "" {
			found[i] = Orphan{Kind: kind, What: f.String(), Why: why, remove: func(context.Context) error { return f.Remove() }}
		}
	})
	return slices.DeleteFunc(found, func(o Orphan) bool { return o.Kind == "" })
}

// staleFile says why a file of the run folder is of no use any more, "" if it may be.
// What is not of the form that we make is not ours to judge.
func (m *Manager) staleFile(ctx context.Context, e fs.DirEntry) (f files.Ours, kind, why string) {
	name := filepath.Join(m.runDir(), e.Name())
	info, err := e.Info()
	if err != nil {
		return f, "", ""
	}
	old := time.Since(info.ModTime()) > envFileAge
	switch {
	case strings.HasPrefix(e.Name(), leadPrefix) && info.IsDir() && checkHostID(e.Name()[len(leadPrefix):]) == nil:
		lead, err := ReadLead(name)
		gone := err == nil && lead.Process.Probe() == signals.Gone
		if gone || old && errors.Is(err, fs.ErrNotExist) && m.unused(filepath.Join(name, TeammateLink)) {
			if f, err := files.In(m.runDir(), e.Name(), fs.ModeDir); err == nil {
				return f, "folder", "its lead is gone"
			}
		}
	case strings.HasSuffix(name, ".sock"):
		f, err := files.In(m.runDir(), e.Name(), fs.ModeSocket)
		if err != nil {
			return f, "", ""
		}
		if _, err := status(ctx, name); errors.Is(err, host.ErrNoHost) {
			return f, "socket", "nobody listens on it"
		}
	case old && strings.HasSuffix(name, ".sock"+unixsock.Half):
		if f, err := files.In(m.runDir(), e.Name(), fs.ModeSocket); err == nil {
			return f, "socket", "who made it has ended meanwhile"
		}
	case old && strings.HasPrefix(e.Name(), "env-"):
		if f, err := m.envFile(e.Name()[len("env-"):]); err == nil {
			return f, "file", "no host took it"
		}
	}
	return f, "", ""
}

// unused tells whether no program runs that starts its teammates by that link: the record of
// a lead that lives may be lost.
func (m *Manager) unused(link string) bool {
	table, err := m.processes()
	return err == nil && !slices.ContainsFunc(table.All(), func(p signals.Process) bool {
		command, _ := p.Variable(profiles.TeammateCommand) // what may not be read is another user's, or has ended
		return command != "" && filepath.Clean(command) == filepath.Clean(link)
	})
}
