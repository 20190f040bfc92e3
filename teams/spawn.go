package teams

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/worktree"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// SpawnSpec describes a teammate to be started.
type SpawnSpec struct {
	Name      string
	Profile   string   // "": exec when there is a command, else the default profile
	Command   []string // what to run, for profiles that run what they are given
	Kind      string   // "": the profile's
	Model     string
	AgentType string
	Prompt    string  // first message
	Cwd       string  // "": the team's, else the lead's
	Git       *Source `json:",omitempty"` // a repository of which it gets a worktree, instead of Cwd
	Color     string  // "": the least used
	Env       []string
	Run       string // worker: the line for tasks that bring none
	RunTask   bool   // worker: obeys metadata.run of any task
	Restart   string // "", RestartNever or RestartOnFailure
	PlanMode  bool
	Worktree  *string // a git worktree of its own: on this branch, "" one of its own; nil: none
	Placement backend.Place
	Layout    panes.Layout
	Ready     time.Duration
	Machine   string // of the engine's machines, or MachineAuto; "": this one
	After     string // behind which member it stands in the roster; "": behind all

	Places map[string]string `json:"-"` // where its keys stand in the team file, as file:line:column; nil without one

	again    *panes.LaunchRecord // a restart: as recorded; the mail stays, the prompt is not sent again
	replaced *store.Replaced     // how often in a row nobody has asked for the restart
}

// Spawned is what became of a SpawnSpec.
type Spawned struct {
	Member api.Member
	Err    error // nothing is left of it, if not nil
}

// spawning is one call of Spawn. A set of teammates goes through its stages: resolve,
// fetch, register, launch, commit. Each stage takes those that came through the one before, and
// returns those that came through it as a type of its own, with what it has done for them.
// fetch hands them on in parts, each of which goes through the rest before the next one.
// What a stage has done for a teammate that fails later is taken back: unregister,
// panes.Manager.Undo.
type spawning struct {
	*starter
	t       store.Team
	out     []Spawned          // one for each spec, in order
	order   []string           // of the members in the roster
	dropped []registeredMember // failed after they were registered
}

// resolvedMember is a teammate to be started of whom all is known and checked.
type resolvedMember struct {
	at      int // which spec
	spec    SpawnSpec
	record  panes.LaunchRecord // as it is launched; the folder of one with a repository is "" until that is fetched
	profile profiles.Profile
	clone   *worktree.Clone // of its repository
	env     []string        // but for who it is
}

// registeredMember stands in the roster as starting, with its worktree and first message.
type registeredMember struct {
	resolvedMember
	entry store.Member   // as last written
	old   *store.Member  // whose place it took
	tree  *worktree.Tree // of its own
}

// launchedMember runs in its pane.
type launchedMember struct {
	registeredMember
	launch panes.Launch
	pane   backend.Pane
}

func (m resolvedMember) index() int { return m.at }

// Spawn starts teammates, all at once, but for those whose repository has yet to come: the
// roster first, then the first message, then the panes. It returns one result for each spec, in order; what failed is
// undone and does not keep the others from starting.
func (st *starter) Spawn(ctx context.Context, team string, specs []SpawnSpec) []Spawned {
	r := &spawning{starter: st, out: make([]Spawned, len(specs))}
	err := st.leadOnly("start teammates")
	if err == nil {
		r.t, err = st.get(ctx, team)
	}
	if err == nil {
		specs = slices.Clone(specs)
		err = st.chooseMachines(ctx, r.t, specs)
	}
	if err == nil && slices.ContainsFunc(specs, st.apart) {
		return st.spawnApart(ctx, r.t, specs)
	}
	if err != nil {
		for i := range r.out {
			r.out[i].Err = err
		}
		return r.out
	}
	for ready := range r.fetch(ctx, r.resolve(ctx, specs)) {
		r.start(ctx, ready)
	}
	return r.out
}

// start takes members through the stages in which they are locked.
func (r *spawning) start(ctx context.Context, in []resolvedMember) {
	locked, release := r.lock(ctx, in)
	defer release()
	r.dropped = nil
	started := r.commit(ctx, r.launch(ctx, r.register(ctx, locked)))
	r.unregister(context.WithoutCancel(ctx))
	r.look(context.WithoutCancel(ctx), started) // they run: whoever is interrupted now has to be told
}

// pass calls f for all members of a stage at once. It returns those that came through, and
// those that did not, whose errors it keeps.
func pass[T interface{ index() int }](r *spawning, in []T, f func(i int, m *T) error) (on, off []T) {
	errs := make([]error, len(in))
	all(len(in), func(i int) { errs[i] = f(i, &in[i]) })
	for i, m := range in {
		if errs[i] == nil {
			on = append(on, m)
			continue
		}
		r.out[m.index()].Err = errs[i]
		off = append(off, m)
	}
	return on, off
}

// lock keeps other verbs from starting or ending the members until it is known what
// became of them.
func (r *spawning) lock(ctx context.Context, in []resolvedMember) (on []resolvedMember, release func()) {
	var held []func()
	var names []string
	// In one order, so that two spawns never wait for each other.
	slices.SortStableFunc(in, func(a, b resolvedMember) int { return cmp.Compare(a.spec.Name, b.spec.Name) })
	for _, m := range in {
		twice := slices.ContainsFunc(names, func(n string) bool { return store.SameName(n, m.spec.Name) })
		if !twice && m.spec.again == nil { // the roster refuses a name that comes twice, and a restart has the lock
			free, err := r.lockMember(ctx, r.t.Name, m.spec.Name, "start a teammate")
			if err != nil {
				r.out[m.at].Err = err
				continue
			}
			held = append(held, free)
		}
		on, names = append(on, m), append(names, m.spec.Name)
	}
	slices.SortFunc(on, func(a, b resolvedMember) int { return cmp.Compare(a.at, b.at) })
	return on, func() {
		for _, free := range held {
			free()
		}
	}
}

// look tells how those that were started are doing.
func (r *spawning) look(ctx context.Context, in []launchedMember) {
	all(len(in), func(i int) {
		m := r.observeOne(ctx, r.t, in[i].entry)
		m.Unread, m.OldestUnreadAt = unread(ctx, r.t, in[i].spec.Name, r.mail.List)
		r.out[in[i].at].Member = m
	})
}
