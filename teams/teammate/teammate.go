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
