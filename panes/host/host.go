// Package host is the process inside a pane: it runs one program at a time on a
// terminal of the program's own (or as a job with pipes), passes bytes both ways,
// keeps what was said, answers on a socket, and leaves nothing running behind. It
// is to a pane what a shim is to a container, and knows nothing of teams.
//
// Who may wait for whom: the program's output waits for the pane's terminal and
// for nobody else. The screen model and the viewers read a ring of the last output
// at their own pace; the model skips what it missed, a viewer that falls behind is
// cut. What is typed goes through one bounded queue, one writer after the other,
// and waits for the program; whoever types waits no longer than its context.
//
// Every process below carries the host's id in its environment (signals.Mark), and
// the host is a subreaper: that and descent are the proof by which it ends them.
package host

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
)

// How long the rungs of the ladder take when a program leaves others behind.
const (
	DefaultTerm = 5 * time.Second
	DefaultKill = 2 * time.Second
)

// Options are what a Host is made of.
type Options struct {
	ID         string      // marks every process started here (signals.Mark); required
	Socket     string      // path of the control socket, see Listen; "" = none, or not yet
	Terminal   *os.File    // the pane's terminal, in and out; nil = headless
	Transcript *Transcript // nil = none; closed by Close
	Screen     bool        // keep a model of the screen, for programs that draw one

	// Variables are K=V that are told on the socket by name, to whoever may connect: the
	// owner of the host alone, who could read them from the processes as well.
	Variables []string

	Log *slog.Logger // nil = none
}

// Host is the parent of a program in a pane. Its methods may be used by several
// goroutines at once.
type Host struct {
	opt      Options
	self     signals.Identity
	terminal *terminal // nil when headless
	out      *output
	screen   *screen // nil without
	server   *server // nil without
	started  time.Time
	term     time.Duration // DefaultTerm, but in tests

	ending chan struct{} // one token: one ladder at a time
	input  *inputState

	mu            sync.Mutex
	shown         Shown
	settled       bool // see Settle
	rows, cols    int
	running       bool          // a Run is between its start and its end
	program       *program      // what runs, nil if nothing does
	statusChanged chan struct{} // closed at the next change of what the status shows, see notify
	exit          *Exit         // how the last one ended
	killed        bool          // TERM was not enough since it began to close
	cause         string
	recorded      bool // see Recorded
	closing       chan struct{}

	closed  chan struct{}  // by Close
	arrived chan os.Signal // what endings names
	stop    context.CancelFunc
	live    func(func(context.Context)) // runs something until Close
	tasks   sync.WaitGroup
	once    sync.Once
}

// New takes the terminal over, becomes a subreaper, takes HUP, TERM and INT of this
// process (see Closing), and listens on the socket. Close undoes it.
func New(o Options) (*Host, error) {
	if o.ID == "" || strings.ContainsAny(o.ID, "\x00\n") {
		return nil, fault.New(fault.InvalidArgument, "a host needs an id without line breaks, not %q", o.ID)
	}
	self, err := signals.Self()
	if err != nil {
		return nil, fault.New(fault.Failed, "start the host: %w", err)
	}
	if err := signals.Subreaper(); err != nil {
		return nil, fault.New(fault.Failed, "start the host: %w", err)
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	h := &Host{
		opt: o, self: self, started: time.Now(), term: DefaultTerm,
		ending: make(chan struct{}, 1), input: newInputState(),
		statusChanged: make(chan struct{}), closing: make(chan struct{}), closed: make(chan struct{}),
		out: &output{transcript: o.Transcript, ring: newRing(ringSize), modes: newModes()},
	}
	h.rows, h.cols = plausible(0, 0)
	h.arrived = takeSignals()
	if o.Terminal != nil {
		if h.terminal, err = openTerminal(o.Terminal); err != nil {
			h.Close()
			return nil, err
		}
		h.out.terminal = h.terminal
		if rows, cols, err := h.terminal.size(); err == nil {
			h.rows, h.cols = plausible(rows, cols)
		}
	}
	if o.Screen {
		h.screen = newScreen(h.out.ring, h.rows, h.cols, h.answers())
	}
	h.begin()
	if o.Socket != "" {
		if err := h.Listen(o.Socket); err != nil {
			h.Close()
			return nil, err
		}
	}
	return h, nil
}

// Listen opens the control socket, at a path of at most 100 bytes, and answers on it until
// Close. A host that was made without one may call it later, once.
func (h *Host) Listen(path string) error {
	s, err := listen(h, path)
	if err != nil {
		return err
	}
	h.server = s
	h.live(s.run)
	return nil
}

// begin starts the goroutines that live as long as the Host.
func (h *Host) begin() {
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.live = func(f func(context.Context)) { h.tasks.Go(func() { f(ctx) }) }
	h.live(func(ctx context.Context) { _ = signals.ReapOrphans(ctx) })
	h.live(h.watchSignals)
	if h.screen != nil {
		h.live(h.screen.run)
	}
	if h.terminal != nil {
		h.live(func(ctx context.Context) { h.terminal.followSize(ctx, h.resize) })
		go h.readPane() // a terminal that cannot be polled holds it until the process ends
	}
}

// endings are the signals that end a process, each with the cause it stands for.
func endings() map[os.Signal]string {
	return map[os.Signal]string{
		syscall.SIGHUP: CausePaneClosed, syscall.SIGTERM: CauseTerminated, syscall.SIGINT: CauseInterrupted,
	}
}

// takeSignals begins to catch them. That is done before anybody can know of the
// host: one that came earlier would end it and leave its program running.
func takeSignals() chan os.Signal {
	arrived := make(chan os.Signal, len(endings()))
	signal.Notify(arrived, slices.Collect(maps.Keys(endings()))...)
	return arrived
}

// watchSignals turns them into a reason to close.
func (h *Host) watchSignals(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-h.arrived:
			h.opt.Log.Info("signal", "signal", sig.String())
			h.close(endings()[sig])
		}
	}
}

// readPane hands what a person types in the pane to the program.
func (h *Host) readPane() {
	keys := newKeyboard()
	buf := make([]byte, 4096)
	for {
		n, err := h.terminal.file.Read(buf)
		if n > 0 {
			typed, _ := keys.read(buf[:n])
			h.fromPerson(context.Background(), buf[:n], typed)
		}
		if err != nil {
			if !errors.Is(err, os.ErrClosed) { // by Close
				h.close(CausePaneClosed)
			}
			return
		}
	}
}

// fromPerson passes on what comes from a person's terminal. A job without a terminal
// obeys the interrupt key alone, as it would in front of a shell.
func (h *Host) fromPerson(ctx context.Context, p []byte, t typing) {
	if t.human {
		defer h.input.enter(ctx)()
		h.input.note(t)
	}
	h.mu.Lock()
	prog := h.program
	h.mu.Unlock()
	switch {
	case prog == nil:
	case prog.queue != nil:
		prog.queue.feed(ctx, append([]byte(nil), p...))
	case strings.IndexByte(string(p), 3) >= 0: // ctrl-c
		if p, err := signals.Own(prog.id.PID); err == nil {
			_ = p.Signal(syscall.SIGINT)
		}
	}
}

// close gives the reason to close; only the first one counts.
func (h *Host) close(cause string) { h.shutDown(cause, false) }

// shutDown is close, and says whether who asked for it writes the end down.
func (h *Host) shutDown(cause string, recorded bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == "" {
		h.cause, h.recorded = cause, recorded
		close(h.closing)
	}
}

// Recorded tells whether who asked for the shutdown tells all others of the end.
func (h *Host) Recorded() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recorded
}

// Closing is closed when the host has to end: the pane was closed, TERM or INT
// came, or a shutdown was requested. It is for the caller to End what runs; a
// shutdown request does so by itself.
func (h *Host) Closing() <-chan struct{} { return h.closing }

// Cause says why, "" while Closing is open: one of the Cause constants, or the
// reason given with a shutdown.
func (h *Host) Cause() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause
}

// SetState says what the status shows.
func (h *Host) SetState(s Shown) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shown == s {
		return
	}
	h.shown = s
	h.notify()
}

// notify wakes those who follow the status. Called with h.mu held.
func (h *Host) notify() {
	close(h.statusChanged)
	h.statusChanged = make(chan struct{})
}

// Write puts the host's own lines on the pane and into the transcript. It waits
// for a pane that takes no output for a second at most, and never fails.
func (h *Host) Write(p []byte) (int, error) {
	h.out.put(withReturns(p), hostWriteLimit)
	return len(p), nil
}

// Close gives the terminal back as it was, answers no more, and closes the
// transcript. It ends no program: see End. It may be called more than once.
func (h *Host) Close() error {
	var err error
	h.once.Do(func() {
		close(h.closed)
		h.out.ring.close() // viewers get the rest
		if h.server != nil {
			h.server.close()
		}
		if h.stop != nil {
			h.stop()
		}
		if h.terminal != nil {
			h.terminal.close()
		}
		h.tasks.Wait()
		signal.Stop(h.arrived)
		if h.out.transcript != nil {
			err = h.out.transcript.Close()
		}
	})
	return err
}
