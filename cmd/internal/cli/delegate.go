package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

func delegateCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	on, off := true, false
	return group("team delegate",
		command(a, "team delegate on", run, &on, takes(0, 0), noFiles),
		delegateHookCommand(a),
		command(a, "team delegate off", run, &off, takes(0, 0), noFiles))
}

func runDelegate(ctx context.Context, a *app, svc *teams.Service, team string, on bool) error {
	err := svc.SetDelegate(ctx, team, on)
	return a.answer(api.Delegation{Team: team, Delegate: on}, err, func(w io.Writer) {
		word := "off"
		if on {
			word = "on"
		}
		fmt.Fprintf(w, "delegate mode of team %s is %s\n", team, word)
	})
}
