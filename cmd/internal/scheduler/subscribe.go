package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/events"
)

// farewellLimit is for a subscriber that is cut to hear why.
const farewellLimit = 2 * time.Second

// subscribe answers, and then tells what is there and what happens to it, one
// notification each.
func (s *Scheduler) subscribe(ctx context.Context, p api.TeamRunFilter) (rpc.Nothing, error) {
	peer := rpc.PeerOf(ctx)
	if err := peer.Subscribe(rpc.TeamRunEvent); err != nil {
		return rpc.Nothing{}, err
	}
	if id, err := s.store.FullID(ctx, p.TeamRunID); err == nil {
		p.TeamRunID = id
	}
	var loaded []api.TeamRunEvent
	var sub *events.Subscription[api.TeamRunEvent]
	err := s.store.Loaded(ctx, p, func(list []api.TeamRunEvent) { loaded, sub = list, s.bus.Subscribe(queue) })
	if err != nil {
		peer.Unsubscribe(rpc.TeamRunEvent)
		return rpc.Nothing{}, err
	}
	go func() { // it ends with its connection, which the daemon keeps until our work has ended
		<-ctx.Done() // the answer goes first: its request ends when it is sent
		s.serveSubscriber(peer, p, loaded, sub)
	}()
	return rpc.Nothing{}, nil
}

func (s *Scheduler) serveSubscriber(peer *rpc.Peer, p api.TeamRunFilter, loaded []api.TeamRunEvent, sub *events.Subscription[api.TeamRunEvent]) {
	ctx, cancel := context.WithCancel(peer.Context())
	defer cancel()
	defer sub.Close()
	context.AfterFunc(ctx, sub.Close) // a slow one that was cut must not be waited for
	say := func(e api.TeamRunEvent) bool {
		wanted := (p.TeamID == "" || p.TeamID == e.TeamID) && (p.TeamRunID == "" || p.TeamRunID == e.TeamRunID)
		return !wanted || peer.Notify(ctx, rpc.TeamRunEvent, e) == nil
	}
	for _, e := range loaded {
		if !say(e) {
			peer.Close()
			return
		}
	}
	for e := range sub.C {
		if !say(e) {
			peer.Close()
			return
		}
	}
	if errors.Is(sub.Err(), events.ErrLagged) {
		peer.HangUp(farewellLimit, rpc.EventsClosed, api.EventsClosed{Error: fault.Error{Code: fault.LimitReached,
			Message: "the subscriber was too slow", Hint: "subscribe again: what is there is told first"}})
	}
}
