// Package teammate runs a teammate on its host: it reads the launch record, runs the
// agent (or, for a worker, one command per task), delivers mail, answers shutdown
// requests, records the exit and notifies the lead. It runs inside the pane, in the
// process that leadlight started there, and acts in the teammate's own name.
package teammate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// Options is what a teammate needs to run.
type Options struct {
	Team, Agent string
	Dir         *files.Dir     // the base directory
	Service     *teams.Service // acting as this teammate
	Panes       *panes.Manager
	Terminal    *os.File // the pane's terminal; nil: there is none
	Environ     []string // of this process: what the pane's terminal set
	Log         *slog.Logger
}

// maxTranscript is the size at which a transcript is rotated, in bytes. Two files
// of it are kept.
const maxTranscript = 16 << 20

// teammate is one running teammate.
type teammate struct {
	o      Options
	launch panes.LaunchRecord
	record panes.HostRecord
	env    []string
	host   *host.Host
	label  *labeller
	agreed atomic.Bool // it was ended because it had agreed
	asked  atomic.Bool // its way to quit was used to end it, and nothing was handed to it since
	lifted atomic.Bool // it is ended because its plan is approved, and starts again to carry it out
	goesOn bool        // its program was started to go on with its conversation
	began  time.Time   // when its program was started
	opened string      // the session that an agent has opened, "" for none
	unsure time.Time   // when a worker's claim began that failed, and may have been done; zero: none

	writeFor time.Duration           // how long it tries to write down what came of a task; 0: writeLimit
	brought  map[string]func() error // tasks that it has carried out, and what writes down what came of them; nil: nothing can

	giving sync.Mutex
	given  map[string]bool // messages that it was given while that could not be written down

	announced    bool
	showing      sync.Mutex // one state after the other; guards label and shown until the host is announced
	shown        string     // the state
	terminalDied *bool      // whether its pane is gone because the whole terminal is; nil: not asked
}

// Run runs a teammate and returns the exit status of its process:
// 0 when it was stopped or its agent ended well, so that the pane closes.
func Run(ctx context.Context, o Options) (int, error) {
	m := &teammate{o: o}
	var err error
	if m.launch, err = o.Panes.Records().Launch(ctx, o.Team, o.Agent); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fault.New(fault.MemberNotFound, "teammate %s of team %s was not launched", o.Agent, o.Team).
				WithHint("this verb is run by leadlight spawn, not by hand")
		}
		return fault.ExitOf(err), err
	}
	held, err := lock.Acquire(ctx, o.Dir, panes.HostLock(o.Team, o.Agent), "teammate", 5*time.Second)
	if err != nil {
		return fault.ExitOf(err), fmt.Errorf("one member, one host: %w", err)
	}
	defer held.Release()
	if m.env, err = readEnvironment(m.launch.EnvFile); err != nil {
		return m.end(ctx, failed(err))
	}
	m.env = panes.WithTerminal(m.env, o.Environ)
	if err = m.open(); err == nil && m.launch.Kind == profiles.Worker {
		err = m.announce(ctx)
	}
	if err != nil {
		return m.end(ctx, failed(err))
	}
	if m.launch.Kind == profiles.Worker {
		return m.end(ctx, m.work(ctx))
	}
	return m.end(ctx, m.supervise(ctx))
}

// readEnvironment reads the values that were handed over.
func readEnvironment(path string) ([]string, error) {
	data, err := files.ReadFile(path, 0)
	if err != nil {
		return nil, fmt.Errorf("take the environment over: %w", err)
	}
	return panes.DecodeEnvironment(data), nil
}

// open starts the host.
func (m *teammate) open() error {
	o, l := m.o, m.launch
	m.record = panes.HostRecord{Host: l.Host, Socket: l.Socket, StartedAt: time.Now(), Pane: paneOf(l.Backend, o.Environ)}
	var err error
	if m.record.Process, err = signals.Self(); err != nil {
		return fmt.Errorf("identify the host: %w", err)
	}
	if err := o.Dir.MkdirAll(panes.OwnPath(o.Team, "transcripts")); err != nil {
		return fmt.Errorf("make the folder of transcripts: %w", err)
	}
	transcript := host.NewTranscript(
		func(name string, flag int) (*os.File, error) { return o.Dir.OpenFile(name, flag) }, o.Dir.Rename,
		panes.TranscriptPath(o.Team, o.Agent), maxTranscript)
	m.host, err = host.New(host.Options{
		ID: l.Host, Terminal: o.Terminal, Transcript: transcript,
		Screen: l.Kind != profiles.Worker, Log: o.Log, Variables: m.env,
	})
	if err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	return nil
}

// show sets the state that others observe, on the socket and on the pane.
func (m *teammate) show(state, task, reason string) {
	m.showAll(host.Shown{State: state, Task: task, Reason: reason})
}

func (m *teammate) showAll(s host.Shown) {
	m.showing.Lock()
	defer m.showing.Unlock()
	if m.closing() && s.State != api.StateStopping {
		return // whoever looks at the program meanwhile does not hide that it ends
	}
	m.shown = s.State
	m.host.SetState(s)
	m.label.show(s.State)
}

// supervise runs the one program of a teammate that is not a worker, types mail into
// it if that is how it is spoken to, and starts it again where the policy says so.
func (m *teammate) supervise(ctx context.Context) panes.ExitRecord {
	stop := m.endOnClosing(ctx)
	defer stop()
	m.o.Service = m.o.Service.WithEnviron(m.launch.Dir, m.env, m.host.Closing()) // hooks inherit what it has
	argv, resume := m.launch.Argv, m.launch.GoOn
	for again := 0; ; again++ {
		if resume {
			argv = m.launch.Resume
		}
		m.goesOn, m.began = resume, time.Now()
		m.show(api.StateActive, "", "")
		exit, err := m.runOnce(ctx, argv, resume)
		if err != nil {
			return failed(err)
		}
		m.refresh(ctx)
		m.noteSession(ctx, exit)
		if m.lifted.Swap(false) && !m.closing() && !m.agreed.Load() {
			m.print("the plan of %s is approved: it is started again, and may do more", m.o.Agent)
			argv, resume, again = m.launch.Argv, m.launch.CanResume(), -1
			continue
		}
		ended := m.ended(exit)
		lived := time.Since(m.began)
		if lived > steady {
			again = 0
		}
		if resume && m.launch.Kind != profiles.ACP && !m.closing() && !m.agreed.Load() && noConversation(ended, m.host.Tail(sessionLines), lived) {
			m.startNewConversation(ctx, ended)
			argv, resume = m.launch.Argv, false
			continue
		}
		if !m.waitRestart(ctx, &ended, again) {
			return ended
		}
		if err := m.o.Service.FreeTasks(ctx, m.o.Team, m.o.Agent, ended.State); err != nil { // it will not go on by itself
			m.print("its tasks could not be given back: %v", err)
		}
		if err := m.o.Service.CloseQuestions(ctx, m.o.Team); err != nil {
			m.o.Log.Warn("close its questions", "error", err)
		}
		argv, resume = m.launch.Argv, m.launch.CanResume()
	}
}

// runOnce runs the program once, with its mail; goOn: with the conversation it had.
func (m *teammate) runOnce(ctx context.Context, argv []string, goOn bool) (host.Exit, error) {
	delivering, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	if m.launch.Kind == profiles.Interactive && m.launch.PromptProtocol != nil {
		helpers.Go(func() { m.deliver(delivering) })
	}
	if m.launch.Kind != profiles.Native { // those end by themselves
		helpers.Go(func() { m.endAgreed(delivering) })
	} else if m.launch.ForeignPane == "" {
		helpers.Go(func() { m.awaitReader(delivering, patience) })
	}
	if m.launch.Kind == profiles.ACP {
		return m.converse(ctx, &helpers, argv, goOn)
	}
	return m.host.Run(ctx, host.Command{Argv: argv, Dir: m.launch.Dir, Env: m.env, Started: func() error {
		m.othersFirst(ctx)
		return m.announce(ctx)
	}})
}

// endAgreed ends a program that has agreed to be shut down and does not go: whoever asked
// may not wait for it, and another lead treats the approval as the exit.
func (m *teammate) endAgreed(ctx context.Context) {
	tick := time.Tick(time.Second)
	for agreed := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if agreed { // it has had the time between two ticks
			m.agreed.Store(true)
			if _, err := m.host.End(context.WithoutCancel(ctx), termLimit, killLimit); err != nil {
				m.o.Log.Error("end the program", "error", err)
			}
			return
		}
		agreed = m.o.Service.Agreed(ctx, m.o.Team, m.record.Host)
	}
}

// Limits of TERM and KILL when nobody gave others: the pane was closed by hand, or
// the host got a signal.
const (
	termLimit = 5 * time.Second
	killLimit = 2 * time.Second
)

// endOnClosing takes the program down when the host has to go. After a request
// over the socket the host does it itself, with the limits of the request.
func (m *teammate) endOnClosing(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	launch := m.launch // it changes when the program has ended
	var ended sync.WaitGroup
	ended.Go(func() {
		select {
		case <-m.host.Closing():
			cause := m.host.Cause()
			m.show(api.StateStopping, "", cause)
			if cause == host.CausePaneClosed {
				ended.Go(func() { m.terminalDied = new(m.o.Panes.TerminalDied(ctx, launch)) }) // now: later there may be a new one
			}
			if cause != host.CausePaneClosed && cause != host.CauseTerminated && cause != host.CauseInterrupted {
				return
			}
			if _, err := m.host.End(context.WithoutCancel(ctx), termLimit, killLimit); err != nil {
				m.o.Log.Error("end the program", "error", err)
			}
		case <-done:
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// closing tells whether the host has to go.
func (m *teammate) closing() bool {
	select {
	case <-m.host.Closing():
		return true
	default:
		return false
	}
}

// ended says how the agent ended.
func (m *teammate) ended(exit host.Exit) panes.ExitRecord {
	e := panes.ExitRecord{State: api.StateStopped, ExitCode: &exit.Code, Signal: exit.Signal, Leftovers: exit.Leftovers, At: time.Now()}
	closing := m.closing()
	switch {
	case closing:
		e.Reason = m.host.Cause()
	case m.agreed.Load():
		e.Reason = "agreed to shut down"
	case exit.Signal != "":
		e.Reason = "was ended by " + exit.Signal
	default:
		e.Reason = fmt.Sprintf("exited with %d", exit.Code)
	}
	if (exit.Signal != "" || exit.Code != 0) && !closing && !m.agreed.Load() && !m.asked.Load() {
		e.State = api.StateFailed
	}
	if e.State == api.StateFailed {
		e.Tail = lastLines(m.host.Tail(5))
	}
	return e
}

func failed(err error) panes.ExitRecord {
	f := fault.Of(err)
	return panes.ExitRecord{State: api.StateFailed, Reason: "did not start: " + f.Message, Code: string(f.Code), Hint: f.Hint, At: time.Now()}
}

// end records the exit, notifies the lead and closes the host. The record comes
// first: whoever looks from then on sees an exit, not a lost host.
func (m *teammate) end(ctx context.Context, e panes.ExitRecord) (int, error) {
	ctx = context.WithoutCancel(ctx)
	if m.terminalDied == nil && m.host != nil && m.closing() && m.host.Cause() == host.CausePaneClosed {
		m.terminalDied = new(m.o.Panes.TerminalDied(ctx, m.launch))
	}
	if m.terminalDied != nil && *m.terminalDied {
		e.State, e.Reason = api.StateLost, "its terminal has ended"
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	e.At = time.Now()
	e.Untold = m.host != nil && m.host.Recorded() && e.State == api.StateStopped
	m.record.Ended = &e
	if m.record.Host == "" {
		m.record.Host, m.record.Socket, m.record.StartedAt = m.launch.Host, m.launch.Socket, time.Now()
		m.record.Process, _ = signals.Self()
	}
	errs := []error{m.o.Panes.Records().WriteHost(ctx, m.o.Team, m.o.Agent, m.record)}
	if !e.Untold {
		errs = append(errs, m.tellOthers(ctx, e))
	}
	if m.host != nil {
		if !m.announced { // nothing was started
			errs = append(errs, m.removeEnvironment())
		}
		if e.State == api.StateFailed {
			m.print("%s %s; leadlight logs %s shows all of it", m.o.Agent, e.Reason, m.o.Agent)
		}
		m.label.close(e.State)
		m.keepAfterFailure(e)
		errs = append(errs, m.host.Close())
	}
	code := 0
	if e.State == api.StateFailed && (m.launch.LedByUs || m.launch.ForeignPane != "") { // another lead's roster forgets ours, so its pane goes, too
		if code = 1; e.ExitCode != nil && *e.ExitCode > 0 {
			code = *e.ExitCode
		}
	}
	switch {
	case m.closedForUs(e):
		code = keepPane
	case code == 0 || panes.Lingers(m.launch.Backend): // else the pane stays, to be read
		m.o.Panes.Leave(ctx, m.launch, backend.ID(m.record.Pane))
	}
	return code, errors.Join(errs...)
}

// keepPane is an exit status with which a pane stays.
const keepPane = 1

// closedForUs tells whether who ends this host closes its pane, together with those of the
// set: a pane that went by itself would make the terminal arrange the others again.
func (m *teammate) closedForUs(e panes.ExitRecord) bool {
	return e.Untold && m.launch.ForeignPane == "" && !panes.Lingers(m.launch.Backend)
}

// tellOthers writes the end into the roster and tells the lead of it.
func (m *teammate) tellOthers(ctx context.Context, e panes.ExitRecord) error {
	var errs []error
	spawners := m.spawnerReports(ctx, e)
	if !spawners {
		errs = append(errs, m.notifyEnd(ctx, e)) // while the roster, which may forget us, still names us
	}
	before, err := m.o.Service.RecordExit(ctx, m.o.Team, m.o.Agent, m.launch.Host, e)
	if errs = append(errs, err); spawners && before != "" && before != api.StateStarting { // it has just said that all is well
		errs = append(errs, m.notifyEnd(ctx, e))
	}
	return errors.Join(errs...)
}

// keepAfterFailure keeps a host after a failure where the terminal does not keep the pane: its screen can be read until it is sent away. One that failed at once is the
// spawner's to report, and another lead's roster forgets it.
func (m *teammate) keepAfterFailure(e panes.ExitRecord) {
	if !panes.Lingers(m.launch.Backend) || e.State != api.StateFailed || e.Code != "" || !m.launch.LedByUs {
		return
	}
	m.host.SetState(host.Shown{State: e.State, Reason: e.Reason})
	<-m.host.Closing()
}

// spawnerReports tells whether whoever starts this teammate still watches it and will say
// that it has failed.
func (m *teammate) spawnerReports(ctx context.Context, e panes.ExitRecord) bool {
	return e.State == api.StateFailed && m.launch.ForeignPane == "" && m.o.Service.BeingStarted(ctx, m.o.Team)
}

// notifyEnd tells the lead that its teammate has ended. The lead of a foreign member is
// told of failures only: it sees the rest itself.
func (m *teammate) notifyEnd(ctx context.Context, e panes.ExitRecord) error {
	if m.launch.ForeignPane != "" && e.State != api.StateFailed {
		return nil
	}
	return m.o.Service.TellEnd(ctx, m.o.Team, e)
}
