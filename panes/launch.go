package panes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
)

// Launch asks for one host in a pane of its own.
type Launch struct {
	Record LaunchRecord // Host, Team, Agent, Kind, ... ; Socket, Backend, Terminal, Beside and EnvFile are filled in; one that is started again names those from before
	Env    []string     // the complete environment, terminal variables excepted
	Label  backend.Label
	Ready  time.Duration // how long the host may take to answer
	ByLead bool          // the process that leads the team asks for it

	before *LaunchRecord // of the one who had the name before
}

// Launched is what became of a Launch.
type Launched struct {
	Pane backend.Pane
	Err  error // nothing is left of it, if not nil
}

// Launch opens panes and starts hosts in them, all at once, and waits until each answers. What
// fails is undone: its pane and its records go. order is that of the team's agents in a window.
func (m *Manager) Launch(ctx context.Context, layout Layout, order []string, launches []Launch) []Launched {
	out := make([]Launched, len(launches))
	all := make([]launching, len(launches))
	for i := range launches {
		all[i] = launching{&launches[i], &out[i]}
	}
	choice, err := m.where(ctx, launches[0].Record)
	if err == nil {
		err = files.MakePrivate(m.opt.Runtime)
	}
	if err != nil {
		failPending(all, err)
		return out
	}
	prepared, first := make(chan struct{}), launches[0]
	go func() { // while the terminal is asked what is there
		defer close(prepared)
		each(len(all), func(i int) {
			l := all[i]
			l.Record.Backend, l.Record.Terminal = choice.Type, choice.Socket
			l.Err = m.prepare(ctx, l.Launch)
		})
	}()
	m.open(ctx, choice, layout, order, first, all, prepared)
	m.awaitAll(ctx, choice, all)
	return out
}

// launching is a Launch with what has become of it by now.
type launching struct {
	*Launch
	*Launched
}

// pending are those that have not failed.
func pending(all []launching) []launching {
	return slices.DeleteFunc(slices.Clone(all), func(l launching) bool { return l.Err != nil })
}

func failPending(all []launching, err error) {
	for _, l := range pending(all) {
		l.Err = err
	}
}

// awaitAll waits for the hosts, undoes what has failed, and makes the records of the others
// durable.
func (m *Manager) awaitAll(ctx context.Context, choice Choice, all []launching) {
	each(len(all), func(i int) {
		l := all[i]
		if errors.Is(l.Err, fault.SpawnFailed) { // the pane went before it was marked: its host knows more
			if done, ended := m.earlyEnd(ctx, *l.Launch); done {
				l.Err = ended
			}
		} else if l.Err == nil {
			l.Err = m.await(ctx, choice, *l.Launch, l.Pane)
		}
		if l.Err != nil {
			m.Undo(ctx, *l.Launch, l.Pane)
		}
	})
	running, agents := pending(all), []string(nil)
	for _, l := range running {
		agents = append(agents, l.Record.Agent)
	}
	if err := m.records.syncLaunches(all[0].Record.Team, agents); err != nil {
		each(len(running), func(i int) {
			running[i].Err = fmt.Errorf("write the launch record: %w", err)
			m.Undo(ctx, *running[i].Launch, running[i].Pane)
		})
	}
}

// each calls f for 0..n-1, all at once, and waits for all.
func each(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// WriteLaunch writes what the host of a foreign member will read: its pane is there already, and the
// caller runs in it. Record.ForeignPane says which.
func (m *Manager) WriteLaunch(ctx context.Context, l *Launch) error {
	if err := files.MakePrivate(m.opt.Runtime); err != nil {
		return err
	}
	if err := m.prepare(ctx, l); err != nil {
		return err
	}
	return m.records.syncLaunches(l.Record.Team, []string{l.Record.Agent})
}

// prepare writes what the host will read. syncLaunches makes it durable.
func (m *Manager) prepare(ctx context.Context, l *Launch) error {
	r := &l.Record
	r.Socket = m.SocketPath(r.Team, r.Agent)
	r.LaunchedAt = time.Now()
	r.Deadline = r.LaunchedAt.Add(placeLimit + l.Ready + launchGrace)
	if before, err := m.records.Launch(ctx, r.Team, r.Agent); err == nil {
		l.before = &before
	}
	r.EnvFile = filepath.Join(m.runDir(), "env-"+r.Host)
	for _, kv := range l.Env {
		name, _, _ := strings.Cut(kv, "=")
		r.EnvNames = append(r.EnvNames, name)
	}
	if err := m.writeSecret(r.EnvFile, EncodeEnvironment(l.Env)); err != nil {
		return fmt.Errorf("hand over the environment: %w", files.Explain("write", r.EnvFile, err))
	}
	if err := m.records.writeLaunchSoon(ctx, *r); err != nil {
		return fmt.Errorf("write the launch record: %w", err)
	}
	return nil
}

// writeSecret writes a file in the run folder that nobody else can read and that
// was not there. Who tidies up may remove the empty folder between its making and
// its use: then it is made again.
func (m *Manager) writeSecret(path string, data []byte) error {
	var f *os.File
	err := error(syscall.ENOENT)
	for try := 0; try < 5 && errors.Is(err, syscall.ENOENT); try++ {
		if err := os.MkdirAll(m.runDir(), 0o700); err != nil {
			return err
		}
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// open places and opens the panes under the terminal's lock, those that are
// prepared by then. first is the first launch, which is being prepared, as it was before.
func (m *Manager) open(ctx context.Context, c Choice, layout Layout, order []string, first Launch, all []launching, prepared <-chan struct{}) {
	release, err := m.lockTerminal(ctx, c)
	if err != nil {
		<-prepared
		failPending(all, err)
		return
	}
	defer release()
	view, err := m.view(ctx, c, first.Record.Team, first)
	if <-prepared; err != nil {
		failPending(all, fmt.Errorf("look at the terminal: %w", err))
		return
	}
	set := pending(all)
	if len(set) == 0 {
		return // nothing could be prepared
	}
	m.noteLead(ctx, view.Lead, set)
	specs, whose, arrangements := Place(layout, view, len(set))
	for i := range specs {
		l := set[whose[i]]
		r, s := l.Record, &specs[i]
		s.Argv = []string{m.opt.Executable, "teammate", "--team", r.Team, "--agent", r.Agent, "--base-dir", m.opt.Base}
		s.Dir, s.Name, s.Mark, s.Label = r.Dir, r.Team, m.mark(r.Team, r.Agent, r.Host), l.Label
	}
	note := func(results []backend.Result) {
		for i, result := range results {
			l := set[whose[i]]
			l.Pane = result.Pane
			if result.Err != nil {
				l.Err = fmt.Errorf("teammate %s of team %s: %w", l.Record.Agent, l.Record.Team, result.Err)
			}
		}
	}
	note(openArranged(ctx, c.Backend, specs, func(results []backend.Result) (layouts []backend.Layout) {
		note(results)
		for _, a := range arrangements {
			if a.Window == "" {
				a.Window = results[a.Opens].Pane.Window
			}
			if a.Window != "" {
				if len(view.Ours) > 0 { // else they stand in this order
					a.Order = inOrder(order, view.Ours, all)
				}
				layouts = append(layouts, a.Layout)
			}
		}
		return layouts
	}))
}

// arranger is a backend that lays windows out with the panes that it opens in them.
type arranger interface {
	OpenArranged(ctx context.Context, specs []backend.Spec, layouts func([]backend.Result) []backend.Layout) []backend.Result
}

// openArranged opens panes and lays out the windows that layouts names, given the results.
func openArranged(ctx context.Context, b backend.Backend, specs []backend.Spec, layouts func([]backend.Result) []backend.Layout) []backend.Result {
	if a, ok := backend.As[arranger](b); ok {
		return a.OpenArranged(ctx, specs, layouts)
	}
	results := b.Open(ctx, specs)
	_ = b.Arrange(ctx, layouts(results)...) // panes that are not evenly sized are no reason to fail
	return results
}

// early is a backend that can get ready for a launch before it is told what to open. release
// takes back what nobody has used.
type early interface {
	Ahead(ctx context.Context) (release func())
}

// GetReady lets the terminal get ready in the background for the launch of a new team, and
// makes the files of its members' locks. done waits for that, and takes back what no launch has used.
func (m *Manager) GetReady(ctx context.Context, team string, agents []string) (done func()) {
	var asked sync.WaitGroup
	asked.Go(func() {
		for _, agent := range agents {
			_ = lock.Make(m.opt.Dir, memberLock(team, agent)) // whoever takes it tries again
		}
	})
	release := func() {}
	asked.Go(func() {
		c, err := m.Choice(ctx)
		if err != nil {
			return // the launch says so
		}
		if a, ok := backend.As[early](c.Backend); ok && files.MakePrivate(m.opt.Runtime) == nil { // our own socket stands there
			release = a.Ahead(ctx)
		}
	})
	return func() {
		asked.Wait()
		release()
	}
}

// view gathers what Place needs to know.
func (m *Manager) view(ctx context.Context, c Choice, team string, l Launch) (View, error) {
	s, err := surroundings(ctx, c.Backend)
	v := View{Lead: s.Self, Window: s.Window}
	for _, p := range s.Ours {
		if p.Mark.Base == m.baseKey && p.Mark.Team == team {
			v.Ours = append(v.Ours, p)
		}
	}
	if err == nil {
		m.stay(ctx, c, l, &v)
	}
	return v, err
}

// looker tells with one look what List and Self would tell with two.
type looker interface {
	Look(ctx context.Context) (backend.Surroundings, error)
}

// surroundings looks around, once if the backend can; else both questions are asked at
// the same time, since each may be a program to run.
func surroundings(ctx context.Context, b backend.Backend) (s backend.Surroundings, err error) {
	if l, ok := backend.As[looker](b); ok {
		return l.Look(ctx)
	}
	var errs [2]error
	each(2, func(i int) {
		if i == 0 {
			s.Ours, errs[0] = b.List(ctx)
			return
		}
		s.Here, errs[1] = b.Self(ctx)
	})
	return s, errors.Join(errs[:]...)
}

// lockTerminal takes the lock of one terminal server.
func (m *Manager) lockTerminal(ctx context.Context, c Choice) (release func(), err error) {
	return lock.In(ctx, m.opt.Runtime, "terminal-"+shortHash(c.Type+c.Socket)+".lock", "open panes", placeLimit)
}

// EarlyEnd says why an agent that was launched has failed already, nil if it has not.
func (m *Manager) EarlyEnd(ctx context.Context, l Launch) error {
	_, err := m.earlyEnd(ctx, l)
	return err
}

// earlyEnd reads from the host's record whether the agent has ended already. An
// agent that ended well was started and is done.
func (m *Manager) earlyEnd(ctx context.Context, l Launch) (bool, error) {
	rec, err := m.records.Host(ctx, l.Record.Team, l.Record.Agent)
	if err != nil || rec.Host != l.Record.Host || rec.Ended == nil {
		return false, nil
	}
	e := rec.Ended
	if e.State != "failed" {
		return true, nil
	}
	code := fault.SpawnFailed
	if e.Code != "" {
		code = fault.Code(e.Code)
	}
	msg := fmt.Sprintf("teammate %s of team %s: %s %s", l.Record.Agent, l.Record.Team, commandOf(l.Record), e.Reason)
	if len(e.Tail) > 0 {
		msg += "; its last lines: " + strings.Join(e.Tail, " | ")
	}
	return true, fault.New(code, "%s", msg).WithHint("%s", cmp.Or(e.Hint, "run the command by hand in "+l.Record.Dir+" to see why"))
}

func commandOf(r LaunchRecord) string {
	if len(r.Argv) == 0 {
		return r.Profile
	}
	s := strings.Join(r.Argv, " ")
	if len(s) > 120 {
		s = s[:117] + "..."
	}
	return fmt.Sprintf("%q", s)
}

// Undo removes what a launch left that has failed, or after which something else has, and
// puts back the record of whoever had the name before.
func (m *Manager) Undo(ctx context.Context, l Launch, pane backend.Pane) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*terminalLimit)
	defer cancel()
	r := l.Record
	s := m.Stopper(time.Second, 2*time.Second)
	s.prove = m.launched
	s.endAndClose(ctx, Target{Team: r.Team, Agent: r.Agent, Host: r.Host, Backend: r.Backend, Terminal: r.Terminal, Pane: pane.ID})
	if f, err := m.envFile(r.Host); err == nil {
		_ = f.Remove()
	}
	if rec, err := m.records.Launch(ctx, r.Team, r.Agent); err == nil && rec.Host == r.Host {
		if err := m.records.Forget(r.Team, r.Agent); err == nil && l.before != nil {
			_ = m.records.WriteLaunch(ctx, *l.before) // only a later restart would miss it
		}
	}
	m.TidyRun(ctx)
}
