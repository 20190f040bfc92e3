package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func daemonCommand(a *app) *cobra.Command {
	return a.handOver(group("daemon", daemonRunCommand(a, runDaemonRun), plain(a, "daemon start", runDaemonStart), plain(a, "daemon stop", runDaemonStop),
		plain(a, "daemon status", runDaemonStatus), plain(a, "daemon schema", runDaemonSchema)))
}

// onDemandFlag marks a daemon that another verb has started.
const onDemandFlag = "on-demand"

func daemonRunCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	var onDemand bool
	c := command(a, "daemon run", run, &onDemand, takes(0, 0), noFiles)
	c.Flags().BoolVar(&onDemand, onDemandFlag, false, "end when nobody needs it")
	_ = c.Flags().MarkHidden(onDemandFlag) // fails only for a flag that is not there
	return c
}

// joined is where the daemon's things are, and what this machine has joined, nil if nothing.
func (a *app) joined() (dial.Paths, *dial.Machine, error) {
	p, err := a.daemonPaths()
	if err != nil {
		return p, nil, err
	}
	m, err := p.Joined()
	return p, m, err
}

// daemonPaths are those of the base directory in use.
func (a *app) daemonPaths() (dial.Paths, error) {
	s, err := a.set(nil)
	if err != nil {
		return dial.Paths{}, err
	}
	return dial.PathsOf(s.BaseDir.V, a.getenv), nil
}

func runDaemonRun(ctx context.Context, a *app, onDemand bool) error {
	a.environ = dial.Environ(a.environ)
	p, joined, err := a.joined()
	if err != nil {
		return err
	}
	engine, err := a.openEngine(p, joined)
	if err != nil {
		return err
	}
	c, err := a.compose(a.settings, teams.Caller{})
	if err != nil {
		return err
	}
	c.config.Cwd = "" // whoever calls is not where the daemon is
	if !onDemand {
		a.say("leadlight: the daemon of %s listens on %s; ^C ends it", p.Base, p.Socket)
	}
	err = a.long.Daemon(ctx, DaemonParts{
		Settings: a.settings, Paths: p, Version: version().Version, OnDemand: onDemand, Stores: c.stores(), Engine: engine, Current: func() bool { return p.Still(joined) }, Log: a.daemonLog(),
		Serve: func() (*teams.Service, error) { return c.serviceOf(teams.Caller{Name: store.Lead}), nil },
	})
	if errors.Is(err, context.Canceled) || isInterrupt(err) {
		return nil
	}
	return err
}

func (a *app) daemonLog() *slog.Logger {
	level := slog.LevelInfo
	if a.debugs() {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
}

// daemon reaches the daemon and starts one if there is none. The verb has one connection to it.
func (a *app) daemon(ctx context.Context) (*rpc.Client, error) {
	if a.conn != nil {
		return a.conn, nil
	}
	p, err := a.daemonPaths()
	if err != nil {
		return nil, err
	}
	c, log, err := a.reachDaemon(ctx, p)
	if log != "" {
		a.say("leadlight: started a daemon (log: %s)", log)
	}
	a.conn = c
	return c, err
}

// runningDaemon is daemon where one runs, else nil.
func (a *app) runningDaemon(ctx context.Context) (*rpc.Client, error) {
	p, err := a.daemonPaths()
	if err == nil && a.conn == nil {
		a.conn, err = dial.Connect(ctx, p, version().Version)
	}
	if errors.Is(err, dial.ErrNone) {
		return nil, nil
	}
	return a.conn, err
}

// hangUp ends the connection to the daemon; whoever asks it then gets another one.
func (a *app) hangUp() {
	if a.conn != nil {
		a.conn.Close()
		a.conn = nil
	}
}

// ask has the daemon carry a method out.
func ask[R any](ctx context.Context, a *app, method string, params any) (none R, err error) {
	c, err := a.daemon(ctx)
	if err != nil {
		return none, err
	}
	return rpc.Do[R](ctx, c, method, params)
}

// reachDaemon makes a connection, without a word; log is that of a daemon that it started.
func (a *app) reachDaemon(ctx context.Context, p dial.Paths) (c *rpc.Client, log string, err error) {
	program, err := a.besides(heavyProgram)
	if err != nil {
		return nil, "", err
	}
	c, started, err := dial.Start(ctx, p, version().Version, append([]string{program}, a.daemonArgs(p)...), a.longLivedEnviron())
	if started {
		log = p.Log()
	}
	return c, log, err
}

// daemonArgs start a daemon that sees what this process sees.
func (a *app) daemonArgs(p dial.Paths) []string {
	return append([]string{"daemon", "run", "--json", "--" + onDemandFlag, "--base-dir", p.Base}, a.passed("backend", "tmux-socket")...)
}

func runDaemonStart(ctx context.Context, a *app) error {
	if _, err := a.daemon(ctx); err != nil {
		return err
	}
	return a.daemonStatus(ctx)
}

func runDaemonStatus(ctx context.Context, a *app) error {
	p, err := a.daemonPaths()
	if err != nil {
		return err
	}
	c, err := a.runningDaemon(ctx)
	switch {
	case err != nil:
		return err
	case c == nil:
		if err := a.long.Check(ctx, p.Database()); err != nil {
			return fmt.Errorf("no daemon runs for %s, and %w", p.Base, err)
		}
		return fault.New(fault.Failed, "no daemon runs for %s", p.Base).WithHint("leadlight daemon start starts one; run, events and top start one, no other verb needs it")
	}
	return a.daemonStatus(ctx)
}

func (a *app) daemonStatus(ctx context.Context) error {
	s, err := ask[api.DaemonStatus](ctx, a, "daemon.status", nil)
	return a.answer(s, err, func(w io.Writer) { showDaemon(w, s) })
}

func showDaemon(w io.Writer, s api.DaemonStatus) {
	fmt.Fprintf(w, "daemon %d, up for %s\n", s.PID, (time.Duration(s.UptimeMs) * time.Millisecond).Round(time.Second))
	fields(w, 10, [][2]string{
		{"version", s.Version}, {"base", s.Base}, {"socket", s.Socket}, {"database", s.Database}, {"log", s.Log},
		{"sees", fmt.Sprintf("teams: %d, teammates: %d (live: %d), tasks: %d, messages: %d", s.Teams, s.Members, s.Live, s.Tasks, s.Mail)},
		{"watches by", s.Watching}, {"events", fmt.Sprint(s.Seq)}, {"clients", fmt.Sprint(s.Clients)}, {"last error", s.LastError},
	})
}

// daemonEnd bounds the wait for a daemon's end.
const daemonEnd = 10 * time.Second

func runDaemonStop(ctx context.Context, a *app) error {
	if err := a.leadOnly("stop the daemon"); err != nil {
		return err
	}
	c, err := a.runningDaemon(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		a.say("no daemon runs for %s", a.settings.BaseDir.V)
		return nil
	}
	pid, err := a.endDaemon(ctx, c, a.sayOpenRuns)
	if err == nil {
		a.say("daemon %d has ended", pid)
	}
	return err
}

// endDaemon ends the daemon, after before if that is not nil, and returns its pid. It may be
// gone, or end by itself, before it is told, and before its answer has come.
func (a *app) endDaemon(ctx context.Context, c *rpc.Client, before func(context.Context)) (pid int, err error) {
	defer a.hangUp()
	ctx, cancel := context.WithTimeout(ctx, daemonEnd)
	defer cancel()
	if before != nil {
		before(ctx)
	}
	return c.PID(), stopDaemon(ctx, c, c.PID())
}

// stopDaemon tells a daemon to end, and waits for that.
func stopDaemon(ctx context.Context, c *rpc.Client, pid int) error {
	id, err := signals.Identify(pid)
	if errors.Is(err, signals.ErrGone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stop the daemon: %w", err)
	}
	if err := c.Call(ctx, "daemon.stop", nil, nil); err != nil && !errors.Is(err, rpc.ErrHungUp) {
		return err
	}
	if err := id.Wait(ctx); err != nil {
		return fmt.Errorf("the daemon was told to stop: %w", err)
	}
	return nil
}

func runDaemonSchema(_ context.Context, a *app) error {
	return writeJSON(a.out, a.long.Schema(&config.Settings{}, dial.Paths{}), true)
}
