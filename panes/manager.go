// Package panes is what is running: it launches hosts into panes, says how each
// is doing, and ends them with proof. It knows processes, panes and hosts; what a
// team remembers of them is the business of package teams.
//
// A Manager is safe for concurrent use. Panes are placed and opened under one
// lock for each terminal server, so that two spawns at the same instant do not
// plan with the same room.
package panes

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/signals"
)

// Limits of single steps. The verbs have their own, larger ones.
const (
	terminalLimit = time.Minute      // one question to a terminal, which has its own limit of seconds
	placeLimit    = 2 * time.Minute  // waiting for our turn at a terminal
	statusLimit   = 2 * time.Second  // one question to a host
	guardLimit    = 10 * time.Second // waiting for somebody who starts the same team
)

// Choice is the backend that holds new panes, and why it is this one.
type Choice struct {
	Type    string // "tmux", ...; what is written as backendType
	Socket  string // the terminal's own socket, or what else it is reached by; "" where there is none
	Word    string // what Socket is, for people; "": a socket
	Own     bool   // the terminal server is our own, not the person's
	Why     string
	Backend backend.Backend
}

// Headless is the type of the backend without a terminal.
const Headless = "headless"

// ITerm2 is the type of the backend in iTerm2.
const ITerm2 = "iterm2"

// Kitty is the type of the backend in kitty.
const Kitty = "kitty"

// Lingers tells whether a host stays when its agent has failed, so that its screen can be
// read: everywhere but in tmux, which keeps the pane itself.
func Lingers(backendType string) bool { return backendType != "tmux" }

// HeadlessFolder is where headless panes are noted, in a run folder.
func HeadlessFolder(runtime string) string { return filepath.Join(runtime, Headless) }

// Place is the word for what Socket is.
func (c Choice) Place() string {
	if c.Type == Headless {
		return "folder"
	}
	return cmp.Or(c.Word, "socket")
}

// Options is what a Manager is made of.
type Options struct {
	Dir        *files.Dir // the base directory
	Base       string     // its path, as teammates are given it
	Runtime    string     // from RuntimeDir; need not be there
	Executable string     // this program, absolute
	Environ    []string   // the lead's environment
	// Inherited is what teammates get of it, asked for at every start; nil: Environ.
	Inherited func() []string
	// Choose decides where new panes go. It is called when the first pane is
	// wanted, and its answer is kept.
	Choose func(context.Context) (Choice, error)
	// Claims asks every roster of the base directory which hosts it names. nil: none can
	// be asked, and then nothing is ended whose host does not answer.
	Claims func(ctx context.Context) (Claims, error)
	// Open returns the backend of a pane that is already there.
	Open func(backendType, socket string) (backend.Backend, error)
}

// Manager launches, observes and ends what runs in panes.
type Manager struct {
	opt     Options
	baseKey string
	records *Records

	mu     sync.Mutex // guards what follows
	choice *Choice
	opened map[terminal]backend.Backend
	looks  *signals.Processes // shared by those who ask within lookLife
	made   time.Time          // it was made

	inheriting   sync.Mutex // guards what follows
	lead, ofLead []string   // the lead's environment, and what teammates get of it
}

// NewManager returns a Manager.
func NewManager(o Options) *Manager {
	key := BaseKey(o.Base)
	return &Manager{opt: o, baseKey: key, records: &Records{dir: o.Dir, baseKey: key}, opened: map[terminal]backend.Backend{}}
}

// lookLife is how long looks at the processes share what they have read of each: a process
// may become another program.
const lookLife = time.Second

// processes is a look at the processes that began after the call. Those who ask at the same
// time share one.
func (m *Manager) processes() (signals.Table, error) {
	asked := time.Now()
	m.mu.Lock()
	if m.looks == nil || asked.Sub(m.made) > lookLife {
		m.looks, m.made = new(signals.Processes), asked
	}
	looks := m.looks
	m.mu.Unlock()
	return looks.After(asked)
}

// Records returns the launch and host records.
func (m *Manager) Records() *Records { return m.records }

// Choice returns where new panes go.
func (m *Manager) Choice(ctx context.Context) (Choice, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.choice != nil {
		return *m.choice, nil
	}
	c, err := m.opt.Choose(ctx)
	if err != nil {
		return Choice{}, err
	}
	m.choice = &c
	m.opened[terminal{c.Type, c.Socket}] = c.Backend
	return c, nil
}

// terminal names one terminal.
type terminal struct{ backend, socket string }

// backendOf returns the backend that holds a pane which was opened before.
func (m *Manager) backendOf(t terminal) (backend.Backend, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.opened[t]; ok {
		return b, nil
	}
	b, err := m.opt.Open(t.backend, t.socket)
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", t.backend, err)
	}
	m.opened[t] = b
	return b, nil
}

// mark is what is written on the pane of one host.
func (m *Manager) mark(team, agent, hostID string) backend.Mark {
	return backend.Mark{Base: m.baseKey, Team: team, Agent: agent, Host: hostID}
}

// Guard lets one at a time make the team of a name. release gives it free.
func (m *Manager) Guard(ctx context.Context, team, verb string) (release func(), err error) {
	held, err := lock.Acquire(ctx, m.opt.Dir, OwnPath(team, "locks", "start"), verb, guardLimit)
	if err != nil {
		return nil, err
	}
	return held.Release, nil
}

// NoteDown writes down that this process takes a team down. That outlives the team, as its
// locks do, and can be read while they are held. release ends it.
func (m *Manager) NoteDown(team string) (release func()) {
	held, err := lock.Try(m.opt.Dir, downLock(team), "down")
	if err != nil || held == nil { // it is a word for others only, or another has said it
		return func() {}
	}
	return held.Release
}

// Downer is who has begun to take a team down last, and when by its clock; zero for nobody.
type Downer struct {
	PID int
	At  int64
}

// DownBy returns who has begun to take a team of that name down last.
func (m *Manager) DownBy(team string) Downer {
	pid, _, at, ok := lock.LastHolder(m.opt.Dir, downLock(team))
	if !ok {
		return Downer{}
	}
	return Downer{pid, at.UnixMilli()}
}

// AwaitDown waits while another process takes a team down; blocked is told which.
func (m *Manager) AwaitDown(ctx context.Context, team string, limit time.Duration, blocked func(holder string)) error {
	return lock.AwaitFree(ctx, m.opt.Dir, downLock(team), limit, blocked)
}

func downLock(team string) string { return OwnPath(team, "locks", "down") }

// NoteRestart writes down that this process stops a member to start it again at once. One
// process at a time does. release ends it.
func (m *Manager) NoteRestart(ctx context.Context, team, agent string, limit time.Duration) (release func(), err error) {
	held, err := lock.Acquire(ctx, m.opt.Dir, restartLock(team, agent), "restart", limit)
	if err != nil {
		return nil, fmt.Errorf("wait for who restarts %s: %w", agent, err)
	}
	return held.Release, nil
}

// Writable tells whether what is written when a teammate starts can be written. It leaves
// nothing.
func (m *Manager) Writable() error {
	if err := files.MakePrivate(m.opt.Runtime); err != nil {
		return err
	}
	return cmp.Or(files.Writable(m.opt.Base), files.Writable(m.opt.Runtime)) // mostly one file system: it is said once
}

// Restarting tells whether somebody stops a member only to start it again.
func (m *Manager) Restarting(team, agent string) bool {
	return m.held(restartLock(team, agent))
}

func restartLock(team, agent string) string { return OwnPath(team, "locks", "restart-"+agent) }

// LockMember lets one verb at a time start or end a member; the next one waits until
// limit, and blocked is told for whom. release gives it free.
func (m *Manager) LockMember(ctx context.Context, team, agent, verb string, limit time.Duration, blocked func(holder string)) (release func(), err error) {
	name := memberLock(team, agent)
	held, err := lock.Try(m.opt.Dir, name, verb)
	if held == nil && err == nil {
		blocked(lock.Holder(m.opt.Dir, name))
		held, err = lock.Acquire(ctx, m.opt.Dir, name, verb, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("wait for who starts or ends %s: %w", agent, err)
	}
	return held.Release, nil
}

// Expect notes that a member is about to be started here, before anybody is told of it.
func (m *Manager) Expect(team, agent string) error {
	return lock.Make(m.opt.Dir, HostLock(team, agent))
}

// startedHere tells whether the verbs of this base directory have begun to start a host. A
// roster that was brought here from another place names hosts of which nothing is here.
func (m *Manager) startedHere(ctx context.Context, team, agent, hostID string) bool {
	launch, err := m.records.Launch(ctx, team, agent)
	return err == nil && launch.Host == hostID || lock.Known(m.opt.Dir, HostLock(team, agent))
}

// AwaitMember waits while another verb starts or ends a member; blocked is told which.
func (m *Manager) AwaitMember(ctx context.Context, team, agent string, limit time.Duration, blocked func(holder string)) error {
	return lock.AwaitFree(ctx, m.opt.Dir, memberLock(team, agent), limit, blocked)
}

// MemberBusy tells whether a verb starts or ends a member now.
func (m *Manager) MemberBusy(team, agent string) bool {
	return m.held(memberLock(team, agent))
}

// held tells whether somebody surely holds a lock.
func (m *Manager) held(name string) bool {
	busy, err := lock.Busy(m.opt.Dir, name)
	return err == nil && busy
}

// beingStarted tells whether the verb that has entered a member as starting still has its
// lock. One that took the lock later does not.
func (m *Manager) beingStarted(team, agent string, entered time.Time) bool {
	_, _, since, ok := lock.LastHolder(m.opt.Dir, memberLock(team, agent))
	return m.MemberBusy(team, agent) && !(ok && since.After(entered))
}

func memberLock(team, agent string) string { return OwnPath(team, "locks", "member-"+agent) }

// runDir is the folder of this base directory's sockets.
func (m *Manager) runDir() string { return filepath.Join(m.opt.Runtime, m.baseKey) }

// SocketPath is the control socket of a member's next host.
func (m *Manager) SocketPath(team, agent string) string {
	return socketPath(m.opt.Runtime, m.baseKey, team, agent)
}

// status asks a host how it is. The error is host.ErrNoHost when nobody listens.
func status(ctx context.Context, socket string) (host.Status, error) {
	ctx, cancel := signals.Within(ctx, statusLimit, context.DeadlineExceeded, unixsock.ListenerOf(socket))
	defer cancel()
	return host.Dial(socket).Status(ctx)
}

// Executable is the file of this program.
func (m *Manager) Executable() string { return m.opt.Executable }

// Environment is what a member's programs get, terminal variables excepted.
func (m *Manager) Environment(team, agent, hostID string, extra []string) []string {
	lead := m.opt.Environ
	if m.opt.Inherited != nil {
		lead = m.opt.Inherited()
	}
	m.inheriting.Lock()
	if m.ofLead == nil || !slices.Equal(m.lead, lead) {
		m.lead, m.ofLead = slices.Clone(lead), ofLead(lead)
	}
	common := m.ofLead
	m.inheriting.Unlock()
	return environment(common, m.opt.Base, Target{Team: team, Agent: agent, Host: hostID}, m.opt.Executable, extra)
}
