package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// What the daemon says unasked, once subscribed.
const (
	Event        = "event"         // its parameters are one event
	EventsClosed = "events.closed" // the last word: why nothing more comes
	TeamRunEvent = "teamRun:event" // its parameters are one api.TeamRunEvent
	MachineTold  = "machine.told"  // its parameters are one api.MachineTold
)

// EventLine is one event, as the command events prints it; package events reads
// its JSON.
type EventLine struct {
	Seq    uint64          `json:"seq"`
	At     api.Time        `json:"at"`
	Type   string          `json:"type"`
	Team   string          `json:"team,omitempty"`
	Member string          `json:"member,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// Notifications describes them.
func Notifications() []Method {
	return []Method{
		{Name: Event, About: "Something happened.", Params: reflect.TypeFor[EventLine]()},
		{Name: TeamRunEvent, About: "Something happened to a definition, a run or an item.", Params: reflect.TypeFor[api.TeamRunEvent]()},
		{Name: MachineTold, About: "What another machine tells while it carries out a verb.", Params: reflect.TypeFor[api.MachineTold]()},
		{Name: EventsClosed, About: "The subscription has ended, and the connection with it.", Params: reflect.TypeFor[api.EventsClosed]()},
	}
}

// ErrHungUp is the cause of an error when the connection ended before the answer.
var ErrHungUp = errors.New("the connection ended")

// Events lists events of the past.
func (c *Client) Events(ctx context.Context, p api.EventsParams) (api.Events, error) {
	return Do[api.Events](ctx, c, "events.list", p)
}

// Subscribe subscribes, tells begin the state of then, and each every event's line
// of JSON, in order, until ctx ends, each fails, or the daemon has said its last
// word, which is the error. A client subscribes once.
func (c *Client) Subscribe(ctx context.Context, p api.SubscribeParams, begin func(api.Subscribed), each func(json.RawMessage) error) error {
	var first api.Subscribed
	return c.listen(ctx, listening{"events.subscribe", p, &first, Event, func() { begin(first) }, each})
}

// TeamRunEvents subscribes to what happens to definitions, runs and items, and
// calls begin and then tells each first what is there, until ctx ends, each fails, or the daemon has said
// its last word, which is the error. A client subscribes once.
func (c *Client) TeamRunEvents(ctx context.Context, p api.TeamRunFilter, begin func(), each func(api.TeamRunEvent) error) error {
	return c.listen(ctx, listening{TeamRunEvent, p, nil, TeamRunEvent, begin, func(raw json.RawMessage) error {
		var e api.TeamRunEvent
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		return each(e)
	}})
}

// CallTold calls a method that tells something by the notification event before it answers.
// One such call is made on a connection at a time.
func (c *Client) CallTold(ctx context.Context, method string, params, result any, event string, each func(json.RawMessage)) error {
	got := make(chan error, 1)
	go func() { got <- c.Call(ctx, method, params, result) }()
	for {
		select {
		case err := <-got:
			return err
		case m := <-c.pushes:
			if m.method == event {
				each(m.params)
			}
		}
	}
}

// Listen calls a method that begins to tell something by the notification event: begin
// after the answer, and each for every notification, until ctx ends or the connection
// does, which is the error. A client subscribes once.
func (c *Client) Listen(ctx context.Context, method string, params any, event string, begin, each func()) error {
	return c.listen(ctx, listening{method, params, nil, event, begin, func(json.RawMessage) error { each(); return nil }})
}

// listening is one subscription: what is called, and what is told then.
type listening struct {
	method string
	params any
	result any
	event  string
	begin  func()
	each   func(json.RawMessage) error
}

func (c *Client) listen(ctx context.Context, l listening) error {
	got := make(chan error, 1)
	go func() { got <- c.Call(ctx, l.method, l.params, l.result) }()
	var early []json.RawMessage // what overtakes the answer
	for {
		select {
		case err := <-got:
			if err != nil {
				return err
			}
			l.begin()
			for _, line := range early {
				if err := l.each(line); err != nil {
					return err
				}
			}
			return c.follow(ctx, l)
		case m := <-c.pushes:
			if m.method == EventsClosed {
				return closed(m.params)
			}
			early = append(early, m.params)
		}
	}
}

func (c *Client) follow(ctx context.Context, l listening) error {
	for {
		select {
		case m := <-c.pushes:
			switch m.method {
			case EventsClosed:
				return closed(m.params)
			case l.event:
				if err := l.each(m.params); err != nil {
					return err
				}
			}
		case <-c.done:
			return fault.New(fault.Failed, "the daemon ended, or closed the connection: %w", ErrHungUp).WithHint("leadlight daemon status tells whether it runs")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func closed(raw json.RawMessage) error {
	var last api.EventsClosed
	if err := json.Unmarshal(raw, &last); err != nil {
		return fmt.Errorf("the last word of the daemon cannot be read: %w", err)
	}
	return last.Error.Err()
}
