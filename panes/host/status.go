package host

import (
	"context"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
	"golang.org/x/sys/unix"
)

// Status is what the host tells about itself and its program.
type Status struct {
	ID       string            `json:"id"`
	PID      int               `json:"pid"`
	Identity signals.Identity  `json:"identity"`        // the host
	Agent    *signals.Identity `json:"agent,omitempty"` // the program; absent while none runs
	Since    time.Time         `json:"since,omitzero"`  // the host runs; zero: an older version
	Shown
	Settled        bool      `json:"settled,omitempty"` // a program has lasted for its first moments, or is started again
	StartedAt      time.Time `json:"startedAt"`         // the program, before the first one the host
	LastActivityAt time.Time `json:"lastActivityAt"`
	LastOutputAt   time.Time `json:"lastOutputAt,omitzero"`
	LastKeyAt      time.Time `json:"lastKeyAt,omitzero"`    // a person typed: in the pane or as a viewer
	LastReturnAt   time.Time `json:"lastReturnAt,omitzero"` // of those keys, the last return
	Draft          bool      `json:"draft,omitempty"`       // what they typed is not submitted yet
	ExitCode       *int      `json:"exitCode,omitempty"`    // of the last program, once it ended
	Signal         string    `json:"signal,omitempty"`      // that ended it
	Transcript     string    `json:"transcript,omitempty"`  // why not all output is in it
	Cols           int       `json:"cols"`
	Rows           int       `json:"rows"`
	Cooked         bool      `json:"cooked"`  // its terminal edits lines: long ones are refused
	MaxLine        int       `json:"maxLine"` // bytes a line may have then
}

// Shown is how the program is doing, as SetState says.
type Shown struct {
	State       string `json:"state,omitempty"`
	Task        string `json:"task,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Unsubmitted bool   `json:"unsubmitted,omitempty"` // it waits since a text in its input is not submitted
	Asks        bool   `json:"asks,omitempty"`        // it waits for the answer to a question, and reads nothing else
}

// Status is what is known now.
func (h *Host) Status() Status {
	lastOutput := h.out.lastAt()
	person := h.input.typed()
	h.mu.Lock()
	defer h.mu.Unlock()
	s := Status{
		ID: h.opt.ID, PID: h.self.PID, Identity: h.self, Since: h.started,
		Shown: h.shown, Settled: h.settled,
		StartedAt: h.started, LastOutputAt: lastOutput, LastKeyAt: person.lastKey, LastReturnAt: person.lastReturn, Draft: person.draft,
		Rows: h.rows, Cols: h.cols, MaxLine: cookedLine,
	}
	if h.exit != nil {
		s.StartedAt, s.ExitCode, s.Signal = h.exit.StartedAt, new(h.exit.Code), h.exit.Signal
	}
	if t := h.out.transcript; t != nil {
		if err := t.Err(); err != nil {
			s.Transcript = err.Error()
		}
	}
	if p := h.program; p != nil {
		s.Agent, s.StartedAt, s.ExitCode, s.Signal = new(p.id), p.started, nil, ""
		s.Cooked = p.cooked()
	}
	s.LastActivityAt = latest(s.StartedAt, lastOutput, person.lastKey)
	return s
}

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}

// cooked tells whether the program's terminal edits lines by itself.
func (p *program) cooked() bool { return p.editing()&unix.ICANON != 0 }

// editing is how that terminal edits lines, and whether it echoes.
func (p *program) editing() int {
	if p.master == nil {
		return 0
	}
	t, err := termiosOf(p.master)
	if err != nil {
		return 0
	}
	return int(t.Lflag & (unix.ICANON | unix.ECHO))
}

// Capture is the text of the pane.
type Capture struct {
	Text      string `json:"text"`
	Screen    bool   `json:"screen"`              // what the screen shows, not the end of the output
	Truncated bool   `json:"truncated,omitempty"` // something is missing: lines before it, or in the picture
	Cursor    int    `json:"cursor,omitempty"`    // of the whole screen: the line where the cursor is to be seen, from 1; 0: nowhere
}

// screenLimit bounds the wait for the screen model: after it, the tail must do.
const screenLimit = 2 * time.Second

// Capture returns the last lines (≤ 0: all) of the screen, or without a screen of
// the output, with or without colours and other sequences. It works after the
// program's end too.
func (h *Host) Capture(ctx context.Context, lines int, ansi bool) (Capture, error) {
	if h.screen != nil {
		limited, cancel := context.WithTimeout(ctx, screenLimit)
		defer cancel()
		text, cursor, truncated, err := h.screen.text(limited, ansi)
		if lines > 0 || !h.out.mode(modeCursorVisible) {
			cursor = 0
		}
		if err == nil {
			return Capture{Text: string(lastLines([]byte(text), lines)), Screen: true, Truncated: truncated, Cursor: cursor}, nil
		}
		if ctx.Err() != nil {
			return Capture{}, err
		}
	}
	text, truncated := h.out.tail(lines, ansi)
	return Capture{Text: text, Truncated: truncated || h.screen != nil}, nil
}

// Tail returns the last lines of the output as plain text: what a program said
// before it ended.
func (h *Host) Tail(lines int) string {
	text, _ := h.out.tail(lines, false)
	return text
}

// resize gives the program's terminal and the screen model a new size.
func (h *Host) resize(rows, cols int) {
	rows, cols = plausible(rows, cols)
	h.mu.Lock()
	same := rows == h.rows && cols == h.cols
	h.rows, h.cols = rows, cols
	prog := h.program
	h.mu.Unlock()
	if same {
		return
	}
	if h.screen != nil {
		ctx, cancel := context.WithTimeout(context.Background(), screenLimit)
		defer cancel()
		if err := h.screen.resize(ctx, rows, cols); err != nil {
			h.opt.Log.Warn("resize", "error", err)
		}
	}
	if prog != nil {
		h.fit(prog, rows, cols)
	}
}

// fit gives the terminal of a program, if it has one, a size.
func (h *Host) fit(p *program, rows, cols int) {
	if p.master == nil {
		return
	}
	if err := setSize(p.master, rows, cols); err != nil {
		h.opt.Log.Warn("resize", "error", err)
	}
}
