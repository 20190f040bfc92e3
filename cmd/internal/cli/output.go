package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"golang.org/x/term"
)

// say narrates on stderr. With --json it waits until all went well, so that an
// error is the only thing on stderr, unless it is narrated at once (atOnce).
func (a *app) say(format string, args ...any) {
	line := printable(fmt.Sprintf(format, args...))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.json && !a.atOnce {
		a.held = append(a.held, line)
		return
	}
	fmt.Fprintln(a.err, line)
}

// warn says each of the warnings.
func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		a.say("leadlight: warning: %s", w)
	}
}

// narrate says at once what was and will be said: a stream, or a verb that takes long,
// does not wait for its end.
func (a *app) narrate() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.atOnce = true
	a.tellHeld()
}

func (a *app) tellHeld() {
	for _, line := range a.held {
		fmt.Fprintln(a.err, line)
	}
	a.held = nil
}

// answer prints what a verb came to, unless it failed: v with --json, else what text prints.
func (a *app) answer(v any, err error, text func(w io.Writer)) error {
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(v)
	}
	text(a.out)
	return a.out.err
}

// printJSON prints one document: indented for a person, one line otherwise.
func (a *app) printJSON(v any) error {
	return writeJSON(a.out, v, isTerminal(a.out.w))
}

func writeJSON(w io.Writer, v any, indented bool) error {
	enc := json.NewEncoder(rawjson.Visible(w))
	enc.SetEscapeHTML(false)
	if indented {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// debugs tells whether everything is logged.
func (a *app) debugs() bool { return a.verbose || a.getenv("LEADLIGHT_DEBUG") != "" }

// logger is the log of a verb, which says nothing unless that is asked for.
func (a *app) logger() *slog.Logger {
	if !a.debugs() {
		return slog.New(slog.DiscardHandler)
	}
	return a.daemonLog()
}

// colors tells whether what is written to w is coloured.
func (a *app) colors(w io.Writer) bool {
	return isTerminal(w) && !a.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// size is how many columns and rows w has, 0 if it is no terminal.
func size(w io.Writer) (cols, rows int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	cols, rows, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return cols, rows
}

func width(w io.Writer) int {
	cols, _ := size(w)
	return cols
}

func height(w io.Writer) int {
	_, rows := size(w)
	return rows
}

// sink remembers that a write failed: a verb that could not tell its result has
// not done its job. What is written at once stays together.
type sink struct {
	mu  sync.Mutex // one write at a time
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}
