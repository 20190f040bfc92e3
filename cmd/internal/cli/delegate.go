package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

func delegateCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	mode := func(word string, on bool, short, long string) *cobra.Command {
		return &cobra.Command{
			Use: word, Short: short, Long: long, Example: "  leadlight team delegate " + word, Args: takes(0, 0), ValidArgsFunction: noFiles,
			RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a, on) },
		}
	}
	return group("delegate", "Let the lead coordinate only, or work itself as well",
		"In delegate mode an agent that leads keeps the tools with which it leads (teammates, mail, tasks)\n"+
			"and is refused all others. It holds for agents that ask; your own verbs stay as they are.",
		mode("on", true, "The lead coordinates only", "Turn delegate mode on: the lead coordinates, and leaves the work to its teammates."),
		delegateHookCommand(a),
		mode("off", false, "The lead may work itself, too", "Turn delegate mode off: the lead may use all of its tools."))
}

func runDelegate(ctx context.Context, a *app, on bool) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	if err := svc.SetDelegate(ctx, team, on); err != nil {
		return err
	}
	return a.answer(api.Delegation{Team: team, Delegate: on}, func(w io.Writer) {
		word := "off"
		if on {
			word = "on"
		}
		fmt.Fprintf(w, "delegate mode of team %s is %s\n", team, word)
	})
}
