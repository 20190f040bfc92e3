package iterm2

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// It2Name is the name of the program with which It2 works.
const It2Name = "it2"

// It2Options says how iTerm2 is reached by its command line.
type It2Options struct {
	Program string // it2, absolute
	// Dir is a folder, absolute, for what is known of panes, and for commands that have not
	// begun; made when needed and removed when empty. It and the folder above must be ours
	// alone: whoever can write there could have us close sessions.
	Dir     string
	Environ []string            // of it2; nil: that of this process
	Getenv  func(string) string // reads ITERM_SESSION_ID; nil is os.Getenv
	Timeout time.Duration       // how long it2 may take to do one thing; 0 is 5 s
	Begin   time.Duration       // how long a new shell may take to do what was typed; 0 is 8 s
	Log     *slog.Logger        // gets a debug line for every run of it2; nil is silence
}

// It2 holds panes in iTerm2 by the command line it2, for where iTerm2's own interface does
// not let us in and it2 is let in. It is worth less than Backend: Weaknesses says how. The
// forms of it2 that are used are those that Claude Code uses, and those in which it2 lists
// sessions, makes tabs and tells the focus.
//
// it2 starts no program: the command is typed into the shell of a new session. What is
// typed is short, of plain letters, and names a file with the command; that the file is
// gone proves that the shell has read it. A shell that has not done so in time may have
// thrown the line away: its session is closed and one more is tried. Nothing is typed twice
// into one session, because the second line might reach the program.
//
// The mark of a pane is a note in a folder of ours. iTerm2 never gives the id of a session
// to another one, so what is noted is ours, and what is not noted is left alone.
type It2 struct {
	opt    It2Options
	begins commands

	opening sync.Mutex // so that the focus is given back to where it really was
}

var (
	_ backend.Backend = (*It2)(nil)
	_ backend.Lister  = (*It2)(nil)
)

// NewIt2 returns an It2. It touches nothing.
func NewIt2(o It2Options) (*It2, error) {
	if !filepath.IsAbs(o.Program) || !filepath.IsAbs(o.Dir) {
		return nil, fault.New(fault.InvalidArgument, "it2 %q or the folder %q is not absolute", o.Program, o.Dir)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Begin == 0 {
		o.Begin = 8 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &It2{opt: o, begins: commands(filepath.Join(o.Dir, "begin"))}, nil
}

// IsIt2 tells whether what a pane was opened with is a folder by the name of it2, and not
// the socket of iTerm2.
func IsIt2(terminal string) bool { return filepath.Base(terminal) == It2Name }

// Weaknesses are what It2 has of the contract only in part, for people.
func (b *It2) Weaknesses() []string {
	return []string{
		"a pane's command is typed into the shell of a new session",
		"a new pane has the keyboard for a moment",
		"a pane is known by a note in the run folder; without it, it is left alone",
		"a program in a pane may change its title; there is neither colour nor badge",
		"panes get no sizes, and no window of their own",
		"closing a pane may ask you",
		"an iTerm2 that has ended is an error, not an empty list",
	}
}

// Program returns the path of it2.
func (b *It2) Program() string { return b.opt.Program }

// Folder returns the folder of the notes: whoever has that, and it2, reaches the same panes.
func (b *It2) Folder() string { return b.opt.Dir }

// Probe finds out whether it2 works; the error says what is in the way.
func (b *It2) Probe(ctx context.Context) (Report, error) {
	all, err := b.ListAll(ctx)
	return report(all, b.opt.Getenv), err
}

// Self returns the pane of this process: the session in ITERM_SESSION_ID, if iTerm2 has it.
func (b *It2) Self(ctx context.Context) (backend.Pane, []backend.Pane, bool, error) {
	return self(ctx, b.opt.Getenv, b.ListAll)
}

// List returns our panes.
func (b *It2) List(ctx context.Context) ([]backend.Pane, error) {
	all, err := b.ListAll(ctx)
	return slices.DeleteFunc(all, func(p backend.Pane) bool { return p.Mark == (backend.Mark{}) }), err
}

// word is an id, which it2 may tell as a text or as a number.
type word string

func (w *word) UnmarshalJSON(data []byte) error {
	*w = word(strings.Trim(string(data), `"`))
	return nil
}

// ListAll returns every pane, but those of tmux. A session that a person has buried is not
// among them.
func (b *It2) ListAll(ctx context.Context) ([]backend.Pane, error) {
	noted := b.notes() // before the list: a pane that is noted later might not be in it
	out, err := b.run(ctx, "session", "list", "--json")
	if err != nil {
		return nil, err
	}
	var sessions []struct {
		ID     backend.ID `json:"id"`
		Rows   int        `json:"rows"`
		Cols   int        `json:"cols"`
		Tmux   bool       `json:"is_tmux"`
		Window word       `json:"window_id"`
		Tab    word       `json:"tab_id"`
	}
	if err := json.Unmarshal(out, &sessions); err != nil || sessions == nil {
		return nil, fault.New(fault.BackendUnavailable, "%s session list --json gave no list but %q", b.opt.Program, clean(out)).
			WithHint("this it2 may be another program; leadlight --backend tmux works in every terminal")
	}
	var all []backend.Pane
	for _, s := range sessions {
		if s.Tmux || checkID(s.ID) != nil {
			continue
		}
		all = append(all, backend.Pane{
			ID: s.ID, Window: string(s.Tab), Session: string(s.Window), Server: b.opt.Dir, Width: s.Cols, Height: s.Rows, Mark: noted[s.ID],
		})
	}
	b.forgetEnded(noted, all)
	return all, nil
}

// find returns a pane that is there: backend.ErrGone.
func (b *It2) find(ctx context.Context, id backend.ID) (backend.Pane, error) {
	if err := checkID(id); err != nil {
		return backend.Pane{}, err
	}
	all, err := b.ListAll(ctx)
	if err != nil {
		return backend.Pane{}, err
	}
	p, ok := find(all, id)
	if !ok {
		return p, gone(id)
	}
	return p, nil
}

// Label shows name and state in the session's name.
func (b *It2) Label(ctx context.Context, id backend.ID, mark backend.Mark, l backend.Label) error {
	p, err := b.find(ctx, id)
	switch {
	case err != nil:
		return err
	case p.Mark != mark || mark == backend.Mark{}:
		return fault.New(fault.Unproven, "session %s is not labelled: it carries another mark", id)
	}
	_, err = b.run(ctx, "session", "set-name", "-s", string(id), "--", titled(l))
	return err
}

// Arrange checks what it is given and moves nothing.
func (b *It2) Arrange(ctx context.Context, l backend.Layout) error {
	if err := backend.CheckLayout(l); err != nil {
		return err
	}
	all, err := b.ListAll(ctx)
	if err == nil && !slices.ContainsFunc(all, func(p backend.Pane) bool { return p.Window == l.Window }) {
		err = fault.New(fault.BackendUnavailable, "tab %.40q: %w", l.Window, backend.ErrGone)
	}
	return err
}

// Focus makes the session the active one of its window and brings that to the front.
func (b *It2) Focus(ctx context.Context, id backend.ID) error {
	if _, err := b.find(ctx, id); err != nil {
		return err
	}
	_, err := b.run(ctx, "session", "focus", string(id))
	return err
}

// Close closes a session that is noted with this mark, and waits until it is gone.
func (b *It2) Close(ctx context.Context, id backend.ID, mark backend.Mark) error {
	p, err := b.find(ctx, id)
	switch {
	case isGone(err):
		if b.notes()[id] == mark {
			b.forget(id)
		}
		b.drop(b.begins.of(mark))
		return nil
	case err != nil:
		return err
	case mark == backend.Mark{} || p.Mark != mark && !(p.Mark == backend.Mark{} && b.hasLeft(ctx, id, mark)):
		return fault.New(fault.Unproven, "session %s is left alone: it carries another mark, or none that is known here", id)
	}
	if err := b.shut(ctx, id); err != nil {
		return err
	}
	b.drop(b.begins.of(mark))
	return nil
}

// shut closes a session of ours and waits until it is gone.
func (b *It2) shut(ctx context.Context, id backend.ID) error {
	_, err := b.run(ctx, "session", "close", "-f", "-s", string(id))
	if err != nil && !isGone(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.opt.Timeout)
	defer cancel()
	for {
		if _, err := b.find(ctx, id); isGone(err) {
			b.forget(id)
			return nil
		} else if ctx.Err() != nil {
			return fault.New(fault.Unproven, "session %s was closed, but is still there", id).WithHint("a dialog of iTerm2 may be waiting for you")
		} else if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Leave is called from within the pane id, whose program is about to end. The note goes; a
// profile may keep the session all the same, so what is needed to close it stays on it.
func (b *It2) Leave(ctx context.Context, id backend.ID) error {
	if err := checkID(id); err != nil {
		return err
	}
	mark, ok := b.notes()[id]
	if !ok {
		return nil
	}
	_, err := b.run(ctx, "session", "set-var", "-s", string(id), markVariable, mark.Hash())
	b.forget(id)
	return err
}

// hasLeft tells whether a pane with this mark has left a session.
func (b *It2) hasLeft(ctx context.Context, id backend.ID, mark backend.Mark) bool {
	out, err := b.run(ctx, "session", "get-var", "-s", string(id), markVariable)
	return err == nil && strings.TrimSpace(string(out)) == mark.Hash()
}
