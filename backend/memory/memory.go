// Package memory is a backend without a terminal: its panes are real child processes
// whose output goes into a buffer. It ends with the process that made it. It shows what
// the contract asks of a backend at the least, and serves tests that need panes and no
// terminal.
package memory

import (
	"context"
	"errors"
	"maps"
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
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/signals"
)

// grace is how long a closed pane's programs have between SIGHUP and SIGKILL.
const grace = time.Second

// Backend holds panes in memory. Its methods are safe for concurrent use.
type Backend struct {
	mu    sync.Mutex
	panes map[backend.ID]*pane
	last  int // number of the last pane
	focus backend.ID
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Capturer = (*Backend)(nil)
)

type pane struct {
	backend.Pane
	group  signals.Proof // of its programs
	label  backend.Label
	output *tail.Tail
	ended  chan struct{} // closed when the program was waited for
}

// New returns a backend without panes.
func New() *Backend { return &Backend{panes: map[backend.ID]*pane{}} }

// Self is always nowhere: nothing runs around this process.
func (b *Backend) Self(context.Context) (backend.Here, error) { return backend.Here{}, nil }

// Open starts the programs. Each one leads a process group of its own, has an empty
// standard input and writes into the pane's buffer. All panes of one call that are not
// Window or Session share a window.
func (b *Backend) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	results := make([]backend.Result, len(specs))
	for i, s := range specs {
		if _, results[i].Err = backend.Check(i, s); results[i].Err != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			b.undo(results[:i])
			return backend.NoneOpened(len(specs), fault.New(fault.Of(err).Code, "open panes: %w", err))
		}
		results[i] = b.start(s)
	}
	return results
}

func (b *Backend) start(s backend.Spec) backend.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	id := backend.ID("m" + strconv.Itoa(b.last))
	p := &pane{label: s.Label, output: tail.New(maxOutput), ended: make(chan struct{})}
	window := "w0"
	if s.Place != backend.Split {
		window = "w" + strconv.Itoa(b.last)
	}
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, p.output, p.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = grace // a grandchild may hold the output open
	if err := cmd.Start(); err != nil {
		return backend.Result{Err: fault.New(fault.SpawnFailed, "start %s: %w", s.Argv[0], err)}
	}
	p.group, _ = signals.OwnGroup(cmd.Process.Pid) // nobody has waited for it
	p.Pane = backend.Pane{ID: id, Window: window, Session: "s0", Server: strconv.Itoa(os.Getpid()), PID: cmd.Process.Pid, Mark: s.Mark}
	b.panes[id] = p
	go b.wait(p, cmd)
	return backend.Result{Pane: p.Pane}
}

// wait follows the program to its end: the pane goes with it, or stays to be read when
// the program failed.
func (b *Backend) wait(p *pane, cmd *exec.Cmd) {
	err := cmd.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.Dead = true; err == nil {
		delete(b.panes, p.ID)
	}
	close(p.ended)
}

func (b *Backend) undo(results []backend.Result) {
	for _, r := range results {
		if r.Err == nil {
			_ = b.closeOne(r.Pane.ID, r.Pane.Mark)
		}
	}
}

// List returns the panes that carry a mark.
func (b *Backend) List(context.Context) ([]backend.Pane, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []backend.Pane
	for _, id := range slices.Sorted(maps.Keys(b.panes)) {
		if p := b.panes[id].Pane; p.Mark != (backend.Mark{}) {
			p.Active = id == b.focus
			list = append(list, p)
		}
	}
	return list, nil
}

// find returns a pane by its id. The caller holds mu.
func (b *Backend) find(id backend.ID) (*pane, error) {
	if p, ok := b.panes[id]; ok {
		return p, nil
	}
	return nil, fault.New(fault.BackendUnavailable, "pane %q: %w", string(id), backend.ErrGone)
}

// Label keeps the label; nobody can see it.
func (b *Backend) Label(_ context.Context, id backend.ID, mark backend.Mark, l backend.Label) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(id)
	if err != nil {
		return err
	}
	if p.Mark != mark {
		return fault.New(fault.Unproven, "pane %s is not labelled: it carries another mark", id)
	}
	p.label = l
	return nil
}

// Labelled returns the label of a pane.
func (b *Backend) Labelled(id backend.ID) (backend.Label, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.panes[id]
	if !ok {
		return backend.Label{}, false
	}
	return p.label, true
}

// Arrange checks what it is given and moves nothing.
func (b *Backend) Arrange(_ context.Context, layouts ...backend.Layout) error {
	return backend.EachLayout(layouts, b.arrangeOne)
}

func (b *Backend) arrangeOne(l backend.Layout) error {
	if !strings.HasPrefix(l.Window, "w") {
		return fault.New(fault.InvalidArgument, "%q is not a window", l.Window)
	}
	return backend.CheckLayout(l)
}

// Focus remembers the pane as the active one.
func (b *Backend) Focus(_ context.Context, id backend.ID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(id)
	if err == nil {
		b.focus = p.ID
	}
	return err
}

// Close hangs up on the programs of a pane, kills what is left of them a second later,
// and forgets the pane.
func (b *Backend) Close(_ context.Context, set ...backend.Marked) []error {
	return backend.Each(set, b.closeOne)
}

func (b *Backend) closeOne(id backend.ID, mark backend.Mark) error {
	b.mu.Lock()
	p, err := b.find(id)
	if err == nil && p.Mark != mark {
		err = fault.New(fault.Unproven, "pane %s is left alone: it carries another mark", id)
	}
	b.mu.Unlock()
	if errors.Is(err, backend.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	p.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.panes, id)
	return nil
}

func (p *pane) end() {
	select {
	case <-p.ended:
		return
	default:
	}
	_ = p.group.Signal(syscall.SIGHUP)
	select {
	case <-p.ended:
	case <-time.After(grace):
		_ = p.group.Signal(syscall.SIGKILL)
		<-p.ended
	}
}

// End closes every pane.
func (b *Backend) End() {
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.panes))
	b.mu.Unlock()
	for _, p := range all {
		_ = b.closeOne(p.ID, p.Mark)
	}
}
