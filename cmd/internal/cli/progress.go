package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// progressView shows a team on stderr: on a terminal as a table that changes, else
// a line for each change.
type progressView struct {
	a     *app
	live  bool
	block string // the table that is on the screen
	last  map[string]string
}

func newProgressView(a *app) *progressView {
	return &progressView{a: a, live: isTerminal(a.err) && !a.json, last: map[string]string{}}
}

// show takes a new picture.
func (v *progressView) show(snap teams.Snapshot) {
	if !v.live {
		v.changes(snap)
		return
	}
	var b strings.Builder
	colors := v.a.colors(v.a.err)
	rows, limit := taskRows(snap.Tasks), max(height(v.a.err)-3-len(snap.Members), 3)
	done := counted(snap.Tasks, func(t api.Task) bool { return t.Status == store.Completed })
	if extra := len(rows.rows) - limit; extra > 0 {
		rows.rows = rows.rows[extra:]
	}
	fmt.Fprintf(&b, "%d of %d tasks completed\n", done, len(snap.Tasks))
	rows.write(&b, width(v.a.err)-1, colors) // a full line is kept apart from the next one by not every terminal
	for _, m := range snap.Members {
		fmt.Fprintf(&b, "%s %s", paint(oneLine(m.Name), m.Color, colors), paint(m.State, style.Member(m.State).Color, colors))
		if m.Task != "" {
			fmt.Fprintf(&b, " (task %s)", m.Task)
		}
		fmt.Fprintln(&b)
	}
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	v.erase()
	v.block = b.String()
	v.draw()
}

// erase takes the table off the screen. The terminal may have become narrower
// since, as panes were opened beside it, and have broken its lines.
func (v *progressView) erase() {
	up, cols := 0, width(v.a.err)
	if cols <= 0 {
		cols = 80 // a terminal that does not know its size
	}
	measure := displaywidth.Options{ControlSequences: true}
	for line := range strings.Lines(v.block) {
		up += max(1, (measure.String(strings.TrimSuffix(line, "\n"))+cols-1)/cols)
	}
	if up > 0 {
		fmt.Fprintf(v.a.err, "\x1b[%dA\r\x1b[J", up)
	}
}

func (v *progressView) draw() { io.WriteString(v.a.err, v.block) }

// say prints a line above the table.
func (v *progressView) say(line string) {
	if !v.live {
		v.a.say("%s", line)
		return
	}
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	v.erase()
	fmt.Fprintln(v.a.err, line)
	v.draw()
}

// done leaves the last table standing.
func (v *progressView) done() {
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	v.block = ""
}

// changes prints a line for everything that is not as it was.
func (v *progressView) changes(snap teams.Snapshot) {
	for _, t := range snap.Tasks {
		line := t.Status
		if t.Owner != "" {
			line += " (" + oneLine(t.Owner) + ")"
		}
		if t.Failure != "" {
			line += ": " + oneLine(t.Failure)
		}
		v.change("task "+t.ID+" "+oneLine(t.Subject), line)
	}
	for _, m := range snap.Members {
		line := m.State
		if m.Reason != "" {
			line += ": " + oneLine(withoutTime(m.Reason))
		}
		v.change(oneLine(m.Name), line)
	}
}

func (v *progressView) change(what, now string) {
	if v.last[what] != now {
		v.last[what] = now
		v.a.say("%s: %s", what, now)
	}
}

// withoutTime is the reason of a state without the time in it that passes while it lasts.
func withoutTime(reason string) string {
	for _, words := range []string{", for ", ", starts again in "} {
		if before, after, found := strings.Cut(reason, words); found && len(after) > 0 && after[0] >= '0' && after[0] <= '9' {
			return before
		}
	}
	return reason
}
