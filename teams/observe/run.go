package observe

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Emit says what Run writes.
type Emit = string

// What Run can write, one JSON document a line.
const (
	EmitMessages Emit = "messages" // the stream's own bytes, supplementary messages between its lines
	EmitEvents   Emit = "events"   // the events, and nothing of the stream
	EmitState    Emit = "state"    // after each change the view of the team, null for none
)

// Emits returns the values of Emit, the default first.
func Emits() []Emit { return []Emit{EmitEvents, EmitState, EmitMessages} }

const (
	chunkSize = 256 << 10
	// DefaultQuiet is how long a live stream may be silent over an open tool use
	// before its user counts as waiting.
	DefaultQuiet = 10 * time.Second
)

// Options of Run. Only Out is required, and one of In and File.
type Options struct {
	File      string                // read this file; "" or "-": read In
	In        io.Reader             // a stream; a read of it that blocks outlives Run until it returns
	Out       io.Writer             // results
	Warn      io.Writer             // one sentence a line about what is wrong with the stream; nil: nowhere
	Emit      Emit                  // "": events
	Follow    bool                  // File: go on at its end, until ctx ends. In: no difference, it is read to its end anyway
	StateFile string                // go on from this state, and keep it there
	Load      func() (State, error) // instead of StateFile: where the state comes from
	Save      func(State) error     // instead of StateFile: where it goes; the State is good during the call only
	Quiet     time.Duration         // 0: DefaultQuiet; less: never
	MaxLine   int                   // bytes; 0: MaxLine
	Debug     bool                  // warnings for those who look after the protocol, too
}

// Run observes a stream: it reads lines as they come, keeps the state and writes
// what Emit asks for. It ends with the stream, or with ctx, whose error it then
// returns; what was read by then is written and saved. The output of a line is
// written before its state is saved: after a crash in between, the same events
// come again with the same numbers, and none is lost.
//
// A stream that is not all well is no error: noise is skipped and counted, a line
// above MaxLine is passed over with a warning, a torn last line is said once.
func Run(ctx context.Context, o Options) error {
	r, err := newRunner(o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	src, done, err := r.source(ctx)
	if err != nil {
		return err
	}
	defer done()
	return r.run(ctx, src)
}

// runner is one Run.
type runner struct {
	Options
	track   *Tracker
	step    func(Step) error // takes what a line led to
	array   unwrapper
	lines   splitter
	out     *bufio.Writer
	enc     *json.Encoder
	live    bool // silence means something
	dirty   bool
	unended bool // the last line went out without its end
}

func newRunner(o Options) (*runner, error) {
	switch o.Emit {
	case "":
		o.Emit = EmitEvents
	case EmitEvents, EmitState, EmitMessages:
	default:
		return nil, fault.New(fault.InvalidArgument, "unknown kind of output %q", o.Emit).WithHint("it takes %s, %s or %s", EmitEvents, EmitState, EmitMessages)
	}
	if o.StateFile != "" {
		path := o.StateFile
		if err := files.CheckFolderOf("the state", path); err != nil {
			return nil, err
		}
		o.Load = func() (State, error) { return LoadState(path) }
		o.Save = func(s State) error { return SaveState(path, s) }
	}
	o.Quiet = cmp.Or(o.Quiet, DefaultQuiet)
	if o.MaxLine <= 0 {
		o.MaxLine = MaxLine
	}
	var state State
	if o.Load != nil {
		var err error
		if state, err = o.Load(); err != nil {
			return nil, err
		}
	}
	r := &runner{Options: o, track: NewTracker(state), lines: splitter{limit: o.MaxLine}, out: bufio.NewWriterSize(o.Out, chunkSize)}
	r.enc = json.NewEncoder(rawjson.Visible(r.out))
	r.enc.SetEscapeHTML(false)
	r.step = r.show
	return r, nil
}

func (r *runner) source(ctx context.Context) (source, func(), error) {
	if r.File == "" || r.File == "-" {
		if r.In == nil {
			return nil, nil, fault.New(fault.InvalidArgument, "nothing to observe: neither a file nor a stream was given")
		}
		r.live = true
		return newPipe(ctx, r.In), func() {}, nil
	}
	f, err := openFile(r.File)
	if err != nil {
		return nil, nil, fmt.Errorf("observe: %w", err)
	}
	r.live = r.Follow
	f.follow = r.Follow
	f.cut = func(why string) {
		r.torn(append(r.lines.rest(), r.array.rest()...))
		r.warn("%s %s; reading it from its start", r.File, why)
	}
	return f, f.close, nil
}

func (r *runner) run(ctx context.Context, src source) error {
	buf := make([]byte, chunkSize)
	wait := r.silence()
	if r.Emit == EmitState && r.track.state.Team.known() { // what the stream goes on from
		if err := r.write(r.track.state.View()); err != nil {
			return r.end(err)
		}
	}
	for {
		n, err := src.read(ctx, buf, wait)
		wait = r.silence()
		if n > 0 {
			if err := r.lines.feed(r.array.feed(buf[:n]), r.piece); err != nil {
				return r.end(err)
			}
			r.track.hold()
		}
		switch {
		case errors.Is(err, errQuiet):
			if err := r.step(r.track.Quiet(r.Quiet)); err != nil {
				return r.end(err)
			}
			wait = 0 // once in each silence
		case err == io.EOF:
			return r.end(nil)
		case err != nil:
			return r.end(err)
		}
		if err := r.settle(); err != nil {
			return err
		}
	}
}

func (r *runner) silence() time.Duration {
	if !r.live {
		return 0
	}
	return max(r.Quiet, 0)
}

// piece takes what the splitter found.
func (r *runner) piece(b []byte, p piece) error {
	if r.Emit == EmitMessages {
		if _, err := r.out.Write(b); err != nil {
			return err
		}
	}
	switch p {
	case whole:
		return r.step(r.track.Line(b))
	case last:
		r.warn("a line of %d bytes is longer than the limit of %d; it was skipped", r.lines.skipped, r.MaxLine)
	}
	return nil
}

// show writes what a line led to.
func (r *runner) show(s Step) error {
	r.dirty = r.dirty || s.Dirty
	for _, w := range s.Warnings {
		if w.Level >= slog.LevelWarn || r.Debug {
			r.warn("%s", w.Text)
		}
	}
	switch r.Emit {
	case EmitMessages:
		for _, m := range s.Messages {
			if err := r.write(m); err != nil {
				return err
			}
		}
	case EmitEvents:
		for _, e := range s.Events {
			if err := r.write(e); err != nil {
				return err
			}
		}
	case EmitState:
		if s.Changed {
			return r.write(r.track.state.View())
		}
	}
	return nil
}

func (r *runner) write(v any) error {
	if r.unended {
		r.unended = false
		if err := r.out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return r.enc.Encode(v)
}

// settle lets everything that was read take effect outside, before the next read
// may block.
func (r *runner) settle() error {
	if err := r.out.Flush(); err != nil {
		return fmt.Errorf("observe: write: %w", err)
	}
	if !r.dirty || r.Save == nil {
		return nil
	}
	r.dirty = false
	return r.Save(r.track.current())
}

// end takes the last line, if it is whole, and closes the books. cause is why the
// stream ended, nil for its natural end.
func (r *runner) end(cause error) error {
	if skipped := r.lines.skipped; skipped > 0 {
		r.warn("a line of %d bytes is longer than the limit of %d; it was skipped", skipped, r.MaxLine)
	}
	errs := []error{cause, r.unfinished(append(r.lines.rest(), r.array.rest()...)), r.step(r.track.Close()), r.settle()} // in this order
	r.summary()
	return cmp.Or(errs...)
}

// summary says what was passed over, and why there may be no output.
func (r *runner) summary() {
	stats := r.track.Stats()
	if stats.Skipped > 0 {
		r.warn("lines skipped because they are not JSON objects: %d", stats.Skipped)
	}
	if stats.Foreign > 0 && r.Debug {
		r.warn("lines of a type that is not known: %d", stats.Foreign)
	}
	if t := r.track.state.Team; !t.known() && t != nil && len(t.Tasks) > 0 {
		r.warn("no team in this stream; tasks in the session's own list: %d", len(t.Tasks))
	}
}

// unfinished takes a last line without a line end: it counts if it is complete.
func (r *runner) unfinished(b []byte) error {
	if !isTorn(b) {
		r.unended = r.Emit == EmitMessages && len(b) > 0
		return r.piece(b, whole)
	}
	r.torn(b)
	if r.Emit == EmitMessages {
		_, err := r.out.Write(b)
		return err
	}
	return nil
}

// isTorn tells whether b is the start of a JSON object and no more.
func isTorn(b []byte) bool {
	b, _ = firstObject(trim(b))
	return isObject(b) && !json.Valid(b)
}

func (r *runner) torn(b []byte) {
	if b = trim(b); len(b) > 0 {
		r.warn("the stream ends within a line of %d bytes; it was not read", len(b))
	}
}

func (r *runner) warn(format string, args ...any) {
	if r.Warn != nil {
		text := fmt.Sprintf(format, args...)
		_, _ = fmt.Fprintln(r.Warn, strings.Join(strings.Fields(text), " "))
	}
}
