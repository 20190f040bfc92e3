package iterm2

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

// The command of a session is one text to iTerm2, in which it looks for expressions to
// evaluate and which it then takes apart at its spaces. So the real command line goes into
// a file, exactly, and the text only names that file. The shell that reads it removes it
// and becomes the program.

// commandAge is how old a command must be before it counts as one that never began.
const commandAge = 10 * time.Minute

// commands is the folder, absolute, of commands that have not begun yet; it is made when
// needed and removed when empty.
type commands string

// of is the file of the pane that bears a mark.
func (c commands) of(m backend.Mark) string { return filepath.Join(string(c), m.Hash()[:16]) }

// begin writes the command of a pane into a file.
func (c commands) begin(s backend.Spec) (file string, err error) {
	file = c.of(s.Mark)
	c.sweep()
	if strings.ContainsFunc(file, func(r rune) bool { return r < ' ' || strings.ContainsRune(" \\()\"'$~`&;|<>*?[]{}#!%^", r) }) {
		return "", fault.New(fault.InvalidArgument, "the folder %q cannot be named in a command of iTerm2", string(c)).
			WithHint("choose another XDG_RUNTIME_DIR")
	}
	script := "rm -f -- \"$0\"; rmdir -- \"${0%/*}\" 2>/dev/null\ncd -- " + shell.Line(s.Dir) + " && exec " + shell.Line(s.Argv...) + "\n"
	// Whoever starts the last pane removes the empty folder, maybe between its making and
	// its use: then it is made again.
	err = error(syscall.ENOENT)
	for try := 0; try < 20 && errors.Is(err, syscall.ENOENT); try++ {
		if err = os.MkdirAll(string(c), 0o700); err == nil {
			err = os.WriteFile(file, []byte(script), 0o600)
		}
	}
	if err != nil {
		return "", fault.New(fault.Of(err).Code, "note the command of a pane: %w", err)
	}
	return file, nil
}

// sweep removes commands that never began: iTerm2, or whoever asked it, was killed.
func (c commands) sweep() {
	entries, _ := os.ReadDir(string(c))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > commandAge {
			_ = files.Remove(string(c), e.Name(), 0)
		}
	}
}

// forget removes the file of a command that did not begin.
func (c commands) forget(file string) {
	_ = files.Remove(string(c), filepath.Base(file), 0)
	_ = files.RemoveEmpty(string(c))
}

// properties is the profile of a session that runs a file and bears a label.
func properties(file string, l backend.Label) []wire.Property {
	return append([]wire.Property{
		property("Custom Command", "Yes"),
		property("Command", "/bin/sh "+file),
		property("Close Sessions On End", 1),
	}, look(l)...)
}
