package tmux

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Report is what doctor tells about tmux.
type Report struct {
	Program string  // absolute path of the program
	Version Version // zero if it did not tell
	Usable  error   // why it cannot be used; nil: it can
	Socket  string  // path of the server's socket
	Running bool    // a server listens on the socket
	Panes   int     // all panes of the server
	Ours    int     // those that carry a mark
	Traps   []Trap  // known faults of this version
}

// Trap is a known fault of some versions and what it means for a team.
type Trap struct {
	Name   string
	Text   string
	Fixed  string // the first version without it
	system string // that has it; "": all
}

// Probe looks at the program and the server. It starts no server. The error is that of a
// server that does not answer, or could not be started; the rest of the report is valid then, too.
func (b *Backend) Probe(ctx context.Context) (Report, error) {
	r := Report{Program: b.opt.Program, Socket: b.opt.Socket}
	if path, err := exec.LookPath(b.opt.Program); err == nil {
		r.Program = path
	}
	r.Version, r.Usable = b.Version(ctx)
	if r.Usable != nil {
		return r, nil
	}
	r.Traps = traps(r.Version, runtime.GOOS)
	r.Running = b.dial() == nil
	if err := b.mayStart(ctx); err != nil {
		return r, err
	}
	rows, err := b.rows(ctx)
	if err != nil {
		return r, err
	}
	r.Panes, r.Ours = len(panes(rows, func(row) bool { return true })), len(panes(rows, ours))
	return r, nil
}

// traps lists the faults that a version has on a system. leadlight lives with all of
// them; they explain what somebody may see.
func traps(v Version, system string) []Trap {
	known := []Trap{
		{"no-own-border", "borders cannot be set for one pane: teammates have no name on theirs", "3.3", ""},
		{"paste-crash", "pasting into a pane whose program has ended ends the whole server: do not paste into such panes", "3.4", ""},
		{"lost-exit", "where tmux is built with utempter (Debian), it may not notice that a program ended: such a pane stays until it is closed", "3.6", "linux"},
	}
	var list []Trap
	for _, k := range known {
		fixed, err := ParseVersion("tmux " + k.Fixed)
		if err == nil && !v.atLeast(fixed) && (k.system == "" || k.system == system) {
			list = append(list, k)
		}
	}
	return list
}

// needed are the commands a program has to know to pass for tmux.
func needed() []string {
	return []string{"split-window", "new-window", "new-session", "list-panes", "set-option", "if-shell", "kill-pane", "select-layout"}
}

// capable asks a look-alike, or a build without a number, whether it knows the commands that
// are used here; its version says nothing.
func (b *Backend) capable(ctx context.Context, v Version) error {
	out, err := b.run(ctx, command{"list-commands"})
	if err != nil && !errors.Is(err, fault.TmuxError) {
		return err
	}
	var names []string
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	var missing []string
	for _, n := range needed() {
		if !slices.Contains(names, n) {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.BackendUnavailable, "%q does not have the commands of tmux: it lacks %s", v.Text, strings.Join(missing, ", ")).
			WithHint("put tmux %s or newer on PATH, or choose another backend with --backend", floor)
	}
	return nil
}
