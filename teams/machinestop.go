package teams

import (
	"cmp"
	"context"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// apart stops teammates of several machines, all at once; everyone: no names were given. What a
// machine that does not answer has done is not proved.
func (r *stopping) apart(ctx context.Context, there map[string][]string, everyone bool) (api.Endings, error) {
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
			err := r.network.ask(ctx, machine, verbStop, order{Team: r.t.Name, Names: list, Stop: &r.o}, &e, func(t told) { r.o.say(t.Name, t.What) })
			if err != nil {
				e = unprovenEndings(list, err)
			}
			for i := range e.Members {
				e.Members[i].Machine = machine
			}
			take(e, err)
		})
	}
	take(r.run(ctx), nil)
	wg.Wait()
	if len(errs) > 0 && (len(there) == 1 && len(r.members) == 0 && !everyone || ctx.Err() != nil) {
		return api.Endings{}, errs[0]
	}
	return out, nil
}

func unprovenEndings(names []string, err error) api.Endings {
	out := api.Endings{}
	for _, name := range names {
		out.Members = append(out.Members, api.Ending{Name: name, Outcome: state.Unproven, Reason: fault.Of(err).Message, Leftovers: []string{}})
	}
	return out
}
