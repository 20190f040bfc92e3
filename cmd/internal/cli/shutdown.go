package cli

import (
	"context"
	"io"

	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type answerOptions struct {
	ID      string
	Approve bool
	Reason  string
}

// shutdownAnswer is the answer of shutdown approve and refuse.
type shutdownAnswer struct {
	RequestID string `json:"requestId"`
	Approved  bool   `json:"approved"`
	Reason    string `json:"reason,omitempty"`
}

func shutdownCommand(a *app, run func(context.Context, *app, answerOptions) error) *cobra.Command {
	var yes, no answerOptions
	approve := &cobra.Command{
		Use: "approve [ID]", Short: "Agree to be shut down", Long: "Agree to be shut down. Without an ID the pending request is meant.",
		Example: "  leadlight shutdown approve", Args: takes(0, 1), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, args []string) error {
			yes.ID, yes.Approve = first(args), true
			return run(c.Context(), a, yes)
		},
	}
	refuse := &cobra.Command{
		Use: "refuse [ID] --reason TEXT", Short: "Refuse to be shut down, with a reason",
		Long:    "Refuse to be shut down, with a reason that the lead is told. Without an ID the pending request is\nmeant.",
		Example: "  leadlight shutdown refuse --reason 'the tests still run'", Args: takes(0, 1), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, args []string) error {
			no.ID = first(args)
			if no.Reason == "" {
				return usage("%s needs --reason TEXT", c.CommandPath())
			}
			return run(c.Context(), a, no)
		},
	}
	refuse.Flags().StringVar(&no.Reason, "reason", "", "`TEXT` that the lead is told (needed)")
	return group("shutdown", "Answer a request to shut down, as a teammate",
		"Answer a request to shut down, as the teammate that was asked.", approve, refuse)
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func runAnswer(ctx context.Context, a *app, o answerOptions) error {
	reason, err := checkText(o.Reason, "reason", store.MaxMessage)
	if err != nil {
		return err
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	id, err := svc.AnswerShutdown(ctx, team, o.ID, o.Approve, reason)
	if err != nil {
		return err
	}
	return a.answer(shutdownAnswer{id, o.Approve, reason}, func(io.Writer) {
		if o.Approve {
			a.say("approved %s", id)
		} else {
			a.say("refused %s", id)
		}
	})
}
