package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// gate holds a program back until its pane is on record: a process that nobody knows of
// never comes about, not even if whoever opens it is killed. The shell becomes the
// program, so that the identity which was noted stays true.
const gate = `read -r LEADLIGHT_GATE && exec "$@" </dev/null`

// held is a process behind its gate.
type held struct {
	record record
	open   io.WriteCloser
}

// Open starts the programs, all of them at the same moment: when ctx has ended by then,
// none.
func (b *Backend) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	results := make([]backend.Result, len(specs))
	waiting := make([]*held, len(specs))
	for i, s := range specs {
		if ctx.Err() != nil {
			break
		}
		err := check(i, s)
		if err == nil {
			waiting[i], err = b.hold(s)
		}
		if err != nil {
			results[i].Err = err
			continue
		}
		results[i].Pane = b.pane(waiting[i].record)
	}
	if err := ctx.Err(); err != nil {
		b.release(waiting)
		return backend.NoneOpened(len(specs), fault.New(fault.Of(err).Code, "open headless panes: %w", err))
	}
	for i, h := range waiting {
		if h == nil {
			continue
		}
		_, err := io.WriteString(h.open, "\n")
		if err = errors.Join(err, h.open.Close()); err != nil {
			b.forget(h.record.ID)
			results[i] = backend.Result{Err: fault.New(fault.SpawnFailed, "start %s: %w", specs[i].Argv[0], err)}
		}
	}
	return results
}

// release ends those that wait: none has begun.
func (b *Backend) release(waiting []*held) {
	for _, h := range waiting {
		if h != nil {
			_ = h.open.Close()
			b.forget(h.record.ID)
		}
	}
}

// check adds to what every terminal refuses a host's id that could not be handed over
// in the environment.
func check(i int, s backend.Spec) error {
	if strings.ContainsRune(s.Mark.Host, 0) {
		return fault.New(fault.InvalidArgument, "the mark of a pane holds a NUL byte")
	}
	_, err := backend.Check(i, s)
	return err
}

// hold starts a pane's process behind its gate and puts the pane on record.
func (b *Backend) hold(s backend.Spec) (*held, error) {
	id := idOf(s.Mark)
	switch _, err := b.find(id); {
	case err == nil:
		return nil, fault.New(fault.DuplicateName, "pane %s is there already", id)
	case !isGone(err):
		return nil, err
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", gate, "sh"}, s.Argv...)...)
	cmd.Dir, cmd.Env = s.Dir, b.environ(s, id)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	failed := func(err error) error {
		return fault.New(fault.SpawnFailed, "start %s: %w", s.Argv[0], err)
	}
	open, err := cmd.StdinPipe()
	if err != nil {
		return nil, failed(err)
	}
	if err := cmd.Start(); err != nil {
		return nil, failed(errors.Join(err, open.Close()))
	}
	go func() { _ = cmd.Wait() }() // so that it leaves no zombie while we live; how it ends is not ours to know
	r := record{ID: id, Mark: s.Mark}
	if r.Process, err = signals.Identify(cmd.Process.Pid); err == nil {
		err = b.write(r)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Argv[0], errors.Join(err, open.Close()))
	}
	return &held{r, open}, nil
}

func (b *Backend) environ(s backend.Spec, id backend.ID) []string {
	env := environ.Set(environ.Without(b.opt.Environ, environ.OfTheLead()...),
		"PWD="+s.Dir, "TERM=xterm-256color", Variable+"="+string(id))
	if s.Mark.Host != "" {
		env = environ.Set(env, signals.Mark+"="+s.Mark.Host)
	}
	return env
}
