package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/events"
	"github.com/leadlight-dev/leadlight/teams/history"
)

// Bounds of events.
const (
	page          = 1000            // events of one read
	farewellLimit = 2 * time.Second // for a subscriber that is cut to hear why
)

// list answers with events of the past.
func (d *daemon) list(ctx context.Context, p api.EventsParams) (api.Events, error) {
	if err := checkTypes(p.Types); err != nil {
		return api.Events{}, err
	}
	if p.Limit <= 0 || p.Limit > 10*page {
		p.Limit = page
	}
	q := history.Query{After: p.After, Team: p.Team, Types: p.Types, Limit: p.Limit + 1, Since: since(p.SinceMs)}
	lines, err := d.hub.history.Read(ctx, q)
	if err == nil && len(lines) <= p.Limit { // a full page stays as it is: what is not known yet comes after it
		if err := d.current(ctx); err != nil {
			return api.Events{}, err
		}
		lines, err = d.hub.history.Read(ctx, q)
	}
	if err != nil {
		return api.Events{}, err
	}
	var s api.DaemonStatus
	d.hub.count(&s)
	out := api.Events{Last: s.Seq, Events: []json.RawMessage{}, More: len(lines) > p.Limit}
	for _, l := range lines[:min(len(lines), p.Limit)] {
		out.Events = append(out.Events, l.JSON)
	}
	return out, nil
}

func since(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(n) * time.Millisecond)
}

// checkTypes refuses a name that no event's name begins with.
func checkTypes(types []string) error {
	for _, t := range types {
		if !slices.ContainsFunc(events.Types(), func(n events.Type) bool { return strings.HasPrefix(string(n), t) }) {
			return fault.New(fault.InvalidType, "no event's name begins with %q", t).WithHint("the names: %s", strings.Join(events.Names(), " "))
		}
	}
	return nil
}

// subscribe answers with the state of now and then tells what comes.
func (d *daemon) subscribe(ctx context.Context, p api.SubscribeParams) (api.Subscribed, error) {
	if err := checkTypes(p.Types); err != nil {
		return api.Subscribed{}, err
	}
	peer := rpc.PeerOf(ctx)
	if err := d.current(ctx); err != nil {
		return api.Subscribed{}, err
	}
	if err := peer.Subscribe("events.subscribe"); err != nil {
		return api.Subscribed{}, err
	}
	s := &subscriber{hub: d.hub, peer: peer, filter: p.EventFilter}
	out, err := s.begin(ctx, p)
	if err != nil {
		peer.Unsubscribe("events.subscribe")
		return out, err
	}
	d.wg.Go(func() {
		<-ctx.Done() // the answer goes first: its request ends when it is sent
		s.run()
	})
	return out, nil
}

// subscriber is one who listens, with the past it still has to hear.
type subscriber struct {
	hub    *hub
	peer   *rpc.Peer
	filter api.EventFilter
	sub    *events.Subscription[events.Event]
	past   history.Query
	replay bool
}

// begin fixes the moment: what is until then is past, everything else comes.
func (s *subscriber) begin(ctx context.Context, p api.SubscribeParams) (api.Subscribed, error) {
	s.past = history.Query{Team: p.Team, Types: p.Types, Since: since(p.SinceMs), Limit: page}
	s.replay = p.After != nil || p.SinceMs > 0
	if p.After != nil {
		s.past.After = *p.After
		oldest, err := s.hub.history.Oldest(ctx)
		if err != nil {
			return api.Subscribed{}, err
		}
		if *p.After > 0 && *p.After+1 < oldest {
			return api.Subscribed{}, fault.New(fault.LimitReached, "the events after %d are no longer kept; the oldest is %d", *p.After, oldest).
				WithHint("subscribe without after, and begin with the snapshot")
		}
	}
	out, sub := s.hub.subscribe(p.Team)
	s.sub, s.past.Until = sub, out.Seq
	if p.After != nil && *p.After > out.Seq {
		sub.Close()
		return out, fault.New(fault.InvalidArgument, "there is no event %d yet; the last is %d", *p.After, out.Seq).
			WithHint("the history began anew: subscribe without after")
	}
	return out, nil
}

// run tells the past, then what comes, until either side ends it.
func (s *subscriber) run() {
	ctx, cancel := context.WithCancel(s.peer.Context())
	defer cancel()
	defer s.sub.Close()
	context.AfterFunc(ctx, s.sub.Close) // a slow one that was cut must not be waited for
	err := s.emit(ctx)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, errMute):
		s.peer.Close()
	case err != nil:
		s.peer.HangUp(farewellLimit, rpc.EventsClosed, api.EventsClosed{Error: *fault.Of(err)})
	}
}

// errMute is a subscriber to whom nothing can be said any more.
var errMute = errors.New("the subscriber takes nothing")

func (s *subscriber) emit(ctx context.Context) error {
	for s.replay {
		lines, err := s.hub.history.Read(ctx, s.past)
		if err != nil {
			return err
		}
		for _, l := range lines {
			s.past.After = l.Seq
			if s.peer.Notify(ctx, rpc.Event, l.JSON) != nil {
				return errMute
			}
		}
		s.replay = len(lines) == page
	}
	for e := range s.sub.C {
		if !s.wants(e) {
			continue
		}
		if s.peer.Notify(ctx, rpc.Event, e) != nil {
			return errMute
		}
	}
	if errors.Is(s.sub.Err(), events.ErrLagged) {
		return fault.New(fault.LimitReached, "the subscriber was too slow: %d events waited for it", s.hub.queue).
			WithHint("subscribe again after the last seq that came")
	}
	return nil
}

func (s *subscriber) wants(e events.Event) bool {
	if s.filter.Team != "" && s.filter.Team != e.Team {
		return false
	}
	return len(s.filter.Types) == 0 || slices.ContainsFunc(s.filter.Types, func(t string) bool { return strings.HasPrefix(string(e.Type), t) })
}
