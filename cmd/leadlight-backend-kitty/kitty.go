// Command leadlight-backend-kitty holds panes in kitty, for leadlight --backend kitty. It
// stands beside leadlight or on PATH and is asked by the protocol of backends outside
// (docs/backend-protocol.md). kitty itself is spoken to over its socket in the language of its
// remote control (https://sw.kovidgoyal.net/kitty/rc_protocol). A pane is a kitty window,
// its window a tab, its session an OS window.
//
// kitty has to have been started with allow_remote_control and listen_on; KITTY_LISTEN_ON
// then names the socket to what runs inside. One connection serves one command and is
// closed at once: seen in 0.26, a client that keeps its connection can keep all others
// waiting. kitty tells neither exits nor changes, so the host inside the pane does.
//
// The mark lies in the environment with which kitty starts the program: kitty lists that
// of the window's first process, our host, where no agent can change it. It shows only
// when that process has begun, and Open waits for it. A hash of the mark lies beside it, so
// that one command can ask for a window by id and mark together. What kitty lists holds the
// environments of all its windows: it is never logged.
//
// Ids of windows are not used twice by one kitty. Titles that are set by remote control are
// not overwritten by the program inside. What kitty does not have is left out: colours
// stand on no border, a split goes beside the active window of its tab (the arrangement
// makes that good), and a dead window is gone.
//
// A kitty that hangs opens, when it comes to itself, what it was asked for, although Open
// has failed long since. Such a window is closed by the next question that sees its mark,
// and its host, which nobody waits for any more, ends by itself.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// The variables by which kitty tells a program where it is.
const (
	ListenVariable = "KITTY_LISTEN_ON"
	WindowVariable = "KITTY_WINDOW_ID"
)

// The variables of a pane's first process that make it ours.
const (
	markVariable = "LEADLIGHT_KITTY_MARK" // the mark, as JSON
	hashVariable = "LEADLIGHT_KITTY_HASH" // its hash, of letters that mean nothing in an expression
)

const (
	callLimit   = 3 * time.Second // below what leadlight gives a backend, so that it is told what was slow
	launchLimit = 10 * time.Second
	closeLimit  = 3 * time.Second // for a window that was closed to be gone
)

// Options is what a Backend is made of.
type Options struct {
	Socket string // an absolute path, or @name on Linux
	Getenv func(string) string
	Limit  time.Duration // of one command; 0: 3 s
}

// Backend holds panes in one kitty. Its methods are safe for concurrent use.
type Backend struct {
	opt  Options
	turn chan struct{} // kitty does one thing at a time: the limit of a command begins with its turn
	late sync.Map      // hashes of marks whose windows were asked for and did not come in time: bool
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Capturer = (*Backend)(nil)
	_ backend.Lister   = (*Backend)(nil)
)

// New returns a Backend. It touches nothing.
func New(o Options) (*Backend, error) {
	if o.Socket == "" || o.Socket[0] != '/' && o.Socket[0] != '@' {
		return nil, fault.New(fault.InvalidArgument, "kitty's socket %q is not an absolute path", o.Socket)
	}
	o.Limit = cmp.Or(o.Limit, callLimit)
	return &Backend{opt: o, turn: make(chan struct{}, 1)}, nil
}

// Socket reads KITTY_LISTEN_ON: fault.BackendUnavailable if there is nothing to talk to.
func Socket(getenv func(string) string) (string, error) {
	address := getenv(ListenVariable)
	path, ok := strings.CutPrefix(address, "unix:")
	if ok && path != "" {
		return path, nil
	}
	what := "kitty does not say how to control it: " + ListenVariable + " is empty"
	if address != "" {
		what = fmt.Sprintf("kitty listens on %.80q, which is no socket of this machine", address)
	}
	return "", fault.New(fault.BackendUnavailable, "%s", what).
		WithHint("put \"allow_remote_control socket-only\" and \"listen_on unix:/tmp/kitty-{kitty_pid}\" into kitty.conf, end kitty and start it again")
}

// hashOf is a mark as the window's environment holds it.
func hashOf(m backend.Mark) string { return m.Hash()[:32] }

// exactly is the expression for one window with one mark.
func exactly(id backend.ID, m backend.Mark) string {
	return "id:" + string(id) + " and env:" + hashVariable + "=^" + hashOf(m) + "$"
}

// checkID refuses what no window of kitty can have as its id.
func checkID(id backend.ID) error {
	if n, err := strconv.ParseInt(string(id), 10, 63); err != nil || n < 1 || strconv.FormatInt(n, 10) != string(id) {
		return fault.New(fault.InvalidArgument, "%.40q is not the id of a window of kitty", string(id))
	}
	return nil
}

func gone(id backend.ID) error {
	return fault.New(fault.BackendUnavailable, "window %s of kitty: %w", id, backend.ErrGone)
}

// Self returns the window of kitty that this process runs in.
func (b *Backend) Self(ctx context.Context) (backend.Here, error) {
	id := backend.ID(b.opt.Getenv(WindowVariable))
	if inside, err := Socket(b.opt.Getenv); err != nil || inside != b.opt.Socket || checkID(id) != nil {
		return backend.Here{}, nil
	}
	all, err := b.ListAll(ctx)
	if notRunning(err) {
		err = nil // nobody runs in a kitty that has ended
	}
	return backend.Around(all, id), err
}

// List returns the windows that carry a mark. A kitty that is proved not to run has none.
func (b *Backend) List(ctx context.Context) ([]backend.Pane, error) {
	all, err := b.ListAll(ctx)
	if notRunning(err) {
		return nil, nil
	}
	return backend.Ours(all), err
}

// notRunning tells whether nobody listens on the socket.
func notRunning(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// find returns a window that is there: backend.ErrGone.
func (b *Backend) find(ctx context.Context, id backend.ID) (backend.Pane, error) {
	all, err := b.ListAll(ctx)
	if notRunning(err) {
		return backend.Pane{}, gone(id)
	}
	p, ok := backend.Find(all, id)
	if !ok && err == nil {
		err = gone(id)
	}
	return p, err
}

// why says why a window with that id and mark was not found: it is gone, or carries
// another mark.
func (b *Backend) why(ctx context.Context, id backend.ID, mark backend.Mark, err error) error {
	p, found := b.find(ctx, id)
	switch {
	case found != nil:
		return found
	case p.Mark != mark:
		return fault.New(fault.Unproven, "window %s of kitty is left alone: it carries another mark", id)
	}
	return err
}

// How often, and how far apart, a window that shows no mark is asked for. Its first process
// may just become another program, and shows no environment in that moment.
const (
	markTries = 5
	markPause = 50 * time.Millisecond
)

// callMarked gives a command for a window with this id and mark.
func (b *Backend) callMarked(ctx context.Context, command string, id backend.ID, mark backend.Mark, payload map[string]any) error {
	payload["match"] = exactly(id, mark)
	for try := 1; ; try++ {
		_, err := b.call(ctx, command, payload)
		if err == nil {
			return nil
		}
		err = b.why(ctx, id, mark, err)
		_, refused := errors.AsType[refusal](err) // it showed no mark to the command, and one after it
		if !refused && fault.CodeOf(err) != fault.Unproven || try == markTries {
			return err
		}
		select {
		case <-time.After(markPause):
		case <-ctx.Done():
			return err
		}
	}
}

// Label sets the window's title.
func (b *Backend) Label(ctx context.Context, id backend.ID, mark backend.Mark, l backend.Label) error {
	if err := checkID(id); err != nil {
		return err
	}
	return b.callMarked(ctx, "set-window-title", id, mark, map[string]any{"title": titleOf(l)})
}

// titleOf is a label on one line.
func titleOf(l backend.Label) string {
	text := l.Name
	if l.State != "" {
		text += " · " + l.State
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// Arrange gives a tab another layout. The size of the main pane is the layout's own
// affair.
func (b *Backend) Arrange(ctx context.Context, layouts ...backend.Layout) error {
	return backend.EachLayout(layouts, func(l backend.Layout) error { return b.arrangeOne(ctx, l) })
}

func (b *Backend) arrangeOne(ctx context.Context, l backend.Layout) error {
	if err := backend.CheckLayout(l); err != nil {
		return err
	}
	tab, ok := strings.CutPrefix(l.Window, "t")
	if err := checkID(backend.ID(tab)); !ok || err != nil {
		return fault.New(fault.InvalidArgument, "%.40q is not a tab of kitty", l.Window)
	}
	layout := map[backend.LayoutKind]string{backend.MainVertical: "tall", backend.Tiled: "grid", backend.Even: "vertical"}[l.Kind]
	if layout == "" {
		return nil
	}
	_, err := b.call(ctx, "goto-layout", map[string]any{"match": "id:" + tab, "layout": layout})
	if err == nil && l.Kind == backend.MainVertical && l.Main != "" {
		err = b.widen(ctx, l)
	}
	return err
}

// widen gives the first window of a tab in the layout tall its width. kitty takes a size
// only as so many cells more or fewer, of which it makes a share of the whole and back: so
// it is looked at what came of it, and mended.
func (b *Backend) widen(ctx context.Context, l backend.Layout) error {
	for range 3 {
		all, err := b.ListAll(ctx)
		if err != nil {
			return err
		}
		tab := slices.DeleteFunc(all, func(p backend.Pane) bool { return p.Window != l.Window })
		if len(tab) < 2 {
			return nil
		}
		more := mainWidth(l, tab[0].Width+tab[1].Width) - tab[0].Width
		if -2 < more && more < 2 {
			return nil
		}
		resize := map[string]any{"match": "id:" + string(tab[0].ID), "increment": more, "axis": "horizontal"}
		if _, err := b.call(ctx, "resize-window", resize); err != nil {
			return err
		}
	}
	return nil
}

// mainWidth is the width of the main pane, so that either side keeps a tenth.
func mainWidth(l backend.Layout, whole int) int {
	return min(max(l.MainCells(whole), whole/10), whole-whole/10)
}

// Focus makes the window the active one of its tab and OS window, and brings that to the
// front.
func (b *Backend) Focus(ctx context.Context, id backend.ID) error {
	_, err := b.callOn(ctx, "focus-window", id, map[string]any{})
	return err
}

// callOn gives a command for a window, ours or not: backend.ErrGone if it is not there.
func (b *Backend) callOn(ctx context.Context, command string, id backend.ID, payload map[string]any) (json.RawMessage, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	payload["match"] = "id:" + string(id)
	data, err := b.call(ctx, command, payload)
	if err != nil {
		if _, found := b.find(ctx, id); found != nil {
			return nil, found
		}
	}
	return data, err
}

// Close closes the window if it still carries the mark, and waits until it is gone.
func (b *Backend) Close(ctx context.Context, set ...backend.Marked) []error {
	return backend.Each(set, func(id backend.ID, mark backend.Mark) error { return b.closeOne(ctx, id, mark) })
}

func (b *Backend) closeOne(ctx context.Context, id backend.ID, mark backend.Mark) error {
	if err := checkID(id); err != nil {
		return err
	}
	if inside, err := Socket(b.opt.Getenv); err == nil && inside == b.opt.Socket && string(id) == b.opt.Getenv(WindowVariable) {
		return fault.New(fault.Unproven, "window %s of kitty is left alone: this program runs in it", id).WithHint("close it yourself, or ask again from another window")
	}
	return b.awaitGone(ctx, id, b.callMarked(ctx, "close-window", id, mark, map[string]any{}))
}

// awaitGone waits until a window that was closed, unless with an error, is gone.
func (b *Backend) awaitGone(ctx context.Context, id backend.ID, err error) error {
	limit := time.Now().Add(closeLimit)
	for ; err == nil; _, err = b.find(ctx, id) {
		if time.Now().After(limit) {
			return fault.New(fault.Unproven, "window %s of kitty was closed and is still there", id)
		}
		select {
		case <-ctx.Done():
			return fault.New(fault.Of(ctx.Err()).Code, "close window %s of kitty: %w", id, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	if errors.Is(err, backend.ErrGone) {
		return nil
	}
	return err
}

// Capture returns the text of the window's screen and what has scrolled out of it.
func (b *Backend) Capture(ctx context.Context, id backend.ID, lines int, ansi bool) (string, error) {
	data, err := b.callOn(ctx, "get-text", id, map[string]any{"extent": "all", "ansi": ansi})
	if err != nil {
		return "", err
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return "", fault.New(fault.BackendUnavailable, "kitty answered get-text with something else: %w", err)
	}
	return backend.LastLines(text, lines), nil
}

// server is the identity of the kitty behind the socket: a new one makes the socket anew.
func (b *Backend) server() string {
	if info, err := os.Stat(b.opt.Socket); err == nil {
		return b.opt.Socket + " " + strconv.FormatInt(info.ModTime().UnixNano(), 36)
	}
	return b.opt.Socket
}
