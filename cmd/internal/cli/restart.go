package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type restartOptions struct {
	Names     []string
	All, Lost bool
}

func restartCommand(a *app, run func(context.Context, *app, restartOptions) error) *cobra.Command {
	var o restartOptions
	args := func(_ *cobra.Command, args []string) error {
		ways := 0
		for _, given := range []bool{len(args) > 0, o.All, o.Lost} {
			if given {
				ways++
			}
		}
		if ways != 1 {
			return usage("leadlight restart takes names, or --all, or --lost")
		}
		o.Names = args
		return nil
	}
	c := command(a, "restart", run, &o, args, completeTeammates(a, -1))
	c.Flags().BoolVar(&o.All, "all", false, "every teammate that is not stopped")
	c.Flags().BoolVar(&o.Lost, "lost", false, "every teammate that is lost")
	return c
}

// settleLimit is how long restart waits for teammates that are just ending: a program may
// take its time after its terminal has gone.
const settleLimit = 10 * time.Second

// settled returns the teammates once none of them is just ending, or the limit is over.
func settled(ctx context.Context, svc *teams.Service, team string) ([]api.Member, error) {
	for limit := time.Now().Add(settleLimit); ; {
		members, _, err := svc.Members(ctx, team, false)
		ending := slices.ContainsFunc(members, func(m api.Member) bool { return m.State == api.StateStopping })
		if err != nil || !ending || time.Now().After(limit) {
			return members, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (o *restartOptions) complete(a *app) error {
	a.ofFile()
	return nil
}

func runRestart(ctx context.Context, a *app, svc *teams.Service, team string, o restartOptions) (err error) {
	if len(o.Names) == 0 {
		members, err := settled(ctx, svc, team)
		if err != nil {
			return err
		}
		o.Names = namesOf(members, func(m api.Member) bool { return o.All || m.State == api.StateLost })
		if len(o.Names) == 0 {
			a.say("no teammate to restart")
		}
	} else if o.Names, err = svc.Named(ctx, team, o.Names); err != nil {
		return err
	}
	svc = svc.WithProgress(a.progress)
	done := make([]api.Member, len(o.Names))
	errs := make([]error, len(o.Names))
	var wg sync.WaitGroup
	for i, name := range o.Names {
		wg.Go(func() { done[i], errs[i] = svc.Restart(ctx, team, name) })
	}
	wg.Wait()
	a.sayChoice()
	started := []api.Member{}
	for i := range done {
		if errs[i] == nil {
			started = append(started, done[i])
		}
	}
	err = errors.Join(errs...)
	switch {
	case len(started) == 0 && err != nil:
		return err
	case len(o.Names) == 1 && a.json && !o.All && !o.Lost:
		return a.printJSON(started[0])
	}
	return errors.Join(a.answer(started, nil, func(w io.Writer) {
		if len(started) > 0 {
			a.memberTable(w, started)
			if isTerminal(a.out.w) {
				a.sayAttach(ctx, svc, team, "")
			}
		}
	}), err)
}
