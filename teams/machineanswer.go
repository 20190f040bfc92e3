package teams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// answers are the verbs that a machine carries out for others.
func answers() map[string]func(context.Context, *Service, order, func(told)) (any, error) {
	return map[string]func(context.Context, *Service, order, func(told)) (any, error){
		verbObserve: answerObserve,
		verbRoom:    answerRoom,
		verbSpawn:   answerSpawn,
		verbStop: func(ctx context.Context, s *Service, o order, tell func(told)) (any, error) {
			if o.Stop == nil || len(o.Names) == 0 {
				return nil, errOrder(verbStop)
			}
			o.Stop.Progress = func(name, what string) { tell(told{Name: name, What: what}) }
			return s.Stop(ctx, o.Team, o.Names, *o.Stop)
		},
		verbRestart: one(verbRestart, func(ctx context.Context, s *Service, o order, tell func(told)) (any, error) {
			return s.WithProgress(func(name, what string) { tell(told{Name: name, What: what}) }).Restart(ctx, o.Team, o.Names[0])
		}),
		verbCapture: one(verbCapture, func(ctx context.Context, s *Service, o order, _ func(told)) (any, error) {
			return s.Capture(ctx, o.Team, o.Names[0], o.Lines, o.ANSI)
		}),
		verbKeys: one(verbKeys, func(ctx context.Context, s *Service, o order, _ func(told)) (any, error) {
			return nil, s.Keys(ctx, o.Team, o.Names[0], o.Keys)
		}),
		verbLogs: one(verbLogs, func(ctx context.Context, s *Service, o order, tell func(told)) (any, error) {
			return nil, s.Logs(ctx, o.Team, o.Names[0], o.Lines, o.Follow, telling(tell))
		}),
		verbDiff: one(verbDiff, func(ctx context.Context, s *Service, o order, tell func(told)) (any, error) {
			d, err := s.Diff(ctx, o.Team, o.Names[0], o.Stat, o.ANSI)
			if err == nil {
				_, err = io.WriteString(telling(tell), d.Text)
			}
			return d, err
		}),
		verbChanged: one(verbChanged, func(ctx context.Context, s *Service, o order, _ func(told)) (any, error) {
			return s.Changed(ctx, o.Team, o.Names[0])
		}),
		verbAttach: one(verbAttach, answerAttach),
	}
}

// Asked is what another machine asks for.
type Asked struct {
	Verb   string
	Params json.RawMessage
	Tell   func(any) error // says something before the result
	Stream io.ReadWriter   // of bytes both ways; nil if there is none
}

// Answer carries out what another machine asks, on the teammates of this one and in the
// name of whoever asked there: what is the lead's is the lead's here, too.
func (s *Service) Answer(ctx context.Context, asked Asked) (any, error) {
	do, known := answers()[asked.Verb]
	if !known {
		return nil, onMachine(s.machine, fault.New(fault.Unsupported, "it does not know how to %s for another one", store.Shown(asked.Verb)).WithHint("install the same version of leadlight on all machines"))
	}
	o := order{viewer: asked.Stream}
	if err := rawjson.Strict(asked.Params, &o); err != nil {
		return nil, onMachine(s.machine, fault.New(fault.InvalidArgument, "the order to %s cannot be read: %w", asked.Verb, err).WithHint("install the same version of leadlight on all machines"))
	}
	if _, err := store.CheckAddress(o.Caller.Name); err != nil {
		return nil, onMachine(s.machine, fmt.Errorf("who asks: %w", err))
	}
	in := s.with(func(c *common) { c.caller, c.machines = o.Caller, nil })
	var mu sync.Mutex
	result, err := do(ctx, in, o, func(t told) {
		mu.Lock()
		defer mu.Unlock()
		_ = asked.Tell(t) // who misses it asks again, or is told the result
	})
	return result, s.fromHere(ctx, err)
}

// fromHere is the error of what was asked of this machine. What its daemon has broken off, since it
// ends, may have been done in part.
func (c *common) fromHere(ctx context.Context, err error) error {
	if why := context.Cause(ctx); err != nil && why != nil && (errors.Is(err, context.Canceled) || errors.Is(err, why)) {
		err = fault.New(fault.Unproven, "its daemon ended while it carried that out").WithHint("leadlight ps shows what became of it")
	}
	return onMachine(c.machine, err)
}

// one is a verb about one teammate.
func one(verb string, do func(context.Context, *Service, order, func(told)) (any, error)) func(context.Context, *Service, order, func(told)) (any, error) {
	return func(ctx context.Context, s *Service, o order, tell func(told)) (any, error) {
		if len(o.Names) != 1 {
			return nil, errOrder(verb)
		}
		return do(ctx, s, o, tell)
	}
}

func errOrder(verb string) error {
	return fault.New(fault.InvalidArgument, "the order to %s does not say whom it is about", verb)
}

// observedThere is how a teammate is doing, as another machine is told, with what the answer to
// a person leaves out.
type observedThere struct {
	api.Member
	ActiveAgo   *int64 `json:"activeAgoMs,omitempty"` // since its last activity, which is the same by every clock
	AtDialog    bool   `json:"atDialog,omitempty"`
	Lines       bool   `json:"lines,omitempty"`
	Unsubmitted bool   `json:"unsubmitted,omitempty"`
}

func answerObserve(ctx context.Context, s *Service, o order, _ func(told)) (any, error) {
	t, err := s.get(ctx, o.Team)
	if err != nil {
		return nil, err
	}
	var here []store.Member
	for _, name := range o.Names {
		if m := t.Member(name); m != nil && !m.Unsafe && m.Leadlight != nil && !s.elsewhere(*m) {
			here = append(here, *m)
		}
	}
	out := []observedThere{}
	for _, m := range s.present(ctx, t, here) {
		var ago *int64
		if m.LastActivityAt != nil {
			ago = new(time.Since(time.Time(*m.LastActivityAt)).Milliseconds())
		}
		out = append(out, observedThere{m, ago, m.AtDialog, m.Lines, m.Unsubmitted})
	}
	return out, nil
}

// activity is when it did something last, by the clock of this machine.
func (o observedThere) activity() *api.Time {
	if o.ActiveAgo == nil { // it is said by an older version
		return o.LastActivityAt
	}
	return api.At(time.Now().Add(-time.Duration(*o.ActiveAgo) * time.Millisecond))
}

// room is what a machine says to one who looks for a place for a teammate.
type room struct {
	CPUs int          `json:"cpus"`
	Why  *fault.Error `json:"why,omitempty"` // the teammate cannot be started there
}

func answerRoom(ctx context.Context, s *Service, o order, _ func(told)) (any, error) {
	t, err := s.get(ctx, o.Team)
	if fault.CodeOf(err) == fault.TeamNotFound {
		t, err = store.Team{Name: o.Team, Engine: "nats", Ours: store.Ours{Schema: store.Schema}}, nil // it is about to be made
	}
	if err == nil && len(o.Specs) != 1 {
		err = errOrder(verbRoom)
	}
	if err != nil {
		return nil, err
	}
	return s.WithProfiles(o.Profiles).roomFor(ctx, t, o.Specs[0], o.Source), nil
}

// roomFor tells whether a teammate could be started here; source is as for checkHere.
func (st *starter) roomFor(ctx context.Context, t store.Team, spec SpawnSpec, source bool) room {
	spec.Machine = st.machine
	return room{CPUs: runtime.NumCPU(), Why: fault.Of(st.checkHere(ctx, t, spec, source))}
}

// spawnedThere is a Spawned on the wire.
type spawnedThere struct {
	Member api.Member   `json:"member"`
	Error  *fault.Error `json:"error,omitempty"`
}

func answerSpawn(ctx context.Context, s *Service, o order, tell func(told)) (any, error) {
	if err := s.leadOnly("start teammates"); err != nil {
		return nil, err
	}
	if _, err := s.get(ctx, o.Team); err != nil {
		return nil, err
	}
	for id, line := range o.Runs {
		if err := s.panes.Records().TrustRun(ctx, o.Team, id, line); err != nil {
			return nil, err
		}
	}
	for i := range o.Specs {
		o.Specs[i].Machine = s.machine
	}
	if o.Most > 0 {
		s.limits.MaxTeammates = o.Most // s is this answer's own
	}
	out := []spawnedThere{}
	s = s.WithProfiles(o.Profiles).WithProgress(func(name, what string) { tell(told{Name: name, What: what}) })
	for _, r := range s.Spawn(ctx, o.Team, o.Specs) {
		out = append(out, spawnedThere{r.Member, fault.Of(s.fromHere(ctx, r.Err))})
	}
	return out, nil
}

// maxTold is how many bytes of text are told at once.
const maxTold = 64 << 10

// telling writes text as what is told.
type telling func(told)

// Write implements io.Writer.
func (w telling) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), maxTold)
		w(told{Text: rest[:n]})
		rest = rest[n:]
	}
	return len(p), nil
}
