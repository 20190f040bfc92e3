// Package headless is a backend without a terminal: its panes are detached processes
// that go on when whoever opened them is gone. What is drawn in one is kept by the host
// inside, and seen through that host's socket.
//
// There is no server. What is known of a pane lies in a folder, one file a pane: its
// mark and the identity of its process. A pane is there while that very process runs; a
// file whose process is proved to be gone says nothing and is removed by whoever finds
// it. The folder must be ours alone, and so must the one above it: whoever can write
// there could have us end processes of ours.
//
// A process leads a session of its own without a terminal, so that neither the
// interrupt key nor the hang-up of the terminal it was started from reaches it. It has
// Variable in its environment, and, for the proof that signals asks for, its host's mark.
package headless

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// Variable names, in the environment of a pane's process, the pane.
const Variable = "LEADLIGHT_PANE"

// How long the process of a pane that is closed may take to end what is below it, and
// how long killing may take then.
const (
	termLimit = 4 * time.Second
	killLimit = 2 * time.Second
)

// nowhere is the window and the session of all panes.
const nowhere = "headless"

// Options is what a Backend is made of.
type Options struct {
	Dir     string   // the folder of the panes, absolute; made when the first one is opened
	Environ []string // what the processes get, less what describes the terminal of whoever opens them
	// Viewer returns the command line that shows a pane in a person's terminal; nil: there is none.
	Viewer func(backend.Mark) []string
}

// Backend holds panes without a terminal. Its methods are safe for concurrent use, also
// by several processes on one folder.
type Backend struct{ opt Options }

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Attacher = (*Backend)(nil)
)

// New returns a Backend. It touches nothing.
func New(o Options) (*Backend, error) {
	if !filepath.IsAbs(o.Dir) {
		return nil, fault.New(fault.InvalidArgument, "the folder of headless panes, %q, is not absolute", o.Dir)
	}
	return &Backend{opt: o}, nil
}

// Self is always nowhere: there is no terminal that a process could be in.
func (b *Backend) Self(context.Context) (backend.Here, error) { return backend.Here{}, nil }

// idOf is the id of the pane that carries a mark: one mark, one pane.
func idOf(m backend.Mark) backend.ID {
	return backend.ID("h" + m.Hash()[:16])
}

// checkID refuses what no pane can have as its id; the name of its file is made of it.
func checkID(id backend.ID) error {
	digits, ok := strings.CutPrefix(string(id), "h")
	if ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == "" {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%.40q is not the id of a headless pane", string(id))
}

// List returns the panes whose process runs, or may run, in the order of their ids.
func (b *Backend) List(ctx context.Context) ([]backend.Pane, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.New(fault.Of(err).Code, "list headless panes: %w", err)
	}
	entries, err := os.ReadDir(b.opt.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.BackendUnavailable, "list headless panes: %w", err)
	}
	if err := b.private(); err != nil {
		return nil, fmt.Errorf("list headless panes: %w", err)
	}
	var list []backend.Pane
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || checkID(backend.ID(name)) != nil {
			continue
		}
		r, err := b.find(backend.ID(name))
		switch {
		case isGone(err):
		case err != nil:
			return nil, err
		case r.Mark != backend.Mark{}:
			list = append(list, b.pane(r))
		}
	}
	return list, nil
}

func (b *Backend) pane(r record) backend.Pane {
	return backend.Pane{ID: r.ID, Window: nowhere, Session: nowhere, Server: b.opt.Dir, PID: r.Process.PID, Mark: r.Mark}
}

// find returns the record of a pane that is there: backend.ErrGone.
func (b *Backend) find(id backend.ID) (record, error) {
	if err := checkID(id); err != nil {
		return record{}, err
	}
	r, err := b.read(id)
	if err == nil && r.Process.Probe() == signals.Gone {
		b.forget(r.ID)
		err = gone(id)
	}
	return r, err
}

func gone(id backend.ID) error {
	return fault.New(fault.BackendUnavailable, "pane %s: %w", id, backend.ErrGone)
}

// Label changes nothing: there is nothing to be labelled that anybody could see.
func (b *Backend) Label(_ context.Context, id backend.ID, mark backend.Mark, _ backend.Label) error {
	r, err := b.find(id)
	if err == nil && r.Mark != mark {
		err = fault.New(fault.Unproven, "pane %s is not labelled: it carries another mark", id)
	}
	return err
}

// Arrange checks what it is given and moves nothing.
func (b *Backend) Arrange(_ context.Context, layouts ...backend.Layout) error {
	return backend.EachLayout(layouts, b.arrangeOne)
}

func (b *Backend) arrangeOne(l backend.Layout) error {
	if l.Window != nowhere {
		return fault.New(fault.InvalidArgument, "%.40q is not the window of headless panes", l.Window)
	}
	return backend.CheckLayout(l)
}

// Focus says how to get there: fault.Unsupported.
func (b *Backend) Focus(ctx context.Context, id backend.ID) error {
	r, err := b.find(id)
	if err != nil {
		return err
	}
	e := fault.New(fault.Unsupported, "%s has no terminal that could be brought to the front", r.Mark.Agent)
	if argv, err := b.Attach(ctx, id); err == nil {
		e = e.WithHint("%s shows it here", strings.Join(argv, " "))
	}
	return e
}

// Attach returns the command line of a viewer.
func (b *Backend) Attach(_ context.Context, id backend.ID) ([]string, error) {
	r, err := b.find(id)
	if err != nil {
		return nil, err
	}
	if b.opt.Viewer == nil {
		return nil, fault.New(fault.Unsupported, "nothing shows a headless pane")
	}
	return b.opt.Viewer(r.Mark), nil
}

// Close ends the process of a pane with all it has started: TERM to the process itself,
// whose business it is to pass it on, KILL to what is left a while later.
func (b *Backend) Close(ctx context.Context, set ...backend.Marked) []error {
	return backend.Each(set, func(id backend.ID, mark backend.Mark) error { return b.closeOne(ctx, id, mark) })
}

func (b *Backend) closeOne(ctx context.Context, id backend.ID, mark backend.Mark) error {
	if err := checkID(id); err != nil {
		return err
	}
	r, err := b.read(id)
	switch {
	case isGone(err):
		return nil
	case err != nil:
		return err
	case r.Mark != mark:
		return fault.New(fault.Unproven, "pane %s is left alone: it carries another mark", id)
	}
	if r.Process.Probe() == signals.Unknown {
		return fault.New(fault.Unproven, "pane %s is left alone: its process, pid %d, could not be observed", id, r.Process.PID)
	}
	end := signals.TreeKiller{ // what does not carry the mark is not ours, whatever the record says
		Host: mark.Host, Term: termLimit, Kill: killLimit,
		Asked: func(p signals.Process) bool { return p.Identity == r.Process },
	}
	report, err := end.Run(ctx)
	if err == nil && len(report.Survivors) > 0 {
		err = fmt.Errorf("%w: %d processes are still there, the first is %s", signals.ErrUnproven, len(report.Survivors), report.Survivors[0])
	}
	if err != nil {
		return fault.New(fault.Unproven, "close pane %s: %w", id, err)
	}
	b.forget(id)
	return nil
}

// Leave is called from within the pane id, which is about to go.
func (b *Backend) Leave(_ context.Context, id backend.ID) error {
	if err := checkID(id); err != nil {
		return err
	}
	b.forget(id)
	return nil
}
