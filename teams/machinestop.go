package teams

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// stopThere groups those who are to be stopped on other machines by their machine. Who has
// failed or was lost may have left something there. A roster that cannot be read names
// nobody: who goes on says so.
func (sp *stopper) stopThere(ctx context.Context, team string, names []string) map[string][]string {
	if sp.machines == nil {
		return nil
	}
	t, err := sp.get(ctx, team)
	if err != nil {
		return nil
	}
	there := map[string][]string{}
	for _, m := range t.Teammates() {
		asked := slices.ContainsFunc(names, func(n string) bool { return store.SameName(t.Local(n), m.Name) })
		if m.Unsafe || !sp.routed(m) || names == nil && m.Leadlight.State == api.StateStopped || names != nil && !asked {
			continue
		}
		there[m.Leadlight.Machine] = append(there[m.Leadlight.Machine], m.Name)
	}
	return there
}

// stopApart stops teammates of several machines, all at once, unless one of here cannot be
// stopped. What a machine that does not answer has done is not proved.
func (sp *stopper) stopApart(ctx context.Context, team string, names []string, there map[string][]string, o StopOptions) (api.Endings, error) {
	if o.Ask <= 0 {
		o.Ask = sp.limits.Ask
	}
	var near *stopping
	here := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return isThere(there, team, name) })
	if names == nil || len(here) > 0 {
		var err error
		if near, err = sp.picked(ctx, team, here, o); err != nil {
			return api.Endings{}, err
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	out, errs := api.Endings{OK: true}, []error{}
	take := func(e api.Endings, err error) {
		mu.Lock()
		defer mu.Unlock()
		out.Members, out.OK = append(out.Members, e.Members...), out.OK && e.OK
		if out.Run = cmp.Or(out.Run, e.Run); err != nil {
			errs = append(errs, err)
		}
	}
	for machine, list := range there {
		wg.Go(func() {
			var e api.Endings
			err := sp.ask(ctx, machine, verbStop, order{Team: team, Names: list, Stop: &o}, &e, func(t told) { o.say(t.Name, t.What) })
			if err != nil {
				e = unprovenEndings(list, err)
			}
			for i := range e.Members {
				e.Members[i].Machine = machine
			}
			take(e, err)
		})
	}
	if near != nil {
		take(near.run(ctx), nil)
	}
	wg.Wait()
	if len(errs) > 0 && (len(there) == 1 && near == nil || ctx.Err() != nil) {
		return api.Endings{}, errs[0]
	}
	return out, nil
}

func isThere(there map[string][]string, team, name string) bool {
	for _, list := range there {
		if slices.ContainsFunc(list, func(n string) bool { return store.SameName(strings.TrimSuffix(name, "@"+team), n) }) {
			return true
		}
	}
	return false
}

func unprovenEndings(names []string, err error) api.Endings {
	out := api.Endings{}
	for _, name := range names {
		out.Members = append(out.Members, api.Ending{Name: name, Outcome: state.Unproven, Reason: fault.Of(err).Message, Leftovers: []string{}})
	}
	return out
}
