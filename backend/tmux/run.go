package tmux

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/signals"
)

// Limits of one command line. tmux sends it to the server in one message of at most
// 16384 bytes with its headers, and from 3.7 on of at most 1000 words.
const (
	maxBytes = 15 << 10
	maxWords = 960
)

// perCommand is added to the time limit for every command of a line: a pane to open
// costs a server that keeps login records some 20 ms, more on a busy machine.
const perCommand = 200 * time.Millisecond

var (
	errNoServer = errors.New("no tmux server is running")
	errMute     = errors.New("tmux is not answering")
)

// command is one tmux command, word by word, as tmux is to see it.
type command []string

func (c command) bytes() (n int) {
	for _, w := range c {
		n += len(w) + 2
	}
	return n
}

// line joins commands into the arguments of one tmux client.
func line(cmds []command) []string {
	var words []string
	for i, c := range cmds {
		if i > 0 {
			words = append(words, ";")
		}
		for _, w := range c {
			words = append(words, escape(w))
		}
	}
	return words
}

// escape protects a word that ends in ";", which tmux would take for the end of the
// command, wherever the word stands.
func escape(word string) string {
	if strings.HasSuffix(word, ";") {
		return word[:len(word)-1] + `\;`
	}
	return word
}

// chunk cuts groups of commands into lines that tmux takes, keeping groups together
// and in order.
func chunk(groups [][]command) [][][]command {
	var lines [][][]command
	words, size := 0, 0
	for _, g := range groups {
		w, s := 0, 0
		for _, c := range g {
			w, s = w+len(c)+1, s+c.bytes()
		}
		if len(lines) == 0 || words+w > maxWords || size+s > maxBytes {
			lines, words, size = append(lines, nil), 0, 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], g)
		words, size = words+w, size+s
	}
	return lines
}

// runAll executes groups of commands in as few lines as tmux takes, until one fails, and
// returns what the last line printed.
func (b *Backend) runAll(ctx context.Context, groups [][]command) (out string, err error) {
	for _, l := range chunk(groups) {
		if out, err = b.run(ctx, slices.Concat(l...)...); err != nil {
			break
		}
	}
	return out, err
}

// run executes the commands as one line and returns what they printed, also when one
// of them failed; those after the failed one were not executed.
func (b *Backend) run(ctx context.Context, cmds ...command) (string, error) {
	limit := b.opt.Timeout + time.Duration(len(cmds)-1)*perCommand
	tctx, began, cancel := b.within(ctx, limit)
	defer cancel()
	args := []string{"-u", "-S", b.opt.Socket}
	if b.opt.Own {
		args = append(args, "-f", os.DevNull)
	}
	c := exec.CommandContext(tctx, b.opt.Program, append(args, line(cmds)...)...)
	c.Env = environ.Server(os.Environ()) // of it our server is made, which serves others when we are gone
	// A ^C at the lead's terminal goes to its whole process group: not to this.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &out, &errs, oneshot.Whole // a pane that is not listed is gone
	start := time.Now()
	err := oneshot.RunTold(c, began)
	b.opt.Log.Debug("tmux", "commands", len(cmds), "first", cmds[0][0], "took", time.Since(start), "error", err)
	if text := tail.LastLine(errs.String()); strings.HasPrefix(text, "error creating ") { // of its socket; up to 3.5 it calls that a success
		return "", fault.New(fault.BackendUnavailable, "tmux %s: %s", cmds[0][0], text).
			WithHint("name a socket in a folder of yours with --tmux-socket")
	}
	if err == nil {
		return out.String(), nil
	}
	if cause := context.Cause(tctx); cause != nil {
		err = cause
	}
	return out.String(), b.explain(ctx, verbs(cmds), err, errs.String(), limit)
}

// within bounds a question to tmux. Its answer depends on the client, whose pid is told when
// it has begun, and on the server.
func (b *Backend) within(ctx context.Context, limit time.Duration) (_ context.Context, began func(pid int), cancel context.CancelFunc) {
	var client atomic.Int64
	ctx, cancel = signals.Within(ctx, limit, errMute, func() int { return int(client.Load()) }, unixsock.ListenerOf(b.opt.Socket))
	return ctx, func(pid int) { client.Store(int64(pid)) }, cancel
}

// refusals are the reasons of tmux that mean something to a caller. tmux does not
// translate its messages; a text that is not here is a TmuxError as it stands.
var refusals = []struct {
	text string
	code fault.Code
	err  error
}{
	{"no space for new pane", fault.NoSpace, nil},
	{"no space for a new pane", fault.NoSpace, nil},                  // 3.8
	{"size or position no space for a new pane", fault.NoSpace, nil}, // 3.7
	{"can't find ", fault.TmuxError, backend.ErrGone},
	{"no such pane", fault.TmuxError, backend.ErrGone},
	{"no such window", fault.TmuxError, backend.ErrGone},
	{"no such session", fault.TmuxError, backend.ErrGone},
	{"duplicate session", fault.TmuxError, errTaken},
}

// explain turns a failed run into an error that says what happened.
func (b *Backend) explain(ctx context.Context, verb string, err error, stderr string, limit time.Duration) error {
	if cause := ctx.Err(); cause != nil {
		return fault.New(fault.Of(cause).Code, "tmux %s: %w", verb, cause)
	}
	if errors.Is(err, errMute) {
		return fault.New(fault.BackendUnavailable, "%w: %s took more than %v on %s", errMute, verb, limit, b.opt.Socket).
			WithHint("if the server is stopped, send it SIGCONT; its panes were left as they are")
	}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		return fault.New(fault.BackendUnavailable, "run %s: %w", b.opt.Program, err).
			WithHint("%s", cmp.Or(fault.Of(err).Hint, "install tmux "+floor.String()+" or newer"))
	}
	text := tail.LastLine(stderr) // where tmux itself speaks: a loader or a shell around it may have said something before
	for _, r := range refusals {
		if strings.HasPrefix(text, r.text) {
			if r.err != nil {
				return fault.New(r.code, "tmux %s: %s: %w", verb, text, r.err)
			}
			return fault.New(r.code, "tmux %s: %s", verb, text)
		}
	}
	if dead := b.dead(); dead != nil {
		return dead
	}
	if text != "" {
		text += ": "
	}
	return fault.New(fault.TmuxError, "tmux %s: %s%v", verb, text, err)
}

// dead says why no server answers on the socket: nil if one may.
func (b *Backend) dead() error {
	switch dead := b.dial(); {
	case errors.Is(dead, os.ErrPermission):
		return fault.New(fault.PermissionDenied, "tmux socket %s: %w", b.opt.Socket, dead)
	case errors.Is(dead, os.ErrNotExist), errors.Is(dead, syscall.ECONNREFUSED):
		return fault.New(fault.BackendUnavailable, "%w on %s", errNoServer, b.opt.Socket)
	}
	return nil
}

// verbs names the commands of a line, each once: which of them failed is not told.
func verbs(cmds []command) string {
	var names []string
	for _, c := range cmds {
		if !slices.Contains(names, c[0]) {
			names = append(names, c[0])
		}
	}
	return strings.Join(names, ", ")
}

// dial asks the system whether anybody listens on the socket, so that "the server
// does not run" is a fact and not a reading of tmux's words.
func (b *Backend) dial() error {
	c, err := net.DialTimeout("unix", b.opt.Socket, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}
