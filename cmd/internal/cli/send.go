package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type sendOptions struct{ To, Text, Summary, Type string }

func sendCommand(a *app, run func(context.Context, *app, sendOptions) error) *cobra.Command {
	o := sendOptions{}
	c := &cobra.Command{
		Use: "send TO TEXT|-", Short: "Send a message to a member",
		Long: "Send a message of up to 1 MiB to a teammate or to the lead, in the name of whoever calls. When the\n" +
			"verb returns, the message is on disk; whether it has been read, inbox shows.\n\n" +
			"With --type the text of a response is JSON such as {\"request_id\":\"…\",\"approve\":true}; that of a\n" +
			"plan_approval_request is the plan, that of a mode_set_request the mode.",
		Example: "  leadlight send bob 'look at the tests, please'\n  git diff | leadlight send bob - --summary 'the change'\n" +
			"  leadlight send team-lead -- '- done'",
		Args: takes(2, 2), ValidArgsFunction: completeMembers(a, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o.To, o.Text = args[0], args[1]
			return run(c.Context(), a, o)
		},
	}
	c.Flags().StringVar(&o.Summary, "summary", "", "`S`: the message in a few words")
	c.Flags().StringVar(&o.Type, "type", "", "`TYPE` of the message, if not message: shutdown_request (TEXT is its reason), …")
	complete(c, "type", "message", "shutdown_request", "shutdown_response", "plan_approval_request", "plan_approval_response",
		"permission_response", "mode_set_request", "idle_notification")
	return c
}

func runSend(ctx context.Context, a *app, o sendOptions) error {
	text, err := a.text(o.Text, "message", store.MaxMessage)
	if err != nil {
		return err
	}
	summary, err := checkText(o.Summary, "summary", store.MaxMessage)
	if err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	sent, err := svc.Send(ctx, team, teams.SendSpec{To: o.To, Text: text, Summary: summary, Type: o.Type})
	if err != nil {
		return err
	}
	return a.answer(sent, func(w io.Writer) { fmt.Fprintln(w, sent.ID) })
}

type broadcastOptions struct{ Text, Summary string }

func broadcastCommand(a *app, run func(context.Context, *app, broadcastOptions) error) *cobra.Command {
	var o broadcastOptions
	c := &cobra.Command{
		Use: "broadcast TEXT|-", Short: "Send a message to every live member",
		Long:    "Send a message to every live member but the sender.",
		Example: "  leadlight broadcast 'main is broken, wait'", Args: takes(1, 1), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, args []string) error {
			o.Text = args[0]
			return run(c.Context(), a, o)
		},
	}
	c.Flags().StringVar(&o.Summary, "summary", "", "`S`: the message in a few words")
	return c
}

func runBroadcast(ctx context.Context, a *app, o broadcastOptions) error {
	text, err := a.text(o.Text, "message", store.MaxMessage)
	if err != nil {
		return err
	}
	summary, err := checkText(o.Summary, "summary", store.MaxMessage)
	if err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	sent, err := svc.Broadcast(ctx, team, text, summary)
	if err != nil {
		return err
	}
	if sent == nil {
		sent = []api.Sent{}
	}
	return a.answer(sent, func(w io.Writer) {
		t := table{head: []string{"TO", "ID"}}
		for _, s := range sent {
			t.add(plain("%s", s.To), plain("%s", s.ID))
		}
		t.write(w, 0, a.colors(a.out.w))
	})
}
