package host

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// Command is one program to run.
type Command struct {
	Argv   []string  // Argv[0] is searched in the PATH of Env; a relative path counts from Dir
	Dir    string    // must be a folder
	Env    []string  // complete; signals.Mark is set by the Host, whatever it says here; so is PWD
	Pipes  bool      // a job without a terminal: input from Stdin, output to the pane
	Stdin  []byte    // with Pipes
	Stderr io.Writer // with Pipes: an extra copy of standard error; may be nil
	Stdout io.Writer // with Pipes: gets a copy of standard output, as it is; may be nil
	Talk   *Talk     // with Pipes: it is spoken to while it runs; nil: it is not

	// Started is called once the program runs; it is ended if that fails. May be nil.
	Started func() error
}

// Talk is how a job is spoken to while it runs. Of what it says the pane shows nothing: that
// is for whoever speaks with it.
type Talk struct {
	Input io.Reader // what it reads, in place of Stdin, as it comes; its end is the end of the job's input
	Keys  io.Writer // gets what is typed into the pane
}

// Exit is how a program ended.
type Exit struct {
	Code      int      // 128+n after signal n
	Signal    string   // such as SIGKILL; "" if it ended by itself
	Leftovers []string // processes left alone, with the reason
	StartErr  error    // it never ran
	InputRead bool     // a job has read all of its input
	StartedAt time.Time
}

// exitOf reads a wait status.
func exitOf(state *os.ProcessState) Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal())}
	}
	return Exit{Code: state.ExitCode()}
}

// prepare checks the command as far as that can be done before it is started, so
// that the error can name what is wrong.
func (c Command) prepare(id string) (*exec.Cmd, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, fault.New(fault.InvalidArgument, "no program to run")
	}
	for _, s := range slices.Concat(c.Argv, c.Env, []string{c.Dir}) {
		if strings.IndexByte(s, 0) >= 0 {
			return nil, fault.New(fault.InvalidArgument, "a zero byte in the command, its folder or its environment: %.60q", s)
		}
	}
	if err := checkDir(c.Dir); err != nil {
		return nil, err
	}
	path, err := c.find()
	if err != nil {
		return nil, err
	}
	env := environ.Set(c.Env, "PWD="+c.Dir, signals.Mark+"="+id)
	return &exec.Cmd{Path: path, Args: c.Argv, Dir: c.Dir, Env: env}, nil
}

// checkDir refuses a folder that is not there: a program that starts elsewhere
// works on the wrong files.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return fault.New(fault.InvalidArgument, "no working folder given")
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.InvalidArgument, "working folder %s does not exist", dir).
			WithHint("make it, or choose another with --cwd")
	case err != nil:
		return fault.Of(err)
	case !info.IsDir():
		return fault.New(fault.InvalidArgument, "working folder %s is not a folder", dir)
	}
	return nil
}

// find searches the program where the child itself would: in its own PATH and
// from its own folder.
func (c Command) find() (string, error) {
	name := c.Argv[0]
	failed := fault.New(fault.ProgramNotFound, "program %q is not in the teammate's PATH", name).
		WithHint("install it, or give its absolute path")
	for _, path := range environ.Candidates(c.Env, c.Dir, name) {
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if strings.Contains(name, "/") || errors.Is(err, fs.ErrPermission) {
			failed = programFault(name, path, err)
		}
	}
	return "", failed
}

func programFault(name, path string, err error) *fault.Error {
	if errors.Is(err, fs.ErrPermission) {
		return fault.New(fault.PermissionDenied, "program %q: %s may not be executed: %w", name, path, err)
	}
	return fault.New(fault.ProgramNotFound, "program %q: %s is no program: %w", name, path, err)
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	return unix.Access(path, unix.X_OK)
}

// startFault says why the system refused to start a program that was found.
func startFault(c Command, err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		return fault.New(fault.InvalidArgument, "start %q: arguments and environment are too long: %w", c.Argv[0], err).
			WithHint("give long text through a file: one argument may have 128 KiB on Linux")
	case errors.Is(err, syscall.ENOEXEC):
		return fault.New(fault.SpawnFailed, "start %q: the system cannot execute it: %w", c.Argv[0], err).
			WithHint("a script needs a first line such as #!/bin/sh")
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.ProgramNotFound, "start %q: its interpreter is missing: %w", c.Argv[0], err).
			WithHint("look at the script's first line")
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.PermissionDenied, "start %q: %w", c.Argv[0], err)
	}
	return fault.New(fault.SpawnFailed, "start %q: %w", c.Argv[0], err)
}
