package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
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
