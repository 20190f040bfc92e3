package cli

import (
	"context"
	"io"
	"strings"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/spf13/cobra"
)

type setOptions struct {
	Name        string // "": the team
	Mode, Color string
	Metadata    []string
	Team        []string // K=V after set --team
}

// changed is the answer of set.
type changed struct {
	Name           string   `json:"name,omitempty"` // absent: the team
	Team           string   `json:"team"`
	PermissionMode string   `json:"permissionMode,omitempty"`
	How            string   `json:"how,omitempty"` // "asked": the agent was sent a request; "restarted"
	Color          string   `json:"color,omitempty"`
	Metadata       []string `json:"metadata,omitempty"`
}

func setCommand(a *app, run func(context.Context, *app, setOptions) error) *cobra.Command {
	var o setOptions
	args := func(c *cobra.Command, args []string) error {
		if len(a.pairs) == 0 {
			return one(&o.Name)(c, args)
		}
		o.Team = append(a.pairs, args...)
		return nil
	}
	c := command(a, "set", run, &o, args, completeTeammates(a, 1))
	f := c.Flags()
	f.Var(choice(&o.Mode, teams.PermissionModes()), "permission-mode", "`MODE` of asking for permission: "+strings.Join(teams.PermissionModes(), ", "))
	f.StringVar(&o.Color, "color", "", "`COLOR` of its name and border")
	f.StringArrayVar(&o.Metadata, "metadata", nil, "`K=V` in the roster, V as JSON if it is JSON; K=null removes K; can be repeated")
	complete(c, "color", colors()...)
	return c
}

func runSet(ctx context.Context, a *app, o setOptions) error {
	if len(o.Team) > 0 {
		return a.setTeam(ctx, o.Team)
	}
	meta, err := metadata(o.Metadata)
	if err != nil {
		return err
	}
	if o.Mode == "" && o.Color == "" && len(meta) == 0 {
		return usage("leadlight set %s: nothing to change", o.Name).WithHint("leadlight set --help shows what can be changed")
	}
	a.ofFile() // some agents are restarted
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	done := changed{Name: o.Name, Team: team, Color: o.Color, Metadata: o.Metadata}
	if o.Color != "" || len(meta) > 0 {
		if err := svc.SetMember(ctx, team, o.Name, teams.MemberChange{Color: o.Color, Metadata: meta}); err != nil {
			return err
		}
	}
	if o.Mode != "" {
		a.say("%s: changing its permission mode to %s", o.Name, o.Mode)
		change, err := svc.WithProgress(a.progress).SetPermissionMode(ctx, team, o.Name, o.Mode)
		if err != nil {
			return err
		}
		done.Name, done.PermissionMode, done.How = change.Name, change.Mode, change.How
	}
	return a.answer(done, nil, func(io.Writer) {
		switch done.How {
		case "asked":
			a.say("%s was asked to change to mode %s", done.Name, done.PermissionMode)
		case "restarted":
			a.say("%s was restarted in mode %s", done.Name, done.PermissionMode)
		}
	})
}

// setTeam changes the metadata of the team.
func (a *app) setTeam(ctx context.Context, pairs []string) error {
	meta, err := metadata(pairs)
	if err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	err = svc.SetTeam(ctx, team, meta)
	return a.answer(changed{Team: team, Metadata: pairs}, err, func(io.Writer) {})
}
