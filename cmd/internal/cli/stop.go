package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type stopOptions struct {
	Names []string
	All   bool
	teams.StopOptions
}

// endFlags are the flags of how teammates are ended.
func endFlags(c *cobra.Command, o *teams.StopOptions) {
	ask := valueOf(&o.Ask, func(v string) (time.Duration, error) {
		d, err := config.ParseDuration(v)
		return max(d, time.Millisecond), err // 0 is no time to answer, and not the team's limit
	})
	c.Flags().Var(ask, "timeout", "how long each may think about it before SIGTERM, as a time `D` such as 10s (default lifecycle.ask, 30s)")
	c.Flags().BoolVar(&o.Force, "force", false, "end it although it refuses")
}

func stopCommand(a *app, run func(context.Context, *app, stopOptions) error) *cobra.Command {
	var o stopOptions
	args := func(_ *cobra.Command, args []string) error {
		if len(args) == 0 && !o.All {
			return usage("leadlight stop needs the NAME of a teammate, or --all")
		}
		if len(args) > 0 && o.All {
			return usage("leadlight stop takes names or --all, not both")
		}
		if !o.All {
			o.Names = args
		}
		return nil
	}
	c := command(a, "stop", run, &o, args, completeToStop(a))
	c.Flags().BoolVar(&o.All, "all", false, "every teammate")
	c.Flags().StringVar(&o.Reason, "reason", "", "`TEXT` that the teammate is told")
	endFlags(c, &o.StopOptions)
	return c
}

func (o *stopOptions) complete(a *app) error {
	a.ofFile()
	_, err := checkText(o.Reason, "reason", store.MaxMessage)
	return err
}

func runStop(ctx context.Context, a *app, svc *teams.Service, team string, o stopOptions) error {
	o.Progress = a.progress
	e, err := svc.Stop(ctx, team, o.Names, o.StopOptions)
	if err != nil {
		return err
	}
	if ended := slices.ContainsFunc(e.Members, func(m api.Ending) bool { return m.Outcome != api.AlreadyStopped }); ended && e.Run != "" {
		defer a.say("run %s goes on, and may start another teammate: leadlight run cancel %s ends it", short(e.Run), short(e.Run))
	}
	return a.endings(e)
}

// progress says what happens to a teammate. It is called concurrently.
func (a *app) progress(name, what string) { a.say("%s: %s", name, what) }

// endings prints how the teammates ended, and returns the verdict.
func (a *app) endings(e api.Endings) error {
	e.Members = listed(e.Members)
	err := a.answer(e, nil, func(w io.Writer) {
		t := &table{head: []string{"NAME", "OUTCOME", "TIME", "LEFT BEHIND"}, none: "no teammates to stop"}
		for _, m := range e.Members {
			rest := strings.Join(m.Leftovers, ", ")
			if m.Reason != "" {
				rest = strings.Trim(m.Reason+"; "+rest, "; ")
			}
			took := time.Duration(m.DurationMs) * time.Millisecond
			t.add(m.Name, cell{m.Outcome, outcomeColor(m.Outcome)}, took.Round(10*time.Millisecond), rest)
		}
		a.table(w, t)
	})
	if err != nil {
		return err
	}
	return teams.Verdict(e)
}

func outcomeColor(outcome string) string {
	switch outcome {
	case api.RejectedStop, api.UnprovenStop:
		return "red"
	case api.Killed, api.PaneKilled:
		return "yellow"
	}
	return "green"
}
