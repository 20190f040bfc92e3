package panes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/signals"
)

// Orphan is one thing that belongs to no living team, and how it is removed.
type Orphan struct {
	Kind   string // pane, process, record, socket, file, folder
	What   string
	Why    string
	remove func(context.Context) error
}

// Remove removes it. What does not prove to be ours is left alone with an error.
func (o Orphan) Remove(ctx context.Context) error { return o.remove(ctx) }

// envFileAge is how old a handed-over environment must be before it counts as
// never taken.
const envFileAge = time.Minute

// Orphans looks for panes, processes, sockets, files and records that carry our
// mark and that living does not vouch for. living tells whether the roster of a
// team names that host for that member.
func (m *Manager) Orphans(ctx context.Context, living func(team, agent, hostID string) bool) ([]Orphan, error) {
	panes, err := m.orphanPanes(ctx, living)
	records, recErr := m.orphanRecords(ctx, living)
	return append(append(panes, records...), m.orphanFiles(ctx)...), errors.Join(err, recErr)
}

// orphanPanes are panes of this base directory that no roster names.
func (m *Manager) orphanPanes(ctx context.Context, living func(team, agent, hostID string) bool) ([]Orphan, error) {
	var out []Orphan
	var errs []error
	for _, c := range m.inUse(ctx) {
		found, err := m.orphanPanesIn(ctx, c, living)
		out, errs = append(out, found...), append(errs, err)
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
		if b, err := m.backendOf(Headless, folder); err == nil {
			out = append(out, Choice{Type: Headless, Socket: folder, Backend: b})
		}
	}
	return out
}

func (m *Manager) orphanPanesIn(ctx context.Context, c Choice, living func(team, agent, hostID string) bool) ([]Orphan, error) {
	ctx, cancel := context.WithTimeout(ctx, terminalLimit)
	defer cancel()
	all, err := c.Backend.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list panes: %w", err)
	}
	var out []Orphan
	for _, p := range all {
		if p.Mark.Base != m.baseKey || living(p.Mark.Team, p.Mark.Agent, p.Mark.Host) {
			continue
		}
		t := Target{Team: p.Mark.Team, Agent: p.Mark.Agent, Host: p.Mark.Host, Backend: c.Type, Terminal: c.Socket, Pane: p.ID}
		out = append(out, Orphan{
			Kind: "pane", What: fmt.Sprintf("%s of %s@%s", p.ID, t.Agent, t.Team), Why: "no team names it",
			remove: unless(living, t, m.endOrphan),
		})
	}
	return out, nil
}

// errNamed says that a roster has come to name what was an orphan a moment ago.
var errNamed = errors.New("a team names it now")

// unless looks once more whether a team names the host before it is ended.
func unless(living func(team, agent, hostID string) bool, t Target, end func(context.Context, Target) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if living(t.Team, t.Agent, t.Host) {
			return errNamed
		}
		return end(ctx, t)
	}
}

func (m *Manager) endOrphan(ctx context.Context, t Target) error {
	if e := m.End(ctx, t, 2*time.Second, 2*time.Second); e.Outcome == state.Unproven {
		return errors.New(e.Reason)
	}
	return nil
}

// orphanRecords are records of hosts that no roster names, and what hosts that
// were killed have left running.
func (m *Manager) orphanRecords(ctx context.Context, living func(team, agent, hostID string) bool) ([]Orphan, error) {
	teams, err := m.opt.Dir.ReadDir("leadlight")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list host records: %w", err)
	}
	var out []Orphan
	for _, team := range teams {
		agents := map[string]bool{}
		for _, kind := range []string{"hosts", "launch"} {
			entries, _ := m.opt.Dir.ReadDir(OwnPath(team.Name(), kind)) // absent: no records
			for _, e := range entries {
				if agent, ok := strings.CutSuffix(e.Name(), ".json"); ok {
					agents[agent] = true
				}
			}
		}
		for _, agent := range slices.Sorted(maps.Keys(agents)) {
			out = append(out, m.orphanRecord(ctx, team.Name(), agent, living)...)
		}
	}
	return out, nil
}

func (m *Manager) orphanRecord(ctx context.Context, team, agent string, living func(team, agent, hostID string) bool) []Orphan {
	rec, hostErr := m.records.Host(ctx, team, agent)
	launch, launchErr := m.records.Launch(ctx, team, agent)
	hostID := rec.Host
	if hostErr != nil {
		hostID = launch.Host
	}
	if (hostErr != nil && launchErr != nil) || hostID == "" {
		return nil // unreadable: doctor says so, nobody removes it
	}
	known := living(team, agent, hostID)
	alive := hostErr == nil && rec.Process.Probe() != signals.Gone
	t := Target{Team: team, Agent: agent, Host: hostID}
	if launchErr == nil && launch.Host == hostID {
		t.Backend, t.Terminal = launch.Backend, launch.Terminal
	}
	var out []Orphan
	if left, err := signals.Marked(hostID); err == nil && len(left) > 0 && (!known || !alive) {
		out = append(out, Orphan{
			Kind: "process", What: fmt.Sprintf("%d processes of %s@%s, the first is pid %d %s", len(left), agent, team, left[0].PID, left[0].Command),
			Why: whyOrphan(known),
			remove: func(ctx context.Context) error {
				if alive {
					return unless(living, t, m.endOrphan)(ctx)
				}
				return m.endOrphan(ctx, t)
			},
		})
	}
	if !known && !alive {
		out = append(out, Orphan{
			Kind: "record", What: path.Join("leadlight", team, "hosts", agent+".json"), Why: "no team names its host",
			remove: func(context.Context) error { return m.records.Forget(team, agent) },
		})
	}
	return out
}

func whyOrphan(known bool) string {
	if known {
		return "their host was killed"
	}
	return "no team names their host"
}

// orphanFiles are sockets that nobody listens on and environments nobody took.
func (m *Manager) orphanFiles(ctx context.Context) []Orphan {
	entries, err := os.ReadDir(m.runDir())
	if err != nil {
		return nil
	}
	var out []Orphan
	for _, e := range entries {
		file := filepath.Join(m.runDir(), e.Name())
		l := Orphan{What: file, remove: func(context.Context) error { return os.Remove(file) }}
		switch {
		case e.IsDir() && strings.HasPrefix(e.Name(), leadPrefix):
			if lead, err := ReadLead(file); err == nil && lead.Process.Probe() != signals.Gone {
				continue
			} else if fi, err := e.Info(); err != nil || time.Since(fi.ModTime()) < envFileAge {
				continue
			}
			l.Kind, l.Why, l.remove = "folder", "its lead is gone", func(context.Context) error { return os.RemoveAll(file) }
		case strings.HasSuffix(file, ".sock"):
			if _, err := status(ctx, file); !errors.Is(err, host.ErrNoHost) {
				continue
			}
			l.Kind, l.Why = "socket", "nobody listens on it"
		case strings.HasPrefix(e.Name(), "env-"):
			fi, err := e.Info()
			if err != nil || time.Since(fi.ModTime()) < envFileAge {
				continue
			}
			l.Kind, l.Why = "file", "no host took it"
		default:
			continue
		}
		out = append(out, l)
	}
	return out
}
