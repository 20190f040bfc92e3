package panes

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/signals"
)

// Owner is a member of a team of this base directory.
type Owner struct{ Team, Agent string }

func (o Owner) String() string { return o.Agent + "@" + o.Team }

// Claims says which members' roster entries name each host, in all teams of the base
// directory, the teams whose roster could not be read, and those whose folder is there
// without one.
type Claims struct {
	Owners map[string][]Owner   // by id of the host
	Hosts  map[Owner]string     // the id that the roster has for a member, "" if it has none
	Made   map[string]time.Time // when each team was made whose roster could be read
	Unread []string
	Lost   []string
}

// unowned tells why a host may not be taken for nobody's, "" if no roster names it and its
// team is proved to be deleted: this base directory knows the team, and its folder with
// the roster is gone. A roster that has the member with another host is believed only if
// that host was one, and one that lacks the member only of a host that does not run, or that
// ran before its team was made.
func (m *Manager) unowned(ctx context.Context, c Claims, t Target) string {
	now, isMember := c.Hosts[Owner{t.Team, t.Agent}]
	switch owners := c.Owners[t.Host]; {
	case len(owners) > 0:
		return owners[0].String() + " has it"
	case len(c.Unread) > 0:
		return "the roster of team " + c.Unread[0] + " cannot be read and may name it"
	case slices.Contains(c.Lost, t.Team):
		return "team " + t.Team + " has no roster, and its folder is there"
	case isMember && !m.launchedOnce(ctx, t, now):
		return "the roster has " + t.Agent + " with another host, of which nothing is known"
	case !isMember && m.livesIn(ctx, c, t):
		return "it may be alive, and the roster of team " + t.Team + " has lost it: leadlight stop " + t.Agent + " --team " + shell.Line(t.Team) + ", or close its pane"
	}
	if _, err := m.opt.Dir.Lstat(OwnPath(t.Team)); err != nil {
		return "the base directory has nothing of a team " + t.Team
	}
	if _, err := m.opt.Dir.Lstat("teams"); err != nil {
		return "the folder of all teams is gone"
	}
	return ""
}

// livesIn tells whether a host of a team that is there may run, and not since before that
// team was made: what an earlier team of the name has left is nobody's.
func (m *Manager) livesIn(ctx context.Context, c Claims, t Target) bool {
	made, there := c.Made[t.Team]
	if !there {
		return false
	}
	seen := m.sight(ctx, t.Team, t.Agent, t.Host)
	return seen.state != signals.Gone && (!seen.answers() || seen.status.Since.IsZero() || !seen.status.Since.Before(made) || made.After(time.Now()))
}

// launchedOnce tells whether our records of a member speak of a host with that id, and so
// of one that took the place of any other.
func (m *Manager) launchedOnce(ctx context.Context, t Target, id string) bool {
	if rec, err := m.records.Host(ctx, t.Team, t.Agent); err == nil && rec.Host == id {
		return true
	}
	rec, err := m.records.Launch(ctx, t.Team, t.Agent)
	return err == nil && rec.Host == id
}

// ownHost is a host that is proved to belong to one member. Everything in this package
// that ends a process, closes a pane or removes a file of a host takes one, and only
// prove, proveOrphan and launched make it.
type ownHost struct {
	Target
	m    *Manager
	seen sighting
}

// prove tells whether the target is the host of the member it is said to be: the host
// says so itself; or no other member's roster entry names it, and what runs under its id
// is that member's. What cannot be looked at is fault.Unproven.
func (m *Manager) prove(ctx context.Context, t Target, now *look) (ownHost, error) {
	h := ownHost{Target: t, m: m, seen: m.sight(ctx, t.Team, t.Agent, t.Host)}
	if err := checkHostID(t.Host); err != nil {
		return h, unproven("the roster names no host for %s: %w", t.Agent, err)
	}
	if h.seen.answers() {
		return h, nil
	}
	all, err := now.claims(ctx)
	if err != nil {
		return h, err
	}
	self := Owner{t.Team, t.Agent}
	for i, other := range all.Owners[t.Host] {
		if other != self || i > 0 {
			return h, unproven("the rosters name one host for %s and for %s", self, other)
		}
	}
	err = m.proveProcesses(ctx, &h, &now.processes)
	return h, err
}

// launched is the proof of a host that this very call has launched.
func (m *Manager) launched(ctx context.Context, t Target, _ *look) (ownHost, error) {
	return ownHost{Target: t, m: m, seen: m.sight(ctx, t.Team, t.Agent, t.Host)}, nil
}

// proveOrphan is prove for a host that no roster names. A roster that cannot be read may
// name it.
func (m *Manager) proveOrphan(ctx context.Context, t Target, now *look) (ownHost, error) {
	h, err := m.prove(ctx, t, now)
	if err != nil {
		return h, err
	}
	all, err := now.claims(ctx)
	if err != nil {
		return h, err
	}
	if why := m.unowned(ctx, all, t); why != "" {
		return h, unproven("%s", why)
	}
	return h, nil
}

func (m *Manager) claims(ctx context.Context) (Claims, error) {
	if m.opt.Claims == nil {
		return Claims{}, unproven("no roster can be asked for its host")
	}
	c, err := m.opt.Claims(ctx)
	if err != nil {
		return c, unproven("the rosters cannot be asked for its host: %w", err)
	}
	return c, nil
}

// look is what is seen of the rosters and of the processes for a set of proofs: each is looked
// at once, when it matters first.
type look struct {
	m         *Manager
	processes signals.Processes

	once sync.Once
	all  Claims
	err  error // of all
}

func (l *look) claims(ctx context.Context) (Claims, error) {
	l.once.Do(func() { l.all, l.err = l.m.claims(ctx) })
	return l.all, l.err
}

// proveProcesses looks at what runs under the id of a host that does not answer. A place
// from which the host's own process cannot be seen does not show what it started, either.
func (m *Manager) proveProcesses(ctx context.Context, h *ownHost, look *signals.Processes) error {
	if h.seen.known() && h.seen.state == signals.Unknown {
		return unproven("%s", h.seen.why)
	}
	if h.seen.known() && h.seen.state == signals.Alive && !m.isHost(ctx, h) {
		return unproven("its record names process %d, which is no host of it", h.seen.record.Process.PID)
	}
	table, err := look.Last()
	if err != nil {
		return unproven("its processes cannot be looked for: %w", err)
	}
	left := table.Marked(h.Host)
	own := func(p signals.Process) bool {
		return m.startedFor(p, h.Target) || h.seen.state == signals.Alive && p.Identity == h.seen.record.Process // which is its host, see above
	}
	if slices.ContainsFunc(left, own) {
		return nil
	}
	if i := slices.IndexFunc(left, func(p signals.Process) bool { return stillMarked(ctx, p, h.Host) }); i >= 0 {
		return unproven("what runs under the id of its host is of another member, or of another base directory: %s", left[i])
	}
	if !h.seen.known() && h.seen.state != signals.Gone {
		return unproven("%s", h.seen.why)
	}
	return nil
}

// isHost tells whether the process that a record names is a host of that member, or has
// just ended.
func (m *Manager) isHost(ctx context.Context, h *ownHost) bool {
	p, err := h.seen.record.Process.Describe()
	if err == nil && m.hostProcess(p, h.Target) {
		return true
	}
	// One that is ending has no command line any more.
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	if len(p.Argv) > 0 || h.seen.record.Process.Wait(ctx) != nil {
		return false
	}
	h.seen.state, h.seen.why = signals.Gone, "its host has ended"
	return true
}

// process is the host's own, as it said itself or as its record, which was proved, says.
func (h ownHost) process() signals.Identity {
	if h.seen.answers() {
		return h.seen.status.Identity
	}
	return h.seen.record.Process
}

// isOwn tells whether a process is the host that was proved.
func (h ownHost) isOwn(p signals.Process) bool {
	return h.seen.answers() || h.m.hostProcess(p, h.Target)
}

// socketOf is where the host listens.
func (m *Manager) socketOf(h ownHost) string {
	return cmp.Or(h.seen.record.Socket, m.SocketPath(h.Team, h.Agent))
}

// startedFor tells whether a process was started for that member: so says its
// environment.
func (m *Manager) startedFor(p signals.Process, t Target) bool {
	team, ok := p.Variable("LEADLIGHT_TEAM")
	agent, _ := p.Variable("LEADLIGHT_AGENT")
	base, _ := p.Variable("LEADLIGHT_BASE_DIR")
	return ok && team == t.Team && agent == t.Agent && BaseKey(base) == m.baseKey
}

// stillMarked tells whether a process carries the id of a host, or may. One that is ending
// has lost its environment since it was looked at, and is given time to be gone.
func stillMarked(ctx context.Context, p signals.Process, host string) bool {
	id, readable := p.Variable(signals.Mark)
	if readable {
		return id == host && p.Probe() != signals.Gone
	}
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	return p.Wait(ctx) != nil
}

func unproven(format string, args ...any) error { return fault.New(fault.Unproven, format, args...) }

// hostProcess tells whether a process is a host of that member: so says its command line,
// or its environment where a terminal, or the lead that started it, gave it the id.
func (m *Manager) hostProcess(p signals.Process, t Target) bool {
	if len(p.Argv) == 0 {
		return false
	}
	if id, ok := p.Variable(signals.Mark); ok && id == t.Host {
		return true
	}
	if id := agentID(p.Argv); id != "" {
		return id == t.Agent+"@"+t.Team
	}
	return isHost(p.Argv) && p.Argv[3] == t.Team && p.Argv[5] == t.Agent && BaseKey(p.Argv[7]) == m.baseKey
}
