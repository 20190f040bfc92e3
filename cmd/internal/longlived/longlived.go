// Package longlived is what leadlightd does and leadlight cannot: it puts together the
// daemon, the server of tools for models and the dashboard from what the command line gives.
package longlived

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"

	"github.com/leadlight-dev/leadlight/cmd/internal/cli"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/daemon"
	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/cmd/internal/engine"
	"github.com/leadlight-dev/leadlight/cmd/internal/mcp"
	"github.com/leadlight-dev/leadlight/cmd/internal/scheduler"
	"github.com/leadlight-dev/leadlight/cmd/internal/tui"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/db"
	"github.com/leadlight-dev/leadlight/teams/runs"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

// Main is leadlightd: it runs the arguments after its own name and returns the exit status.
func Main(args []string, std cli.Stdio, environ []string) int {
	std.Err = cli.Lasting(std.Err)
	return cli.MainLongLived(cli.LongLived{Daemon: runDaemon, Engine: openEngine, Join: engine.Join, Check: db.Check, Schema: schema, MCP: serveTools, Top: showTeam, Choose: chooseTeam}, args, std, environ)
}

// parts is what other packages add to the daemon.
func parts(s *config.Settings, p dial.Paths) []daemon.Part {
	return []daemon.Part{{Component: runs.Component(), Methods: func(d daemon.Deps) []rpc.Method {
		return scheduler.New(scheduler.Options{
			DB: d.DB, Serve: d.Serve, Publish: d.Publish, Beside: d.Beside, Hold: d.Hold, Log: d.Log,
			Profiles: profiles.NewSet(s.Profiles), Models: s.Models, Limit: s.MaxParallel.V, Records: p.Records(),
		}).Methods()
	}}}
}

func runDaemon(ctx context.Context, p cli.DaemonParts) error {
	fs := p.Stores.Files
	return daemon.Run(ctx, daemon.Options{
		Paths: p.Paths, Version: p.Version, OnDemand: p.OnDemand, Current: p.Current, Parts: append(parts(p.Settings, p.Paths), engineParts(p.Engine, p.Current)...), Serve: p.Serve, Log: p.Log,
		Stores: daemon.Stores{Stores: p.Stores.Stores, Dir: fs.Dir(), Watcher: fs.Watcher(), Panes: p.Stores.Panes},
	})
}

func openEngine(p dial.Paths, m dial.Machine, version string, log *slog.Logger) (cli.Engine, error) {
	e, err := engine.Open(m, filepath.Dir(p.Socket), version, log)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// engineParts keeps the daemon of a machine that has joined an engine up, and serves it.
func engineParts(e cli.Engine, current func() bool) []daemon.Part {
	joined, ok := e.(*engine.Engine)
	if !ok {
		return nil
	}
	return []daemon.Part{{Methods: func(d daemon.Deps) []rpc.Method {
		d.Beside(func(ctx context.Context) {
			defer d.Hold()()
			joined.Run(ctx, current)
		})
		d.Beside(func(ctx context.Context) {
			joined.Answer(ctx, func(ctx context.Context, asked jetstream.Asked) (any, error) {
				svc, err := d.Serve()
				if err != nil {
					return nil, err
				}
				return svc.Answer(ctx, teams.Asked(asked))
			})
		})
		return joined.Methods()
	}}}
}

func schema(s *config.Settings, p dial.Paths) any {
	return rpc.SchemaOf(daemon.Methods(parts(s, p)), daemon.Notifications())
}

func serveTools(ctx context.Context, p cli.MCPParts) error {
	fs := p.Stores.Files
	server := mcp.New(mcp.Options{
		Source: watch.Source{Service: p.Service, Roster: p.Stores.Roster, Mail: p.Stores.Mail, Tasks: p.Stores.Tasks, Log: p.Log},
		Caller: p.Caller, Team: p.Settings.Team.V, Version: p.Version, Enabled: p.Enabled, Delegate: p.Delegate,
		Complete: func(spec *teams.SpawnSpec) { complete(p.Settings, spec) }, ShutDown: p.Settings.OnLeadExit.V == "shutdown",
		Hosts: func(ctx context.Context, team string) (<-chan struct{}, error) {
			return fs.Watcher().Watch(ctx, []string{fs.Dir().Join("leadlight/" + team + "/hosts")}, nil)
		},
	})
	if p.HTTP == "" {
		return server.Stdio(ctx, io.NopCloser(p.In), unclosed{p.Out})
	}
	l, err := net.Listen("tcp", p.HTTP)
	if err != nil {
		return fmt.Errorf("serve over HTTP: %w", err)
	}
	p.Token = cmp.Or(p.Token, rand.Text())
	if err := p.Announce("http://"+l.Addr().String()+mcp.Path, p.Token); err != nil {
		return errors.Join(err, l.Close())
	}
	return server.HTTP(ctx, l, p.Token)
}

// complete fills what a model leaves open. A type of agent that is the name of a profile
// means that profile.
func complete(s *config.Settings, spec *teams.SpawnSpec) {
	spec.Layout, spec.Profile = s.Layout(), s.Agent.V
	if slices.Contains(profiles.NewSet(s.Profiles).Names(), spec.AgentType) {
		spec.Profile = spec.AgentType
	}
	if spec.Model == "" && spec.Profile == s.Agent.V {
		spec.Model = s.Model.V
	}
}

// unclosed is standard output, which is not ours to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func chooseTeam(ctx context.Context, p cli.TopParts, list []api.TeamSummary) (string, error) {
	return tui.Choose(ctx, tui.Options{Environ: p.Environ, In: p.In, Out: p.Out}, list)
}

func showTeam(ctx context.Context, p cli.TopParts) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan tui.Change)
	go func() {
		defer close(changes)
		p.Changes(ctx, func(mail bool) error {
			select {
			case changes <- tui.Change{Mail: mail}:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
	}()
	return tui.Run(ctx, tui.Options{
		Service: p.Service, Team: p.Team, Program: p.Program, Environ: p.Environ, Inside: p.Inside, In: p.In, Out: p.Out, Changes: changes,
		Notify: map[string]tui.Notice{"bell": tui.Bell, "osc9": tui.Desktop}[p.Notify],
	})
}
