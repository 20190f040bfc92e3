package iterm2

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// notFound is the exit status of it2 for a session, a tab or a window that is not there.
const notFound = 3

// run runs it2 with these words and returns what it says: backend.ErrGone.
func (b *It2) run(ctx context.Context, words ...string) ([]byte, error) {
	what := b.opt.Program + " " + words[0] + " " + words[1]
	tctx, cancel := context.WithTimeout(ctx, b.opt.Timeout)
	defer cancel()
	var out, errs bytes.Buffer
	c := exec.CommandContext(tctx, b.opt.Program, words...)
	c.Env, c.Stdout, c.Stderr, c.WaitDelay = b.opt.Environ, &out, &errs, time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // with all it has started
	began := time.Now()
	err := c.Run()
	b.opt.Log.Debug("it2", "words", words, "took", time.Since(began), "error", err)
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fault.New(fault.Of(ctx.Err()).Code, "%s: %w", what, ctx.Err())
	case tctx.Err() != nil:
		return nil, fault.New(fault.BackendUnavailable, "%s did not end within %s", what, b.opt.Timeout).
			WithHint("a dialog of iTerm2 may be waiting for you; leadlight --backend tmux works in every terminal")
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == notFound {
		return nil, fault.New(fault.BackendUnavailable, "%s%s: %w", what, said(errs.Bytes()), backend.ErrGone)
	}
	return nil, fault.New(fault.BackendUnavailable, "%s failed: %w%s", what, err, said(errs.Bytes(), out.Bytes())).WithHint("%s", automation)
}

// after is the id that follows a phrase of it2's.
func after(out []byte, phrase string) (string, bool) {
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), phrase); ok {
			return strings.TrimSpace(id), true
		}
	}
	return "", false
}

// noteAge is how long a pane that is not listed stays noted: it may be a buried session, or
// one of an iTerm2 that has ended.
const noteAge = 24 * time.Hour

const noteSuffix = ".json"

func (b *It2) noteOf(id backend.ID) string { return filepath.Join(b.opt.Dir, string(id)+noteSuffix) }

// notes are the marks of panes that were opened and not closed. A note that cannot be read
// is none: its pane is left alone.
func (b *It2) notes() map[backend.ID]backend.Mark {
	out := map[backend.ID]backend.Mark{}
	entries, _ := os.ReadDir(b.opt.Dir) // absent: no notes
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), noteSuffix)
		id := backend.ID(name)
		if !ok || checkID(id) != nil {
			continue
		}
		var m backend.Mark
		if data, err := os.ReadFile(b.noteOf(id)); err == nil && json.Unmarshal(data, &m) == nil {
			out[id] = m
		}
	}
	return out
}

// keep keeps a note. Whoever closes the last pane removes the empty folder, maybe
// between its making and its use: then it is made again.
func (b *It2) keep(id backend.ID, m backend.Mark) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	err = error(syscall.ENOENT)
	for try := 0; try < 20 && errors.Is(err, syscall.ENOENT); try++ {
		if err = os.MkdirAll(b.opt.Dir, 0o700); err == nil {
			err = os.WriteFile(b.noteOf(id)+"~", data, 0o600)
		}
		if err == nil {
			err = os.Rename(b.noteOf(id)+"~", b.noteOf(id)) // whole, for whoever reads
		}
	}
	if err != nil {
		return fault.New(fault.Of(err).Code, "note a pane: %w", err)
	}
	return nil
}

func (b *It2) forget(id backend.ID) {
	_ = os.Remove(b.noteOf(id))
	_ = os.Remove(b.opt.Dir) // succeeds only when it is empty
}

// drop removes the file of a command that has begun, or did not.
func (b *It2) drop(file string) {
	b.begins.forget(file)
	_ = os.Remove(b.opt.Dir) // succeeds only when it is empty
}

// forgetEnded removes old notes of panes that are not listed.
func (b *It2) forgetEnded(noted map[backend.ID]backend.Mark, all []backend.Pane) {
	for id := range noted {
		if _, there := find(all, id); there {
			continue
		}
		if info, err := os.Stat(b.noteOf(id)); err == nil && time.Since(info.ModTime()) > noteAge {
			b.forget(id)
		}
	}
}
