// Package dial is the way to the daemon of a base directory: where its things are, and how it
// is reached or started. It links nothing of what the daemon itself needs.
package dial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/internal/unixsock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// Paths says where a daemon's things are.
type Paths struct {
	Base   string // the base directory
	Socket string // RUN/<key>/daemon.sock
	State  string // see panes.StateDir; without a home, a folder beside the sockets
	Key    string // the base directory's short name
}

// PathsOf returns the paths for a base directory.
func PathsOf(base string, getenv func(string) string) Paths {
	key := panes.BaseKey(base)
	run := panes.RuntimeDir(getenv)
	return Paths{Base: base, Key: key, State: cmp.Or(panes.StateDir(getenv), filepath.Join(run, "state")), Socket: filepath.Join(run, key, "daemon.sock")}
}

// Database is the SQLite file.
func (p Paths) Database() string { return filepath.Join(p.State, p.Key+".db") }

// Log is where a daemon that was started on demand writes.
func (p Paths) Log() string { return filepath.Join(p.State, p.Key+".log") }

// Records is the folder where processes leave the records of runs that they have
// carried out themselves, until a daemon takes them in.
func (p Paths) Records() string { return filepath.Join(p.State, p.Key+".runs") }

// Bounds of getting a daemon up.
const (
	startLimit  = time.Minute     // what ends before is seen at once
	answerLimit = 5 * time.Second // for a daemon that listens to say hello
	maxLog      = 1 << 20         // bytes; a longer log begins anew
)

// ErrNone says that no daemon runs.
var ErrNone = errors.New("no daemon runs")

// Connect reaches the daemon that runs, ErrNone if there is none.
func Connect(ctx context.Context, p Paths, version string) (*rpc.Client, error) {
	listener := unixsock.ListenerOf(p.Socket)
	ctx, cancel := signals.Within(ctx, answerLimit, context.DeadlineExceeded, listener)
	defer cancel()
	c, err := rpc.Dial(ctx, p.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return nil, ErrNone
	case err != nil:
		return nil, err
	}
	if _, err := c.Hello(ctx, version); err != nil {
		c.Close()
		if ctx.Err() != nil {
			hint := "see which process listens there; it may be stopped or hang"
			if pid := listener(); pid > 0 {
				hint = fmt.Sprintf("look at process %d; it may be stopped or hang", pid)
			}
			return nil, fault.New(fault.Timeout, "the daemon on %s does not answer", p.Socket).WithHint("%s", hint)
		}
		return nil, ErrNone // it ended just now
	}
	return c, nil
}

// Start reaches the daemon, and starts one if there is none: argv in a session of its own,
// with the environment environ. started tells which. Two that start one at a time get the
// same.
func Start(ctx context.Context, p Paths, version string, argv, environ []string) (c *rpc.Client, started bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fault.New(fault.Timeout, "the daemon was not up after %s", startLimit).WithHint("see %s", p.Log()))
	defer cancel()
	if c, err = Connect(ctx, p, version); !errors.Is(err, ErrNone) {
		return c, false, err
	}
	pid, ended, tail, err := launch(p, argv, environ)
	if err != nil {
		return nil, false, err
	}
	tick := time.Tick(10 * time.Millisecond)
	var verdict error
	for tries, next := 0, again; ; {
		if c, err = Connect(ctx, p, version); err != nil && ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		if !errors.Is(err, ErrNone) {
			return c, err == nil && unixsock.ListenerOf(p.Socket)() == pid, err // another one may have been faster
		}
		select {
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		case err := <-ended:
			verdict, ended = failure(p.State, err, tail()), nil
		case <-tick:
			tries++
			switch lost := errors.Is(verdict, fault.DuplicateName); {
			case ended != nil:
			case lost && tries >= next:
				// The winner is about to listen, or was on its way out.
				next += next + again
				if pid, ended, tail, err = launch(p, argv, environ); err != nil {
					return nil, false, err
				}
			case !lost && tries > 200:
				return nil, false, verdict
			}
		}
	}
}

// again is after how many looks another daemon is started, if the first one has lost to one that
// does not listen; later ones come ever more rarely.
const again = 30

// launch starts the process. The channel tells its end, and last what it said.
func launch(p Paths, argv, environ []string) (pid int, ended <-chan error, last func() string, err error) {
	state, err := files.Open(p.State)
	if err != nil {
		return 0, nil, nil, noState("make the state folder", err)
	}
	defer state.Close()
	log, err := state.OpenFile(filepath.Base(p.Log()), files.AppendFlags)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("open the daemon's log: %w", err)
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil && info.Size() > maxLog {
		_ = log.Truncate(0) // a long log is no reason to fail
	}
	begin, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("open the daemon's log: %w", err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = Environ(environ), "/", log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, nil, nil, fmt.Errorf("start the daemon: %w", err)
	}
	verdict := make(chan error, 1)
	go func() { verdict <- cmd.Wait() }()
	return cmd.Process.Pid, verdict, func() string { return lastLine(p.Log(), begin) }, nil
}

// Said is the error that a program has told as JSON, nil if the line is none.
func Said(line string) *fault.Error {
	var said struct {
		Error fault.Error `json:"error"`
	}
	if json.Unmarshal([]byte(line), &said) != nil || said.Error.Code == "" {
		return nil
	}
	return &said.Error
}

// failure is why a daemon did not come up: what it has said last, as an error with a code,
// or as text; or that it could say nothing, since there is no room in the state folder.
func failure(state string, ended error, last string) error {
	if e := Said(last); e != nil {
		e.Message, e.Cause = "the daemon did not come up: "+e.Message, ErrNone
		return e
	}
	e := fault.New(fault.Failed, "the daemon did not come up").WithHint("leadlight daemon run shows more")
	var err error
	if last == "" { // else it had room to say why
		err = files.Writable(state)
	}
	if err != nil {
		e = fault.Of(noState(e.Message, err))
	} else {
		if ended != nil {
			e.Message += ": " + ended.Error()
		}
		if last != "" {
			e.Message += ": " + last
		}
	}
	e.Cause = ErrNone
	return e
}

// lastLine is the last error that was written to the log after begin, else the last line: a
// daemon that is on its way out writes there, too.
func lastLine(path string, begin int64) string {
	data, err := files.ReadFile(path, 0)
	if err != nil || int64(len(data)) < begin {
		return ""
	}
	text := string(data[begin:])
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if Said(line) != nil {
			return line
		}
	}
	return tail.LastLine(text)
}

// Environ is the environment of a daemon, which serves whoever comes after the first
// caller, too: nothing of that one's session, terminal or secrets.
func Environ(list []string) []string {
	return environ.Set(environ.Server(list), environ.Only(list, "LEADLIGHT_BASE_DIR", "LEADLIGHT_CALLER_VERSION")...)
}

// Tidy removes the socket that a killed daemon has left, and tells whether there was
// one. While a daemon runs it does nothing.
func Tidy(p Paths) (removed bool, err error) {
	info, err := os.Lstat(p.Socket)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false, nil
	}
	state, held, err := Claim(p)
	switch {
	case errors.Is(err, fault.DuplicateName):
		return false, nil // it runs
	case err != nil:
		return false, err
	}
	defer state.Close()
	defer held.Release()
	if err := files.Remove(filepath.Dir(p.Socket), filepath.Base(p.Socket), fs.ModeSocket); err != nil {
		return false, fmt.Errorf("remove the socket of a daemon that is gone: %w", err)
	}
	_ = files.RemoveEmpty(filepath.Dir(p.Socket))
	return true, nil
}

// noState is why the state folder is of no use.
func noState(what string, err error) error {
	hint := "set XDG_STATE_HOME to a folder of yours"
	if fault.CodeOf(err) == fault.DiskFull {
		hint = "free some space there (df -h, df -i, or your quota), or set XDG_STATE_HOME to a folder elsewhere"
	}
	return fault.New(fault.Of(err).Code, "%s: %w", what, err).WithHint("%s", hint)
}

// Claim takes the daemon's lock.
func Claim(p Paths) (*files.Dir, *lock.Held, error) {
	if err := files.MakeFolders(p.State); err != nil {
		return nil, nil, noState("make the state folder", err)
	}
	state, err := files.Open(p.State)
	if err != nil {
		return nil, nil, fmt.Errorf("open the state folder: %w", err)
	}
	held, err := lock.Try(state, p.Key+".lock", "daemon run")
	if err == nil && held == nil {
		err = fault.New(fault.DuplicateName, "a daemon runs for %s already", p.Base).WithHint("leadlight daemon status tells about it")
	}
	if err != nil {
		state.Close()
		return nil, nil, err
	}
	return state, held, nil
}
