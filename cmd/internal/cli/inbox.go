package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type inboxOptions struct {
	Owner string
	teams.InboxFilter
	Follow, MarkRead bool
}

// pruned is the answer of inbox prune.
type pruned struct {
	Archived int `json:"archived"`
}

func inboxCommands(a *app) *cobra.Command { return inboxCommand(a, ofTeam(runInbox), ofTeam(runPrune)) }

func inboxCommand(a *app, run func(context.Context, *app, inboxOptions) error, prune func(context.Context, *app, string) error) *cobra.Command {
	var o inboxOptions
	var pruneOf string
	c := command(a, "inbox", run, &o, optional(&o.Owner), completeMembers(a, 1))
	f := c.Flags()
	f.BoolVar(&o.Unread, "unread", false, "only what is unread")
	f.Var(given(&o.From), "from", "only what `NAME` sent")
	f.Var(span(&o.Since), "since", "only what came within the time `D`, such as 10m")
	f.BoolVarP(&o.Follow, "follow", "f", false, "go on with what comes, until ^C")
	f.BoolVar(&o.MarkRead, "mark-read", false, "mark as read what is printed")
	_ = c.RegisterFlagCompletionFunc("from", completeMembers(a, -1))
	c.AddCommand(command(a, "inbox prune", prune, &pruneOf, optional(&pruneOf), completeMembers(a, 1)))
	return c
}

func runInbox(ctx context.Context, a *app, svc *teams.Service, team string, o inboxOptions) error {
	if o.Follow {
		return svc.FollowInbox(ctx, team, o.Owner, o.InboxFilter, func(m api.Message) error {
			if err := a.answer(m, nil, func(w io.Writer) { a.message(w, m) }); err != nil {
				return err
			}
			return a.markRead(ctx, svc, team, o, []api.Message{m})
		})
	}
	o.Odd = true
	list, err := svc.Inbox(ctx, team, o.Owner, o.InboxFilter)
	err = a.answer(listed(list), err, func(w io.Writer) {
		if len(list) == 0 {
			a.say("no messages")
		}
		out := bufio.NewWriter(w)
		defer out.Flush()
		for _, m := range teams.Collapse(list) {
			if n := len(m.IDs); n > 1 {
				m.Note = strings.TrimPrefix(fmt.Sprintf("%s, %d times", m.Note, n), ", ")
			}
			a.message(out, m.Message)
		}
	})
	if err != nil {
		return err
	}
	return a.markRead(ctx, svc, team, o, list)
}

// markRead marks what has been printed, if that was asked for.
func (a *app) markRead(ctx context.Context, svc *teams.Service, team string, o inboxOptions, list []api.Message) error {
	var ids []string
	for _, m := range list {
		if !m.Read {
			ids = append(ids, m.ID)
		}
	}
	if !o.MarkRead || len(ids) == 0 {
		return nil
	}
	return svc.MarkRead(ctx, team, o.Owner, ids)
}

// message prints one message: a head line and the text, indented.
func (a *app) message(w io.Writer, m api.Message) {
	colors := a.colors(a.out.w)
	mark := " "
	if !m.Read {
		mark = "*"
	}
	head := fmt.Sprintf("%s %s  %s", mark, paint(oneLine(m.From), m.Color, colors), sentAt(m))
	if m.Type != "" && m.Type != "message" {
		head += "  [" + oneLine(m.Type) + "]"
	}
	if m.Summary != "" {
		head += "  " + oneLine(m.Summary)
	}
	if m.Note != "" {
		head += "  (" + oneLine(m.Note) + ")"
	}
	fmt.Fprintln(w, teams.Quoted(head))
	for line := range strings.Lines(printable(teams.InWords(m.Text))) {
		fmt.Fprintln(w, "    "+strings.TrimRight(line, "\n"))
	}
}

// sentAt is when a message was sent. A time that another program has written otherwise is
// shown as it stands there.
func sentAt(m api.Message) string {
	at, err := time.Parse(time.RFC3339, m.Timestamp)
	if err != nil {
		return oneLine(m.Timestamp)
	}
	return localTime(at, time.Now())
}

func runPrune(ctx context.Context, a *app, svc *teams.Service, team string, owner string) error {
	n, err := svc.PruneInbox(ctx, team, owner)
	return a.answer(pruned{n}, err, func(io.Writer) { a.say("%d messages moved to the archive", n) })
}
