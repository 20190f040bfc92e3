package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/spf13/cobra"
)

type downOptions struct {
	Team string
	Keep bool
	teams.StopOptions
}

func downCommand(a *app, run func(context.Context, *app, downOptions) error) *cobra.Command {
	var o downOptions
	c := command(a, "down", run, &o, optional(&o.Team), completeTeams(a))
	c.Flags().BoolVar(&o.Keep, "keep", false, "keep the team, its mail and its tasks")
	endFlags(c, &o.StopOptions)
	return c
}

func runDown(ctx context.Context, a *app, o downOptions) error {
	a.ofFile(o.Team)
	svc, team, err := a.teamToEnd(ctx, o.Team)
	if err != nil {
		return err
	}
	record := a.recorder(ctx, svc, team)
	o.Progress = a.progress
	e, err := svc.Down(ctx, team, o.StopOptions, o.Keep)
	if err != nil {
		return err
	}
	if e.Run != "" {
		a.say("run %s ends with its team", short(e.Run))
	}
	if err := a.endings(e); err != nil {
		return err
	}
	record.end()
	record.cancel()
	a.keepRecord(record)
	if o.Keep {
		a.say("team %s is down, its files are kept", team)
	} else {
		a.say("team %s is down and deleted", team)
	}
	return nil
}

// teamToEnd is the team that down is about. Where none is named, and the folder has a team
// file, only a team of that very file.
func (a *app) teamToEnd(ctx context.Context, named string) (*teams.Service, string, error) {
	s, err := a.set(nil)
	if err != nil {
		return nil, "", err
	}
	// One that is there and cannot be read, such as a link to nothing, is no reason to pick another team.
	if _, err := os.Lstat(config.TeamFileName); errors.Is(err, fs.ErrNotExist) || named != "" || s.Team.V != "" {
		return a.serve(ctx, named)
	}
	file, path, err := teamFile(config.TeamFileName)
	if err != nil {
		return nil, "", err
	}
	svc, err := a.service(ctx)
	if err != nil {
		return nil, "", err
	}
	name := file.Plan.Team.Name
	_, found, err := svc.OfFile(ctx, name, path)
	if err == nil && !found {
		err = fault.New(fault.TeamNotFound, "%s has no team %s that is up", path, name).WithHint("leadlight team ls lists the teams; leadlight down NAME ends one")
	}
	return svc, name, err
}

// ofFile takes the settings of the team file in this folder, unless another team is named:
// how long its members may think about their end is written there.
func (a *app) ofFile(named ...string) {
	named = append(named, a.flags["team"], a.getenv("LEADLIGHT_TEAM"))
	file, err := config.ReadTeamFile(config.TeamFileName)
	if err != nil {
		return // it is an error where the file says which team is meant
	}
	for _, name := range named {
		if name != "" && name != file.Plan.Team.Name {
			return
		}
	}
	_, _ = a.set(file) // whoever asks next has the error again
}
