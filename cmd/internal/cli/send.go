package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type sendOptions struct {
	To                  []string
	All                 bool
	Text, Summary, Type string
}

func sendCommand(a *app, run func(context.Context, *app, sendOptions) error) *cobra.Command {
	var o sendOptions
	args := func(_ *cobra.Command, args []string) error {
		switch {
		case o.All && len(args) != 1:
			return usage("leadlight send --all takes one TEXT").WithHint("text of several words needs quotes")
		case !o.All && len(args) < 2:
			return usage("leadlight send needs NAME and TEXT").WithHint("leadlight send --help shows how it is called")
		}
		o.To, o.Text = args[:len(args)-1], args[len(args)-1]
		return nil
	}
	c := command(a, "send", run, &o, args, completeMembers(a, -1))
	c.Flags().BoolVar(&o.All, "all", false, "to every live member but you")
	c.Flags().StringVar(&o.Summary, "summary", "", "`S`: the message in a few words")
	c.Flags().StringVar(&o.Type, "type", "", "`TYPE` of the message: message, or shutdown_request (default message)")
	complete(c, "type", "message", store.ShutdownRequest)
	return c
}

func (o *sendOptions) complete(a *app) (err error) {
	if o.Text, err = a.text(o.Text, "message", store.MaxMessage); err == nil {
		_, err = checkText(o.Summary, "summary", store.MaxMessage)
	}
	return err
}

func runSend(ctx context.Context, a *app, svc *teams.Service, team string, o sendOptions) error {
	spec := teams.SendSpec{Text: o.Text, Summary: o.Summary, Type: o.Type}
	if o.All {
		return a.sendAll(ctx, svc, team, spec)
	}
	return a.sendEach(ctx, svc, team, o.To, spec)
}

// sendEach sends to each of the names. One who cannot be reached keeps it from nobody else.
func (a *app) sendEach(ctx context.Context, svc *teams.Service, team string, names []string, spec teams.SendSpec) error {
	members, err := a.knownNames(ctx, team, names)
	if err != nil {
		return err
	}
	sent := []api.Sent{}
	var missed []error
	for _, name := range members {
		spec.To = name
		s, err := svc.Send(ctx, team, spec)
		if err != nil {
			missed = append(missed, err)
			continue
		}
		sent = append(sent, s)
	}
	switch {
	case len(sent) == 0:
		return errors.Join(missed...)
	case len(names) == 1 && a.json:
		return a.printJSON(sent[0])
	}
	return errors.Join(a.sent(ctx, svc, team, sent), errors.Join(missed...))
}

// knownNames are the members that several names or addresses mean, each once. It refuses a
// name that is no member's, before anything is sent: it may be a word of the text.
func (a *app) knownNames(ctx context.Context, team string, names []string) ([]string, error) {
	if len(names) < 2 {
		return names, nil // the verb itself says it
	}
	t, err := a.built.config.Roster.Get(ctx, team)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		local := t.Local(name)
		if local != store.Lead && t.Member(local) == nil {
			return nil, fault.New(fault.RecipientNotFound, "team %s has no member %q; nothing is sent", team, store.Shown(name)).WithHint("text of several words needs quotes")
		}
		if !slices.Contains(out, local) {
			out = append(out, local)
		}
	}
	return out, nil
}

func (a *app) sendAll(ctx context.Context, svc *teams.Service, team string, spec teams.SendSpec) error {
	if spec.Type == "" || spec.Type == "message" {
		sent, err := svc.Broadcast(ctx, team, spec.Text, spec.Summary)
		if len(sent) == 0 && err != nil {
			return err
		}
		return errors.Join(a.sent(ctx, svc, team, sent), err)
	}
	members, _, err := svc.Members(ctx, team, false)
	if err != nil {
		return err
	}
	names := namesOf(members, func(m api.Member) bool { return m.Live() })
	if len(names) == 0 {
		return a.sent(ctx, svc, team, nil)
	}
	return a.sendEach(ctx, svc, team, names, spec)
}

// sent says to whom a message went, and how many messages wait there.
func (a *app) sent(ctx context.Context, svc *teams.Service, team string, sent []api.Sent) error {
	return a.answer(listed(sent), nil, func(w io.Writer) {
		if len(sent) == 0 {
			a.say("nobody else is there")
		}
		waiting, err := svc.Waiting(ctx, team, sent)
		for i, s := range sent {
			line := "sent to " + oneLine(s.To)
			if err == nil && waiting[i] >= 0 {
				line += fmt.Sprintf(" (unread: %d)", waiting[i])
			}
			fmt.Fprintln(w, line)
		}
	})
}
