package tmux

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
)

// Options say which server to use and how.
type Options struct {
	// Socket is the path of the server's socket, at most 100 bytes.
	Socket string
	// Own says that the server is ours alone: it is started when needed, with no
	// configuration of the user's, and ends with its last pane.
	Own bool
	// Status is the command whose output the status line of a server of ours shows, for a
	// session whose first pane has that mark; nil: none.
	Status func(backend.Mark) []string
	// Program is the tmux to run; "" is the tmux on PATH.
	Program string
	// Getenv reads TMUX and TMUX_PANE; nil is os.Getenv.
	Getenv func(string) string
	// Timeout is how long a tmux command may take, six times as long while client or server
	// wait for the CPU; 0 is 5 s. A line that opens many
	// panes gets 200 ms more for each.
	Timeout time.Duration
	// AheadLife is how long a server that Ahead has started waits for its first session if
	// its process is killed; 0 is a minute.
	AheadLife time.Duration
	// Log gets a debug line for every run of tmux; nil is silence.
	Log *slog.Logger
}

// Backend holds panes in one tmux server. It keeps no state about panes, and several
// processes may use one server at once.
type Backend struct {
	opt Options

	mu      sync.Mutex
	version Version // zero: not asked yet
	ahead   bool    // the server was started for a session that is not there yet

	starting sync.Mutex // held while it is
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Capturer = (*Backend)(nil)
	_ backend.Lister   = (*Backend)(nil)
	_ backend.Attacher = (*Backend)(nil)
)

// New returns a backend for the server at o.Socket, which need not run yet. It runs
// nothing. A path that cannot be a socket's is fault.InvalidArgument, a machine
// without tmux fault.BackendUnavailable.
func New(o Options) (*Backend, error) {
	var err error
	if o.Socket, err = socketPath(o.Socket); err != nil {
		return nil, err
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	o.Program, o.Timeout, o.AheadLife = cmp.Or(o.Program, "tmux"), cmp.Or(o.Timeout, 5*time.Second), cmp.Or(o.AheadLife, aheadLife)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	b := &Backend{opt: o}
	if !b.installed() {
		return nil, fault.New(fault.BackendUnavailable, "the program %q is not on PATH", b.opt.Program).
			WithHint("install tmux %s or newer, or choose another backend with --backend", floor)
	}
	return b, nil
}

// Version returns the version of the tmux program, asked once, and refuses one that
// is too old.
func (b *Backend) Version(ctx context.Context) (Version, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.version.Kind != "" {
		return b.version, nil
	}
	v, err := b.askVersion(ctx)
	if err != nil {
		return Version{}, err
	}
	if err := v.check(); err != nil {
		return v, err
	}
	if v.Kind == LookAlike || v.Kind == Unknown {
		if err := b.capable(ctx, v); err != nil {
			return v, err
		}
	}
	b.version = v
	return v, nil
}

func (b *Backend) askVersion(ctx context.Context) (Version, error) {
	tctx, began, cancel := b.within(ctx, b.opt.Timeout)
	defer cancel()
	var said bytes.Buffer
	c := exec.CommandContext(tctx, b.opt.Program, "-V")
	c.Stdout, c.Stderr, c.WaitDelay = &said, &said, oneshot.Whole
	err := oneshot.RunTold(c, began)
	if cause := context.Cause(tctx); cause != nil && err != nil {
		return Version{}, b.explain(ctx, "-V", cause, "", b.opt.Timeout)
	}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return Version{}, b.explain(ctx, "-V", err, "", b.opt.Timeout)
	}
	return ParseVersion(said.String())
}

// rows lists every pane of the server; none if it provably does not run.
func (b *Backend) rows(ctx context.Context) ([]row, error) {
	if b.startedAhead() {
		return nil, nil
	}
	if dead := b.dial(); errors.Is(dead, os.ErrNotExist) || errors.Is(dead, syscall.ECONNREFUSED) {
		if err := b.reach(ctx, dead); err != nil || b.dial() != nil {
			return nil, err
		}
	}
	for try := 0; ; try++ {
		out, err := b.run(ctx, listCommand())
		switch {
		case err == nil:
			return b.parse(out)
		case errors.Is(err, errNoServer):
			return nil, nil
		case try == 4 && strings.Contains(err.Error(), noSession):
			return nil, nil // it is not leaving, and holds no panes: somebody has started it ahead
		case try == 4 || !leaving(err):
			return nil, err
		}
		pause(ctx)
	}
}

// parse reads a list of panes. A server that tells its version need not be asked for it.
func (b *Backend) parse(out string) ([]row, error) {
	rows, err := parseRows(out)
	if len(rows) == 0 || rows[0].server == "-" {
		return rows, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.version.Kind == "" {
		if v, verr := ParseVersion("tmux " + rows[0].server); verr == nil && v.Kind != Newest && v.Kind != Unknown && v.check() == nil {
			b.version = v
		}
	}
	return rows, err
}

func listCommand() command { return command{"list-panes", "-a", "-F", rowFormat} }

// leaving tells that the server was on its way out when it was asked: it still held
// the socket but did not serve. Asked again, the socket tells what became of it.
func leaving(err error) bool {
	return slices.ContainsFunc([]string{"server exited", "lost server", noSession}, func(text string) bool {
		return strings.Contains(err.Error(), text)
	})
}

// noSession is what a server says that has none.
const noSession = "no current target"

// pause gives a leaving server a moment.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// Self returns the pane of this process: the one in TMUX_PANE, if TMUX names this very
// server and the server still has it.
func (b *Backend) Self(ctx context.Context) (backend.Here, error) {
	if b.inPane() == "" {
		return backend.Here{}, nil // inside something else, or nothing
	}
	rows, err := b.rows(ctx)
	return b.self(rows), err
}

func (b *Backend) self(rows []row) backend.Here {
	in, _, _ := ParseInside(b.opt.Getenv("TMUX"))
	self, ok := find(rows, b.inPane())
	// Another server may have taken over the socket since this pane was made.
	if !ok || !strings.HasPrefix(self.Server, strconv.Itoa(in.PID)+".") {
		return backend.Here{}
	}
	return backend.Here{Self: &self.Pane, Window: panes(rows, func(r row) bool { return r.Window == self.Window })}
}

// Look tells with one program what List and Self tell with two.
func (b *Backend) Look(ctx context.Context) (backend.Surroundings, error) {
	rows, err := b.rows(ctx)
	if err != nil {
		return backend.Surroundings{}, err
	}
	b.notice(rows)
	return backend.Surroundings{Ours: panes(rows, ours), Here: b.self(rows)}, nil
}

// inPane is the pane of this server that the variables name; "": none.
func (b *Backend) inPane() backend.ID {
	id := backend.ID(b.opt.Getenv("TMUX_PANE"))
	in, ok, err := ParseInside(b.opt.Getenv("TMUX"))
	if err != nil || !ok || checkPane(id) != nil || !sameSocket(in.Socket, b.opt.Socket) {
		return ""
	}
	return id
}

// List returns our panes, each with its mark.
func (b *Backend) List(ctx context.Context) ([]backend.Pane, error) {
	rows, err := b.rows(ctx)
	b.notice(rows)
	return panes(rows, ours), err
}

// ListAll returns every pane of the server.
func (b *Backend) ListAll(ctx context.Context) ([]backend.Pane, error) {
	rows, err := b.rows(ctx)
	return panes(rows, func(row) bool { return true }), err
}
