package observe

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// Observer is one session's team as a typed sequence: what a program wants that
// holds a stream and neither files nor JSON of ours. It only watches; to say
// something to the team, write to the session itself.
type Observer struct {
	r     io.Reader
	track *Tracker
	name  atomic.Pointer[Team]
}

// NewObserver observes the stream r from a state, the zero one for a new session.
func NewObserver(r io.Reader, s State) *Observer {
	o := &Observer{r: r, track: NewTracker(s)}
	o.name.Store(s.Team)
	return o
}

// TeamName is the name of the team, "" while there is none. Safe for concurrent
// use.
func (o *Observer) TeamName() string {
	if t := o.name.Load(); t != nil {
		return t.Name
	}
	return ""
}

// Events yields what happens: *events.Message, *events.Idle, *events.ShutdownAsk,
// *events.ShutdownAnswer, *events.PlanAsk, *events.PlanAnswer, *events.Member and
// *events.Task. It ends with the stream, or with the error that ended it. It may be
// ranged over once.
func (o *Observer) Events(ctx context.Context) iter.Seq2[events.Data, error] {
	return func(yield func(events.Data, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r, err := newRunner(Options{Out: io.Discard})
		if err != nil {
			yield(nil, err)
			return
		}
		more := true
		r.track, r.step = o.track, func(s Step) error {
			if more = more && o.yield(s, yield); !more {
				return errEnough
			}
			return nil
		}
		if err := r.run(ctx, newPipe(ctx, o.r)); more && err != nil {
			yield(nil, err)
		}
	}
}

// errEnough ends a stream of which nobody wants the rest.
var errEnough = errors.New("the rest is not wanted")

// yield hands out a step's events and tells whether more are wanted.
func (o *Observer) yield(s Step, yield func(events.Data, error) bool) bool {
	o.name.Store(o.track.state.Team)
	for _, e := range s.Events {
		for _, d := range typed(e) {
			if !yield(d, nil) {
				return false
			}
		}
	}
	return true
}

// typed returns the typed events that one event of the wire stands for. That the
// team is there is not among them: TeamName says it. Idle comes in two kinds.
func typed(e events.Event) []events.Data {
	switch d := e.Data.(type) {
	case *events.Team:
		return nil
	case *events.Idle:
		return []events.Data{d, &events.Member{Head: events.Head{Type: events.KindMemberIdle, SessionID: d.SessionID}, Member: d.Member}}
	}
	return []events.Data{e.Data}
}
