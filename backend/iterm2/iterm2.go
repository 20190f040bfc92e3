// Package iterm2 is the backend that holds panes in iTerm2, through the program's own
// scripting interface.
//
// A pane is a session of iTerm2, its window a tab, its session an iTerm2 window; the id
// is the session's unique one, never a place such as w0t1p2, which changes. The tabs in
// which iTerm2 shows windows of tmux (tmux -CC) are left out: those panes are tmux's.
//
// The interface is spoken over one connection that stays: the cookie which iTerm2 wants to
// see is good for one, and asking for it may ask a person. It is asked for when the first
// answer is needed, and again when the connection was lost. Package wire has the
// messages. What is said here about iTerm2 is from the description of its interface and
// from its users' reports; nobody has run this against the real program.
//
// The mark of a pane is a variable of its session, user.leadlight. A program in the pane
// could change that of its own pane by an escape sequence, and thereby hide the pane from
// us; it cannot touch another one's.
package iterm2

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Variable names, in the environment of a program, its session: w0t1p2:UUID.
const Variable = "ITERM_SESSION_ID"

// markVariable is the session variable that holds a mark.
const markVariable = "user.leadlight"

// Options says how iTerm2 is reached.
type Options struct {
	// Socket is the unix socket of the scripting interface; "" is where iTerm2 puts it.
	Socket string
	// Dir is a folder, absolute, for the command of a pane until that has begun; it is made
	// when needed and removed when empty.
	Dir string
	// Cookie gets what a new connection needs; nil asks iTerm2 by osascript.
	Cookie Cookie
	// Getenv reads ITERM_SESSION_ID, HOME and IT2_SUITE; nil is os.Getenv.
	Getenv func(string) string
	// Timeout is how long iTerm2 may take to answer; 0 is 5 s. It may take ten times that
	// to let us in, because it may ask a person.
	Timeout time.Duration
	// Log gets a debug line for every connection; nil is silence.
	Log *slog.Logger
}

// Backend holds panes in iTerm2. It keeps no state about panes, and several processes may
// use one iTerm2 at once. It need not be closed: the connection ends with the process.
type Backend struct {
	opt    Options
	begins commands // in the folder of the options
	link   *link

	opening sync.Mutex // so that each Open gives the focus back to where it really was
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Lister  = (*Backend)(nil)
)

// New returns a Backend. It touches nothing: whether iTerm2 is there, and lets us in, is
// found out at the first call.
func New(o Options) (*Backend, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.Socket = cmp.Or(o.Socket, SocketPath(o.Getenv))
	if o.Cookie == nil {
		o.Cookie = AskByScript
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if !filepath.IsAbs(o.Socket) || !filepath.IsAbs(o.Dir) {
		return nil, fault.New(fault.InvalidArgument, "iTerm2's socket %q or the folder %q is not absolute", o.Socket, o.Dir)
	}
	return &Backend{opt: o, begins: commands(o.Dir), link: &link{opt: o, dialing: make(chan struct{}, 1)}}, nil
}

// SocketPath is where iTerm2 puts the socket of its scripting interface. A second iTerm2
// of another name, with its own settings, is named by IT2_SUITE.
func SocketPath(getenv func(string) string) string {
	name := getenv("IT2_SUITE")
	if name == "" || strings.ContainsRune(name, '/') {
		name = "iTerm2"
	}
	return filepath.Join(getenv("HOME"), "Library", "Application Support", name, "private", "socket")
}

// SessionOf reads the session's id out of the value of Variable.
func SessionOf(value string) (backend.ID, bool) {
	_, id, found := strings.Cut(value, ":")
	return backend.ID(id), found && checkID(backend.ID(id)) == nil
}

// Socket returns the path of the socket.
func (b *Backend) Socket() string { return b.opt.Socket }

// HangUp ends the connection; a call after it makes a new one.
func (b *Backend) HangUp() { b.link.hangUp() }

// ask is one question to iTerm2.
func (b *Backend) ask(ctx context.Context, r *wire.Request) (*wire.Response, error) {
	return b.link.ask(ctx, r)
}

// tree is everything iTerm2 shows.
func (b *Backend) tree(ctx context.Context) (*wire.Sessions, error) {
	a, err := b.ask(ctx, &wire.Request{ListSessions: &wire.Empty{}})
	if err != nil {
		return nil, err
	}
	if a.ListSessions == nil {
		return nil, odd("the list of sessions")
	}
	return a.ListSessions, nil
}

// Report is what was found out about iTerm2.
type Report struct {
	Sessions int  // of iTerm2's own
	Ours     int  // of those that bear a mark
	Inside   bool // this process is in one of them
}

// Probe finds out whether iTerm2 can be used; the error says what is in the way.
func (b *Backend) Probe(ctx context.Context) (Report, error) {
	if _, err := b.tree(ctx); err != nil { // which, unlike a list, is an error when it does not run
		return Report{}, err
	}
	all, err := b.ListAll(ctx)
	self, _ := SessionOf(b.opt.Getenv(Variable))
	_, inside := backend.Find(all, self)
	return Report{Sessions: len(all), Inside: inside, Ours: len(backend.Ours(all))}, err
}

// Self returns the pane of this process: the session in ITERM_SESSION_ID, if iTerm2 has it.
func (b *Backend) Self(ctx context.Context) (backend.Here, error) {
	id, ok := SessionOf(b.opt.Getenv(Variable))
	if !ok {
		return backend.Here{}, nil
	}
	all, err := b.ListAll(ctx)
	return backend.Around(all, id), err
}

// List returns our panes.
func (b *Backend) List(ctx context.Context) ([]backend.Pane, error) {
	all, err := b.ListAll(ctx)
	return backend.Ours(all), err
}

// ListAll returns every pane.
func (b *Backend) ListAll(ctx context.Context) ([]backend.Pane, error) {
	tree, err := b.tree(ctx)
	if isAway(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := b.panes(tree)
	var group errgroup.Group
	for i := range all {
		group.Go(func() error {
			known, err := b.facts(ctx, all[i].ID)
			all[i].Mark, all[i].PID = known.Mark, known.pid
			if isGone(err) {
				all[i].ID, err = "", nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		if isAway(err) {
			return nil, nil
		}
		return nil, err
	}
	return slices.DeleteFunc(all, func(p backend.Pane) bool { return p.ID == "" }), nil
}

// marked is what we write on a session.
type marked struct {
	backend.Mark
	PID int `json:",omitempty"` // of the program that was started in it
}

// sessionFacts are what is kept on a session.
type sessionFacts struct {
	marked
	pid int // of the program that runs in it
}

// facts asks for what is kept on a session: backend.ErrGone.
func (b *Backend) facts(ctx context.Context, id backend.ID) (sessionFacts, error) {
	var f sessionFacts
	a, err := b.ask(ctx, &wire.Request{Variable: &wire.VariableRequest{Session: string(id), Get: []string{markVariable, "pid"}}})
	switch {
	case err != nil:
		return f, err
	case a.Variable == nil || a.Variable.Status == wire.OK && len(a.Variable.JSON) != 2:
		return f, odd("the variables of a session")
	case a.Variable.Status == wire.NotFound:
		return f, gone(id)
	case a.Variable.Status != wire.OK:
		return f, refused("tell the variables of session "+string(id), a.Variable.Status)
	}
	var text string // a mark that is not ours to read is none
	if json.Unmarshal([]byte(a.Variable.JSON[0]), &text) == nil && json.Unmarshal([]byte(text), &f.marked) != nil {
		f.marked = marked{}
	}
	_ = json.Unmarshal([]byte(a.Variable.JSON[1]), &f.pid)
	f.pid = max(f.pid, 0)
	return f, nil
}

// ours tells whether a session bears a mark: backend.ErrGone, fault.Unproven. No other
// session ever gets its id, so whoever asks first and acts then cannot hit another one.
func (b *Backend) ours(ctx context.Context, id backend.ID, mark backend.Mark) (sessionFacts, error) {
	if err := checkID(id); err != nil {
		return sessionFacts{}, err
	}
	have, err := b.facts(ctx, id)
	if err == nil && (have.Mark != mark || mark == backend.Mark{}) {
		err = fault.New(fault.Unproven, "session %s is left alone: it carries another mark", id)
	}
	return have, err
}

// mayClose is ours for a session that is to be closed: nobody else runs in it, and not
// this process.
func (b *Backend) mayClose(ctx context.Context, id backend.ID, mark backend.Mark) error {
	now, err := b.ours(ctx, id, mark)
	if err != nil {
		return err
	}
	if self, ok := SessionOf(b.opt.Getenv(Variable)); ok && self == id {
		return fault.New(fault.Unproven, "session %s is left alone: this program runs in it", id).WithHint("close it yourself, or ask again from another pane")
	}
	if now.PID > 0 && now.pid > 0 && now.pid != now.PID {
		return fault.New(fault.Unproven, "session %s is left alone: %w (pid %d)", id, backend.ErrTaken, now.pid).WithHint("close it yourself")
	}
	return nil
}

// Label shows name, state and colour in the session's name, badge and tab.
func (b *Backend) Label(ctx context.Context, id backend.ID, mark backend.Mark, l backend.Label) error {
	if _, err := b.ours(ctx, id, mark); err != nil {
		if isAway(err) {
			return gone(id)
		}
		return err
	}
	a, err := b.ask(ctx, &wire.Request{SetProfile: &wire.SetProfileRequest{Session: string(id), Assignments: look(l)}})
	if err == nil {
		err = done(a.SetProfile, id, "the change of a label", "label")
	}
	if isAway(err) {
		return gone(id)
	}
	return err
}
