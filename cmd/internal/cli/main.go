// Package cli is the command line: one file a verb, each an options struct that
// the flags fill and a function that does the work through teams.Service, so that
// parsing and doing are tested apart.
//
// A verb takes three steps. Its command fills the options from flags and arguments. They
// complete themselves: texts from files and standard input, lists of ids. Then its function
// does the work with what it asks for: a team and its Service (ofTeam), the daemon (ask), or the
// app alone. It ends with answer, which returns the error there is, or prints the value, as JSON
// or in words.
//
// Results go to stdout, everything else to stderr. Main is the one place where
// errors become messages and exit statuses, and compose.go the one place where a
// Service is put together.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
	"golang.org/x/sys/unix"
)

// Stdio is where a verb reads and writes.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs leadlight with the arguments after its own name and returns the exit
// status. The first interrupt asks the verb to come to an end, the second one
// does not wait for it.
func Main(args []string, std Stdio, environ []string) int {
	if len(args) == 1 && (args[0] == "version" || args[0] == "--version") { // all that the others need costs more than the answer
		a := &app{out: &sink{w: std.Out}, err: std.Err}
		return a.finish(runVersion(context.Background(), a))
	}
	if len(args) == 0 || args[0] != teammateVerb {
		std.Err = Lasting(std.Err)
	}
	return newApp(std, environ).main(args)
}

// Lasting is standard error under a number of its own. Where nobody reads any more (a pipe
// into head), Go ends a program that writes to 1 or 2: also between the two halves of a
// restart. A result comes last, so standard output keeps that.
func Lasting(w io.Writer) io.Writer {
	f, ok := w.(*os.File)
	if !ok || f != os.Stderr {
		return w
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return w
	}
	return os.NewFile(uintptr(fd), f.Name())
}

func (a *app) main(args []string) int {
	if len(args) > 0 && args[0] == teammateVerb && !slices.Contains([]string{"--help", "-h"}, args[len(args)-1]) {
		return a.finish(a.teammate(args[1:]))
	}
	ctx, force, stop := signals.Interrupts(context.Background())
	defer stop()
	a.json, a.args = asksForJSON(args), args
	if i := slices.IndexFunc(args, func(arg string) bool { return !utf8.ValidString(arg) }); i >= 0 {
		return a.finish(usage("argument %d, %.80q, is not UTF-8 text: it could not be kept as it is", i+1, args[i]).
			WithHint("give such bytes in a file, a script or a variable, and such a folder by a link to it"))
	}
	done := make(chan error, 1)
	go func() { done <- a.run(ctx, args) }()
	return a.await(ctx, done, force)
}

// await waits for the end of the verb, and when it was asked to end, until it can be left.
func (a *app) await(ctx context.Context, done <-chan error, force <-chan struct{}) int {
	asked := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-done:
			if ctx.Err() != nil && errors.Is(err, context.Canceled) && fault.CodeOf(err) == fault.Failed {
				err = context.Canceled // what it was at says nothing: it was asked to end
			}
			status := a.finish(err)
			if err != nil && ctx.Err() != nil {
				return fault.ExitInterrupted // whatever came of it: that was why
			}
			return status
		case <-force:
			return fault.ExitInterrupted
		case <-asked:
			asked, late = nil, time.After(politeEnd)
		case <-late:
			if a.harmless() {
				return fault.ExitInterrupted
			}
			late = time.After(politeEnd) // it may come to wait for something from outside only now
		}
	}
}

// politeEnd is how long a verb that has begun no deed may take to end when it is asked.
const politeEnd = 300 * time.Millisecond

// harmless tells whether the verb can be left where it is: it has begun no deed, or waits
// for something from outside, which it does before its deed.
func (a *app) harmless() bool { return !a.begun.Load() || a.waiting.Load() > 0 }

// outside reads what may never come: standard input, or a file that a person has named.
func (a *app) outside(read func() ([]byte, error)) ([]byte, error) {
	a.waiting.Add(1)
	defer a.waiting.Add(-1)
	return read()
}

// exitStatus is an error that is an exit status only: everything has been said.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// finish tells what went wrong and returns the exit status.
func (a *app) finish(err error) int {
	if status, only := errors.AsType[exitStatus](err); only {
		return int(status)
	}
	if err == nil || err == a.out.err {
		err = a.untold()
	}
	switch {
	case err == nil:
		a.tellHeld()
		return fault.ExitOK
	case err == context.Canceled || isInterrupt(err): // nothing went wrong: it was asked to end
		return fault.ExitInterrupted
	}
	a.report(fault.Of(err))
	return fault.ExitOf(err)
}

// untold is the error of a verb that has done what it was asked, and cannot say so: nil if
// its reader has merely gone.
func (a *app) untold() error {
	if a.out.err == nil || errors.Is(a.out.err, syscall.EPIPE) {
		return nil
	}
	return fault.New(fault.CodeOf(a.out.err), "standard output cannot be written: %w", a.out.err).WithHint("what the verb does is done all the same: look at it before you repeat it")
}

func isInterrupt(err error) bool {
	_, bare := err.(signals.Interrupted)
	return bare
}

// report writes an error to stderr, as text or, with --json, as JSON.
func (a *app) report(e *fault.Error) {
	if !a.json {
		fmt.Fprintf(a.err, "leadlight: error: %s (%s)\n", printable(e.Message), e.Code)
		if e.Hint != "" {
			fmt.Fprintf(a.err, "leadlight: hint: %s\n", printable(e.Hint))
		}
		return
	}
	_ = writeJSON(a.err, map[string]*fault.Error{"error": e}, false)
}

// asksForJSON tells whether errors are to be JSON, before the flags are parsed:
// a mistake in the flags is told in that form, too.
func asksForJSON(args []string) (asked bool) {
	for _, arg := range args {
		value, given := strings.CutPrefix(arg, "--json=")
		switch {
		case arg == "--":
			return asked
		case arg == "--json":
			asked = true
		case given:
			asked, _ = strconv.ParseBool(value) // what is none is a mistake, and told as text
		}
	}
	return asked
}
