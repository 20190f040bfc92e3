package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/spf13/cobra"
)

type eventsOptions struct {
	Follow bool
	Since  time.Duration
	Types  []string
}

func eventsCommand(a *app, run func(context.Context, *app, eventsOptions) error) *cobra.Command {
	var o eventsOptions
	c := command(a, "events", run, &o, takes(0, 0), noFiles)
	c.Flags().BoolVarP(&o.Follow, "follow", "f", false, "go on with what comes, until ^C; without --since only that")
	c.Flags().Var(span(&o.Since), "since", "only what is not older than the time `D`, such as 10m")
	c.Flags().Var(givenList(&o.Types), "type", "only events of type `T`, or whose type begins so; can be repeated")
	complete(c, "type", events.Names()...)
	return c
}

func runEvents(ctx context.Context, a *app, o eventsOptions) error {
	c, err := a.daemon(ctx)
	if err != nil {
		return err
	}
	a.narrate()
	show := a.eventLine
	if isTerminal(a.out.w) && !a.json {
		show = (&eventTable{a: a}).line
	}
	filter := api.EventFilter{Team: a.settings.Team.V, Types: o.Types}
	if !o.Follow {
		return a.pastEvents(ctx, c, api.EventsParams{EventFilter: filter, SinceMs: o.Since.Milliseconds()}, show)
	}
	return c.Subscribe(ctx, api.SubscribeParams{EventFilter: filter, SinceMs: o.Since.Milliseconds()}, func(api.Subscribed) {}, show)
}

// pastEvents prints what is kept, page by page.
func (a *app) pastEvents(ctx context.Context, c *rpc.Client, p api.EventsParams, show func(json.RawMessage) error) error {
	for {
		list, err := c.Events(ctx, p)
		if err != nil {
			return err
		}
		for _, line := range list.Events {
			if err := show(line); err != nil {
				return err
			}
		}
		if !list.More {
			return nil
		}
		var last events.Event
		if err := json.Unmarshal(list.Events[len(list.Events)-1], &last); err != nil {
			return fmt.Errorf("read the last event: %w", err)
		}
		p.After = last.Seq
	}
}

// eventLine prints an event as it came.
func (a *app) eventLine(line json.RawMessage) error {
	_, err := fmt.Fprintf(rawjson.Visible(a.out), "%s\n", line)
	return err
}

// eventTable prints events as they come, a line each, for a person: when, of which team,
// what. The columns are as wide as what they have held so far.
type eventTable struct {
	a    *app
	team int
}

func (t *eventTable) line(raw json.RawMessage) error {
	var e events.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return t.a.eventLine(raw) // of a newer daemon
	}
	at := strings.Repeat(" ", len(time.DateTime))
	if !e.At.IsZero() {
		at = e.At.Local().Format(time.DateTime)
	}
	colors, cols := t.a.colors(t.a.out.w), width(t.a.out.w)
	team, text := oneLine(e.Team), oneLine(eventText(e))
	t.team = max(t.team, displaywidth.String(team))
	if cols > 0 {
		text = displaywidth.TruncateString(text, max(cols-len(at)-t.team-4, leastLast), "…")
	}
	pad := strings.Repeat(" ", t.team-displaywidth.String(team))
	_, err := fmt.Fprintf(t.a.out, "%s  %s%s  %s\n", paint(at, "dim", colors), team, pad, paint(text, eventColor(e.Type), colors))
	return err
}

func eventColor(t events.Type) string {
	switch t {
	case events.MemberFailed, events.MemberLost, events.TaskFailed:
		return "red"
	case events.MemberWaiting:
		return "yellow"
	case events.TaskCompleted:
		return "green"
	}
	return ""
}

// eventText says in words what happened.
func eventText(e events.Event) string {
	switch d := e.Data.(type) {
	case *events.Team:
		return "the team is " + map[bool]string{true: "made", false: "deleted"}[e.Type == events.TeamCreated]
	case *events.Member:
		if e.Type == events.MemberJoined {
			return d.Member.Name + " joined" // a reason is that of an end since then
		}
		return d.Member.Name + " " + memberText(e.Type, d) + because(d.Reason)
	case *events.Task:
		return taskText(d)
	case *events.Message:
		to, text := cmp.Or(d.To, "all"), cmp.Or(d.Summary, teams.InWords(d.Content))
		if e.Type == events.MessageReceived {
			return to + " has read what " + d.From + " wrote: " + text
		}
		return d.From + " → " + to + ": " + text
	case *events.Idle:
		if d.CompletedTaskID != "" {
			return d.From + " has nothing to do; task " + d.CompletedTaskID + " is done"
		}
		return d.From + " has nothing to do"
	case *events.ShutdownAsk:
		return d.From + " asks " + d.To + " to shut down" + because(d.Reason)
	case *events.ShutdownAnswer:
		return d.From + " " + map[bool]string{true: "agrees", false: "refuses"}[d.Approved] + " to shut down" + because(d.Reason)
	case *events.PlanAsk:
		return d.From + " asks " + d.To + " to approve a plan" + because(d.Plan)
	case *events.PlanAnswer:
		return d.From + " " + map[bool]string{true: "approves", false: "rejects"}[d.Approved] + " the plan of " + d.To + because(d.Feedback)
	case *events.Run:
		return runText(e.Type, d)
	}
	return string(e.Type)
}

func memberText(t events.Type, d *events.Member) string {
	text := map[events.Type]string{
		events.MemberShutdown: "left", events.MemberActive: "is at work",
		events.MemberWaiting: "waits for a person", events.MemberFailed: "failed", events.MemberLost: "is lost",
	}[t]
	if d.ToolName != "" {
		text += " (" + d.ToolName + ")"
	}
	return text
}

func taskText(d *events.Task) string {
	owner := ""
	if d.Task.Owner != "" {
		owner = " by " + d.Task.Owner
	}
	text, ok := map[string]string{
		events.KindTaskCreated: "is new", events.KindTaskClaimed: "is taken" + owner, events.KindTaskCompleted: "is completed" + owner,
		events.KindTaskFailed: "failed",
	}[d.Type]
	if !ok {
		text = "is " + d.Task.Status
	}
	return "task " + d.Task.ID + " " + text + ": " + d.Task.Subject
}

// runText is what happened to a run, an item or a definition: its kind is the rest of
// the type's name.
func runText(t events.Type, d *events.Run) string {
	words := strings.ReplaceAll(strings.TrimPrefix(string(t), "team:"), ":", " ")
	if d.RunID != "" {
		words += " " + short(d.RunID)
	}
	if d.Title != "" {
		words += ": " + d.Title
	}
	if d.Status != "" {
		words += " (" + d.Status + ")"
	}
	return words
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
