package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/spf13/cobra"
)

type topOptions struct{ Notify string }

func topCommand(a *app, run func(context.Context, *app, topOptions) error) *cobra.Command {
	o := topOptions{Notify: "off"}
	c := command(a, "top", run, &o, takes(0, 0), noFiles)
	c.Flags().Var(choice(&o.Notify, []string{"off", "bell", "osc9"}), "notify", "`off|bell|osc9`: call when a teammate waits for a person or fails (default off)")
	return a.handOver(c)
}

func runTop(ctx context.Context, a *app, o topOptions) error {
	if a.json {
		return usage("the dashboard is for a person: --json is not for it").WithHint("leadlight ps --json --watch tells the same to a program")
	}
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	if !isTerminal(a.in) || !isTerminal(a.out.w) {
		return fault.New(fault.Unsupported, "the dashboard needs a terminal as standard input and output").
			WithHint("leadlight ps --watch does without")
	}
	if a.getenv("TERM") == "dumb" {
		return fault.New(fault.Unsupported, "the dashboard needs a terminal that can place text, and TERM is dumb").
			WithHint("leadlight ps --watch does without")
	}
	program, err := a.light()
	if err != nil {
		return err
	}
	env := a.environ
	if a.noColor {
		env = append(slices.Clone(env), "NO_COLOR=1")
	}
	p := TopParts{Service: svc, Notify: o.Notify, Inside: a.inside(), Program: program, Environ: env, In: a.in, Out: a.out.w}
	if p.Team, err = a.topTeam(ctx, p); err != nil || p.Team == "" {
		return err
	}
	p.Changes = func(ctx context.Context, tell func(bool) error) { a.changes(ctx, p.Team, tell) }
	return a.long.Top(ctx, p)
}

// topTeam is the team to show. Where nothing says which of several is meant, the person
// chooses; "" if they leave instead.
func (a *app) topTeam(ctx context.Context, p TopParts) (string, error) {
	team, err := a.team(ctx, p.Service)
	if err == nil {
		return team, nil
	}
	list, listErr := p.Service.Teams(ctx)
	if listErr != nil || len(list) < 2 || fault.CodeOf(err) != fault.InvalidArgument || a.settings.Team.V != "" {
		return "", err
	}
	return a.long.Choose(ctx, p, list)
}

// changes tells of a team's changes as the daemon sees them, and starts one if there is
// none. Whoever listens does without what cannot be had: a daemon is never needed.
func (a *app) changes(ctx context.Context, team string, tell func(mail bool) error) {
	c, _, err := a.reachDaemon(ctx, dial.PathsOf(a.settings.BaseDir.V, a.getenv))
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.Subscribe(ctx, api.SubscribeParams{EventFilter: api.EventFilter{Team: team}},
		func(api.Subscribed) { _ = tell(true) },
		func(line json.RawMessage) error {
			var e rpc.EventLine
			err := json.Unmarshal(line, &e)
			return errors.Join(err, tell(!strings.HasPrefix(e.Type, "team:task:")))
		})
}

// dashboard lets leadlightd show the team in this terminal, until the person leaves it or
// ctx ends.
func (a *app) dashboard(ctx context.Context, team string) error {
	program, err := a.besides(heavyProgram)
	if err != nil {
		return err
	}
	args := append([]string{"top", "--team", team}, a.passed("base-dir", "backend", "tmux-socket")...)
	if a.noColor {
		args = append(args, "--no-color")
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = a.longLivedEnviron(), a.in, a.out.w, a.err
	c.Cancel = func() error { return tell(c.Process.Pid, syscall.SIGTERM) }
	err = c.Run()
	if ctx.Err() != nil {
		return nil // it was told to end
	}
	if err != nil {
		return fault.New(fault.Failed, "the dashboard: %w", err)
	}
	return nil
}
