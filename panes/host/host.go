// Package host is the process inside a pane: it runs one program at a time on a
// terminal of the program's own (or as a job with pipes), passes bytes both ways,
// keeps what was said, answers on a socket, and leaves nothing running behind. It
// is to a pane what a shim is to a container, and knows nothing of teams.
package host

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/leadlight-dev/leadlight/signals"
)

// Options are what a Host is made of.
type Options struct {
	ID         string                                  // marks every process started here (signals.Mark); required
	Socket     string                                  // path of the control socket, at most 100 bytes; "" = none
	Terminal   *os.File                                // the pane's terminal, in and out; nil = headless
	Transcript *Transcript                             // nil = none; the Host closes it
	Screen     bool                                    // keep a model of the screen
	Rows, Cols int                                     // size when headless; 0 = 24 and 80
	Ask        func(context.Context, AskRequest) error // what to do when asked to end; nil = cannot be asked
	Log        *slog.Logger                            // nil = none
}

// Host is the parent of a program in a pane. Its methods may be used by several
// goroutines at once.
type Host struct{}

// New takes the terminal over, listens on the socket, and becomes a subreaper.
func New(Options) (*Host, error) { return nil, errUnfinished }

// Run starts one program, waits for its end, and ends everything it left behind.
func (h *Host) Run(ctx context.Context, c Command) (Exit, error) { return Exit{}, errUnfinished }

// End takes down what runs: TERM, then KILL; a term of 0 kills at once.
func (h *Host) End(ctx context.Context, term, kill time.Duration) (signals.Report, error) {
	return signals.Report{}, errUnfinished
}

// Closing is closed when the host has to end; Cause says why.
func (h *Host) Closing() <-chan struct{} { return nil }

// Cause is CausePaneClosed, CauseTerminated, or the reason of a shutdown.
func (h *Host) Cause() string { return "" }

// SetState says what the status shows.
func (h *Host) SetState(state, task, reason string) {}

// SetDetail replaces the details of the status.
func (h *Host) SetDetail(map[string]string) {}

// Status is what is known now.
func (h *Host) Status() Status { return Status{} }

// Write puts the host's own lines on the pane and into the transcript.
func (h *Host) Write(p []byte) (int, error) { return len(p), nil }

// Tail returns the last lines of output as plain text.
func (h *Host) Tail(lines int) string { return "" }

// Capture returns the text of the screen, or without one the last lines.
func (h *Host) Capture(ctx context.Context, lines int, ansi bool) (Capture, error) {
	return Capture{}, errUnfinished
}

// Inject types text and submits it.
func (h *Host) Inject(ctx context.Context, in Input) error { return errUnfinished }

// Keys presses keys by name.
func (h *Host) Keys(ctx context.Context, names []string) error { return errUnfinished }

// Signal sends a signal to the program by name.
func (h *Host) Signal(name string) error { return errUnfinished }

// Close gives the terminal back and removes the socket.
func (h *Host) Close() error { return nil }

// Command is one program to run.
type Command struct {
	Argv   []string
	Dir    string    // must exist
	Env    []string  // complete; Mark is set by the Host
	Pipes  bool      // a job without a terminal: Stdin is its input
	Stdin  []byte    // with Pipes
	Stdout io.Writer // with Pipes: an extra copy of standard output; may be nil
}

// Exit is how a program ended.
type Exit struct {
	Code      int       `json:"code"`             // 128+n after signal n
	Signal    string    `json:"signal,omitempty"` // such as SIGKILL
	Leftovers []string  `json:"leftovers,omitempty"`
	StartErr  error     `json:"-"` // it never ran
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt"`
}

// Status is what the host tells about itself and its program.
type Status struct {
	ID             string            `json:"id"`
	PID            int               `json:"pid"`
	Identity       signals.Identity  `json:"identity"`
	Agent          *signals.Identity `json:"agent,omitempty"` // nil while nothing runs
	State          string            `json:"state,omitempty"`
	Task           string            `json:"task,omitempty"`
	Reason         string            `json:"reason,omitempty"`
	StartedAt      time.Time         `json:"startedAt"`
	LastActivityAt time.Time         `json:"lastActivityAt"`
	LastOutputAt   time.Time         `json:"lastOutputAt,omitzero"`
	LastKeyAt      time.Time         `json:"lastKeyAt,omitzero"` // a person typed in the pane
	ExitCode       *int              `json:"exitCode,omitempty"`
	Signal         string            `json:"signal,omitempty"`
	Leftovers      []string          `json:"leftovers,omitempty"`
	Detail         map[string]string `json:"detail,omitempty"`
	Cols           int               `json:"cols"`
	Rows           int               `json:"rows"`
	BracketedPaste bool              `json:"bracketedPaste"` // the program asked for it
	Cooked         bool              `json:"cooked"`         // the program's terminal edits lines itself
}

// Capture is the text of the pane.
type Capture struct {
	Text      string `json:"text"`
	Truncated bool   `json:"truncated,omitempty"` // output was skipped: it may be incomplete
	Screen    bool   `json:"screen"`              // a screen, not the tail of the output
}

// Input is text to be typed into a program.
type Input struct {
	Text   string        `json:"text"`
	Submit string        `json:"submit,omitempty"` // name of the key that submits; "" = enter, "none"
	Join   bool          `json:"join,omitempty"`   // without bracketed paste: line breaks become blanks
	Pause  time.Duration `json:"pause,omitempty"`  // between text and submit; 0 = 100 ms
}

// AskRequest asks the host to come to an end by itself.
type AskRequest struct {
	ID     string `json:"id"`
	From   string `json:"from,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// ShutdownRequest takes the program down and closes the host.
type ShutdownRequest struct {
	Reason string        `json:"reason,omitempty"`
	Term   time.Duration `json:"term"`
	Kill   time.Duration `json:"kill"`
	Force  bool          `json:"force,omitempty"` // no TERM: kill at once
}

// Report is what a shutdown did, as told over the socket.
type Report struct {
	Ended     int      `json:"ended"`
	Killed    bool     `json:"killed"`
	Leftovers []string `json:"leftovers,omitempty"`
	Survivors []string `json:"survivors,omitempty"`
}

// AttachOptions connect a viewer.
type AttachOptions struct {
	Terminal *os.File // in and out, put into raw mode; or:
	In       io.Reader
	Out      io.Writer
	ReadOnly bool
}

// Attached is how a viewing ended.
type Attached struct {
	Detached bool  // by the viewer
	Exit     *Exit // the program ended
}

// Client talks to a Host over its socket.
type Client struct{ socket string }

// Dial returns a client for the socket; it connects anew for every request.
func Dial(socket string) *Client { return &Client{socket: socket} }

func (c *Client) Status(ctx context.Context) (Status, error) { return Status{}, errUnfinished }
func (c *Client) Capture(ctx context.Context, lines int, ansi bool) (Capture, error) {
	return Capture{}, errUnfinished
}
func (c *Client) Inject(ctx context.Context, in Input) error     { return errUnfinished }
func (c *Client) Keys(ctx context.Context, names []string) error { return errUnfinished }
func (c *Client) Signal(ctx context.Context, name string) error  { return errUnfinished }
func (c *Client) Wait(ctx context.Context) (Exit, error)         { return Exit{}, errUnfinished }
func (c *Client) Ask(ctx context.Context, r AskRequest) error    { return errUnfinished }
func (c *Client) Attach(ctx context.Context, o AttachOptions) (Attached, error) {
	return Attached{}, errUnfinished
}
func (c *Client) Shutdown(ctx context.Context, r ShutdownRequest) (Report, error) {
	return Report{}, errUnfinished
}

// Transcript keeps output in files.
type Transcript struct{}

// NewTranscript keeps at most maxBytes in name and name.1.
func NewTranscript(open func(name string, flag int) (*os.File, error), rename func(old, new string) error, name string, maxBytes int64) *Transcript {
	return &Transcript{}
}

// ReadTranscript returns the last lines (0 = all), plain = without escape sequences.
func ReadTranscript(open func(name string, flag int) (*os.File, error), name string, lines int, plain bool) ([]byte, error) {
	return nil, errUnfinished
}

// FollowTranscript writes the last lines and everything that comes to w until ctx ends.
func FollowTranscript(ctx context.Context, open func(name string, flag int) (*os.File, error), name string, lines int, plain bool, w io.Writer) error {
	return errUnfinished
}
