package teams

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// MachineAuto lets a teammate be started on the machine with most room.
const MachineAuto = "auto"

// checkMachine refuses a machine for one that is started here, by the files of here.
func (st *starter) checkMachine(t store.Team, spec SpawnSpec) error {
	switch {
	case spec.Machine == "":
		return nil
	case st.machine == "":
		return fault.New(fault.EngineUnavailable, "teammate %s is asked for on machine %s, and this machine has joined no engine", spec.Name, store.Shown(spec.Machine)).
			WithHint("leadlight machine join nats://HOST:4222")
	case t.Engine == "":
		return fault.New(fault.InvalidArgument, "teammate %s is asked for on machine %s, but team %s is in files: its teammates run here", spec.Name, store.Shown(spec.Machine), t.Name).
			WithHint("make the team on the engine: leadlight team create NAME --engine URL, or engine: in the team file")
	}
	return nil
}

// spawnApart starts teammates of which some are to run on other machines, all machines at
// once.
func (st *starter) spawnApart(ctx context.Context, t store.Team, specs []SpawnSpec) []Spawned {
	out := make([]Spawned, len(specs))
	groups := map[string][]int{}
	for i, spec := range specs {
		if err := st.checkMachine(t, spec); err != nil {
			out[i].Err = err
			continue
		}
		groups[spec.Machine] = append(groups[spec.Machine], i)
	}
	if at := groups[st.machine]; st.machine != "" && len(at) > 0 {
		groups[""] = append(groups[""], at...)
		delete(groups, st.machine)
	}
	runs := st.panes.Records().TrustedRuns(ctx, t.Name)
	var wg sync.WaitGroup
	for machine, at := range groups {
		wg.Go(func() {
			mine := make([]SpawnSpec, len(at))
			for k, i := range at {
				mine[k] = specs[i]
			}
			var done []Spawned
			if machine == "" {
				done = st.Spawn(ctx, t.Name, mine)
			} else {
				done = st.spawnThere(ctx, machine, order{Team: t.Name, Specs: mine, Profiles: st.profilesFor(mine), Runs: runs, Most: st.limits.MaxTeammates})
			}
			for k, i := range at {
				out[i] = done[k]
			}
		})
	}
	wg.Wait()
	return out
}

func (st *starter) spawnThere(ctx context.Context, machine string, o order) []Spawned {
	out := make([]Spawned, len(o.Specs))
	var there []spawnedThere
	err := st.ask(ctx, machine, verbSpawn, o, &there, func(t told) { st.say(t.Name, t.What) })
	if err == nil && len(there) != len(out) {
		err = fault.New(fault.Failed, "machine %s answers for %d teammates, not %d", machine, len(there), len(out))
	}
	for i := range out {
		if out[i].Err = err; err == nil {
			out[i] = Spawned{there[i].Member, there[i].Error.Err()}
		}
	}
	return out
}

// profilesFor are the profiles of specs that are not as they are built in: the other machine
// may know none of the name, or another.
func (st *starter) profilesFor(specs []SpawnSpec) map[string]profiles.Profile {
	own, built := map[string]profiles.Profile{}, profiles.NewSet(nil)
	for _, spec := range specs {
		name := cmp.Or(spec.ProfileName(), defaultProfile)
		p, known := st.profiles[name]
		if known && !equalJSON(p, built[name]) {
			own[name] = p
		}
	}
	return own
}

func equalJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// chooseMachines gives each spec that leaves it open the machine with most room that can
// start it: the one with the fewest teammates for each of its processors, then the one with
// the least load.
func (st *starter) chooseMachines(ctx context.Context, t store.Team, specs []SpawnSpec) error {
	if !slices.ContainsFunc(specs, func(x SpawnSpec) bool { return x.Machine == MachineAuto }) {
		return nil
	}
	if err := st.checkMachine(t, SpawnSpec{Name: specs[0].Name, Machine: MachineAuto}); err != nil {
		return err
	}
	list, err := st.machines.List(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(m api.Machine) bool { return m.State != api.MachineActive })
	for i := range specs {
		if specs[i].Machine != MachineAuto {
			continue
		}
		k, err := st.roomiest(ctx, t, list, specs[i])
		if err != nil {
			return err
		}
		list[k].Teammates++
		specs[i].Machine = list[k].Name
	}
	return nil
}

// roomiest asks all machines for room, and returns the place of the best one in the list.
func (st *starter) roomiest(ctx context.Context, t store.Team, list []api.Machine, spec SpawnSpec) (int, error) {
	rooms := make([]room, len(list))
	var wg sync.WaitGroup
	for i, m := range list {
		wg.Go(func() {
			if m.This {
				rooms[i] = st.roomFor(ctx, t, spec, false)
				return
			}
			o := order{Team: t.Name, Specs: []SpawnSpec{spec}, Profiles: st.profilesFor([]SpawnSpec{spec})}
			if err := st.ask(ctx, m.Name, verbRoom, o, &rooms[i], nil); err != nil {
				rooms[i].Why = fault.Of(err)
			}
		})
	}
	wg.Wait()
	best, whys := -1, []string{}
	var first error
	share := func(i int) (teammates, load float64) {
		cpus := float64(max(1, rooms[i].CPUs))
		return float64(list[i].Teammates) / cpus, list[i].Load / cpus
	}
	for i, r := range rooms {
		if r.Why != nil {
			whys = append(whys, list[i].Name+": "+r.Why.Message)
			first = cmp.Or(first, r.Why.Err())
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		teammates, load := share(i)
		fewest, least := share(best)
		if cmp.Or(cmp.Compare(teammates, fewest), cmp.Compare(load, least)) < 0 {
			best = i
		}
	}
	if best >= 0 {
		return best, nil
	}
	if first == nil {
		return 0, fault.New(fault.EngineUnavailable, "no machine is there to start teammate %s", spec.Name).WithHint("leadlight machine ls shows when each was seen")
	}
	return 0, &fault.Error{Code: fault.CodeOf(first), Message: fmt.Sprintf("no machine can start teammate %s (%s)", spec.Name, strings.Join(whys, "; ")), Hint: fault.Of(first).Hint}
}

// checkThere checks a teammate that is to be started on another machine, by what is there;
// source is as for checkHere.
func (st *starter) checkThere(ctx context.Context, t store.Team, spec SpawnSpec, source bool) error {
	if err := st.checkMachine(t, spec); err != nil {
		return err
	}
	var r room
	o := order{Team: t.Name, Specs: []SpawnSpec{spec}, Profiles: st.profilesFor([]SpawnSpec{spec}), Source: source}
	if err := st.ask(ctx, spec.Machine, verbRoom, o, &r, nil); err != nil {
		return err
	}
	if r.Why != nil {
		return fmt.Errorf("machine %s: %w", spec.Machine, r.Why.Err())
	}
	return nil
}
