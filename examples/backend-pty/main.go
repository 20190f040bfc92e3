// Command leadlight-backend-pty is a whole backend for leadlight, to learn from: a pane is
// a pseudo-terminal that nobody sees. It shows what such a program is made of. This file
// is the backend; hold.go is its terminal, a process for each pane that stays when this
// program has gone.
//
//	go build -o ~/bin/leadlight-backend-pty ./examples/backend-pty
//	leadlight backend test -- leadlight-backend-pty
//	leadlight spawn bob --backend pty -- make watch
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external/plugin"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "hold" {
		os.Exit(hold(os.Args[2]))
	}
	plugin.Main(plugin.Info{Name: "pty", Version: "1", NoFocus: true}, func(h plugin.Host) (backend.Backend, error) {
		return &ptys{h.StateDir}, nil
	})
}

// ptys are the panes whose sockets lie in a folder.
type ptys struct{ dir string }

// window is the window of all panes.
const window = "pty"

func (b *ptys) socket(id backend.ID) string { return filepath.Join(b.dir, string(id)+".sock") }

// pane asks the holder of a pane: backend.ErrGone.
func (b *ptys) pane(ctx context.Context, id backend.ID, q question) (backend.Pane, error) {
	if len(id) != 17 || id[0] != 'p' || strings.Trim(string(id[1:]), "0123456789abcdef") != "" {
		return backend.Pane{}, fault.New(fault.InvalidArgument, "%.40q is not the id of a pane", string(id))
	}
	a, err := ask(ctx, b.socket(id), q)
	if err != nil {
		return backend.Pane{}, err
	}
	return backend.Pane{ID: id, Window: window, Session: window, Server: b.dir, PID: a.PID, Width: columns, Height: rows, Mark: a.Mark}, nil
}

// Self is always nowhere: nobody sits in a terminal that nobody sees.
func (b *ptys) Self(context.Context) (backend.Here, error) { return backend.Here{}, nil }

// Open starts a holder for each pane, and lets the programs begin when all are there.
func (b *ptys) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	results := make([]backend.Result, len(specs))
	begin := make([]func(bool) error, len(specs))
	for i, s := range specs {
		if ctx.Err() != nil {
			break
		}
		if _, results[i].Err = backend.Check(i, s); results[i].Err == nil {
			results[i].Pane, begin[i], results[i].Err = b.hold(ctx, s)
		}
	}
	cancelled := ctx.Err()
	for i := range results {
		if begin[i] != nil {
			if err := begin[i](cancelled == nil); err != nil {
				results[i] = backend.Result{Err: fault.New(fault.SpawnFailed, "start %s: %w", specs[i].Argv[0], err)}
			}
		}
		if cancelled != nil {
			results[i] = backend.Result{Err: cancelled}
		}
	}
	return results
}

// hold starts a holder, and returns what lets its program begin, or go before it did.
func (b *ptys) hold(ctx context.Context, s backend.Spec) (backend.Pane, func(bool) error, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	id := backend.ID("p" + hex.EncodeToString(random[:]))
	self, err := os.Executable()
	if err != nil {
		return backend.Pane{}, nil, err
	}
	cmd := exec.Command(self, "hold", b.socket(id))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // so that it stays
	in, err := cmd.StdinPipe()
	if err != nil {
		return backend.Pane{}, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = json.NewEncoder(in).Encode(s)
	}
	said := bufio.NewReader(out)
	if err == nil {
		err = heard(said) // it listens
	}
	begin := func(do bool) error {
		defer func() { go cmd.Wait() }()
		if !do {
			_ = in.Close()
			return heard(said)
		}
		_, err := in.Write([]byte("\n"))
		return errors.Join(err, heard(said), in.Close())
	}
	if err != nil {
		_ = begin(false)
		return backend.Pane{}, nil, fault.New(fault.SpawnFailed, "hold a pane: %w", err)
	}
	p, err := b.pane(ctx, id, question{})
	if err != nil {
		_ = begin(false)
		return backend.Pane{}, nil, err
	}
	return p, begin, nil
}

// List returns the panes whose holders answer.
func (b *ptys) List(ctx context.Context) ([]backend.Pane, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []backend.Pane
	for _, e := range entries {
		p, err := b.pane(ctx, backend.ID(strings.TrimSuffix(e.Name(), ".sock")), question{})
		switch {
		case err == nil:
			list = append(list, p)
		case !errors.Is(err, backend.ErrGone) && !errors.Is(err, fault.InvalidArgument):
			return nil, err
		}
	}
	return list, nil
}

// Label has nowhere to show anything.
func (b *ptys) Label(ctx context.Context, id backend.ID, mark backend.Mark, _ backend.Label) error {
	p, err := b.pane(ctx, id, question{})
	if err == nil && p.Mark != mark {
		err = fault.New(fault.Unproven, "pane %s is not labelled: it carries another mark", id)
	}
	return err
}

// Arrange has nothing to move.
func (b *ptys) Arrange(_ context.Context, layouts ...backend.Layout) error {
	return backend.EachLayout(layouts, b.arrangeOne)
}

func (b *ptys) arrangeOne(l backend.Layout) error {
	if l.Window != window {
		return fault.New(fault.InvalidArgument, "there is no window %.40q", l.Window)
	}
	return nil
}

// Focus has nowhere to take anybody.
func (b *ptys) Focus(ctx context.Context, id backend.ID) error {
	if _, err := b.pane(ctx, id, question{}); err != nil {
		return err
	}
	return fault.New(fault.Unsupported, "nobody can see a pane of this backend").WithHint("leadlight attach shows what runs in it")
}

// Close has the holder end its program, if the pane carries the mark.
func (b *ptys) Close(ctx context.Context, set ...backend.Marked) []error {
	return backend.Each(set, func(id backend.ID, mark backend.Mark) error { return b.closeOne(ctx, id, mark) })
}

func (b *ptys) closeOne(ctx context.Context, id backend.ID, mark backend.Mark) error {
	_, err := b.pane(ctx, id, question{Close: &mark})
	if errors.Is(err, backend.ErrGone) {
		return nil
	}
	return err
}
