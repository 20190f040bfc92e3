package observe

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"time"

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
	o := &Observer{r: r, track: NewTracker(s, 0)}
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
		src := newPipe(ctx, o.r)
		lines := splitter{limit: MaxLine}
		var array unwrapper
		buf := make([]byte, chunkSize)
		more := true
		take := func(line []byte, p piece) error {
			if p == whole && more {
				more = o.yield(o.track.Line(line), yield)
			}
			return nil
		}
		for more {
			n, err := src.read(ctx, buf, time.Duration(0))
			_ = lines.feed(array.feed(buf[:n]), take)
			if err == nil {
				continue
			}
			if rest := append(lines.rest(), array.rest()...); !isTorn(rest) {
				_ = take(rest, whole)
			}
			if more && o.yield(o.track.Close(), yield) && err != io.EOF {
				yield(nil, err)
			}
			return
		}
	}
}

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
