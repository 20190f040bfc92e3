package cli

import (
	"context"
	"io"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func permissionCommand(a *app) *cobra.Command {
	return group("permission", "Answer what native teammates ask permission for",
		"A native teammate asks its lead before it uses a tool that its permission mode does not cover.",
		permissionListCommand(a, runPermissionList), permissionAllowCommand(a, runPermissionAnswer),
		permissionDenyCommand(a, runPermissionAnswer), permissionModeCommand(a, runPermissionMode))
}

func permissionListCommand(a *app, run func(context.Context, *app, bool) error) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "ls", Short: "List the requests that wait for an answer", Long: "List the requests that wait for an answer, oldest first.",
		Example: "  leadlight permission ls --all", Args: takes(0, 0), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a, all) },
	}
	c.Flags().BoolVar(&all, "all", false, "also those that were answered")
	return c
}

func runPermissionList(ctx context.Context, a *app, all bool) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	list, err := svc.Permissions(ctx, team, all)
	if err != nil {
		return err
	}
	return a.answer(list, func(w io.Writer) {
		if len(list) == 0 {
			a.say("no requests")
			return
		}
		t := &table{head: []string{"ID", "FROM", "STATUS", "SINCE", "TOOL", "WHAT"}}
		for _, p := range list {
			what := p.Description
			if len(p.Input) > 0 {
				what += "  " + string(p.Input)
			}
			t.add(plain("%s", p.ID), plain("%s", p.From), cell{p.Status, requestColor(p.Status)}, plain("%s", since(p.RequestedAt)), plain("%s", p.Tool), plain("%s", what))
		}
		t.write(w, width(a.out.w), a.colors(a.out.w))
	})
}

type permissionAnswer struct {
	ID, Reason string
	Allow      bool
}

func permissionAllowCommand(a *app, run func(context.Context, *app, permissionAnswer) error) *cobra.Command {
	return &cobra.Command{
		Use: "allow ID", Short: "Allow what was asked for", Long: "Allow what was asked for, this once.", Example: "  leadlight permission allow ID",
		Args: takes(1, 1), ValidArgsFunction: completePermissions(a),
		RunE: func(c *cobra.Command, args []string) error {
			return run(c.Context(), a, permissionAnswer{ID: args[0], Allow: true})
		},
	}
}

func permissionDenyCommand(a *app, run func(context.Context, *app, permissionAnswer) error) *cobra.Command {
	var o permissionAnswer
	c := &cobra.Command{
		Use: "deny ID", Short: "Deny what was asked for", Long: "Deny what was asked for. The reason reaches the teammate's agent.",
		Example: "  leadlight permission deny ID --reason 'use the make target'", Args: takes(1, 1), ValidArgsFunction: completePermissions(a),
		RunE: func(c *cobra.Command, args []string) error {
			o.ID = args[0]
			return run(c.Context(), a, o)
		},
	}
	c.Flags().StringVar(&o.Reason, "reason", "", "`TEXT` that the teammate is told")
	return c
}

func runPermissionAnswer(ctx context.Context, a *app, o permissionAnswer) error {
	reason, err := checkText(o.Reason, "reason", store.MaxMessage)
	if err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	p, err := svc.AnswerPermission(ctx, team, o.ID, o.Allow, reason)
	if err != nil {
		return err
	}
	return a.answer(p, func(io.Writer) { a.say("request %s of %s is %s", p.ID, p.From, p.Status) })
}

type permissionModeOptions struct{ Name, Mode string }

func permissionModeCommand(a *app, run func(context.Context, *app, permissionModeOptions) error) *cobra.Command {
	return &cobra.Command{
		Use: "mode NAME MODE", Short: "Change the permission mode of a teammate",
		Long: "Change the permission mode of a teammate. A client that takes it is sent a request; another\n" +
			"one is started again and goes on with its conversation, if its profile says how.",
		Example: "  leadlight permission mode ann acceptEdits", Args: takes(2, 2),
		ValidArgsFunction: func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return teams.PermissionModes(), cobra.ShellCompDirectiveNoFileComp
			}
			return completeMembers(a, 1)(c, args, toComplete)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return run(c.Context(), a, permissionModeOptions{args[0], args[1]})
		},
	}
}

func runPermissionMode(ctx context.Context, a *app, o permissionModeOptions) error {
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	change, err := svc.SetPermissionMode(ctx, team, o.Name, o.Mode)
	if err != nil {
		return err
	}
	return a.answer(change, func(io.Writer) {
		if change.How == "asked" {
			a.say("%s is asked to go into the mode %s", change.Name, change.Mode)
		} else {
			a.say("%s is started again in the mode %s", change.Name, change.Mode)
		}
	})
}

// completePermissions offers the open requests.
func completePermissions(a *app) words {
	return upTo(1, a.offer(func(ctx context.Context, built *composition, team string) []string {
		team, err := built.service.PickTeam(ctx, team, teamHere)
		if err != nil {
			return nil
		}
		list, _ := built.service.Permissions(ctx, team, false)
		var out []string
		for _, p := range list {
			out = append(out, p.ID+"\t"+store.Shown(oneLine(p.From+": "+p.Tool)))
		}
		return out
	}))
}
