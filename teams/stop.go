package teams

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/state"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// StopOptions say how teammates are stopped.
type StopOptions struct {
	Ask    time.Duration // how long each may think about it; 0: the limit of the team
	Reason string        // told to the teammate
	Force  bool          // a refusal does not end it
	// KeepLost leaves who was lost before as lost, and its worktree: it may be started again.
	KeepLost bool

	again bool // a restart, which has the member's lock: its worktree stays

	// Progress, if not nil, is told what is done to whom, and what became of it as soon
	// as that is known. It is called concurrently.
	Progress func(name, what string) `json:"-"`
}

func (o *StopOptions) say(name, what string) {
	if o.Progress != nil {
		o.Progress(name, what)
	}
}

// stopping is one call of Stop. A set of members goes through its stages: ask and end,
// where each member takes the time that it needs, then close, verify and record, for all
// that have come so far at once.
type stopping struct {
	*stopper
	t         store.Team
	o         StopOptions
	processes *panes.Stopper
	members   []*stoppingMember
	now       sharedLook // at the roster, while they end
	damage    error      // of the roster, which can then be neither believed nor written
}

// stoppingMember is one member on its way.
type stoppingMember struct {
	store.Member
	obs     panes.Observation
	began   time.Time
	live    bool
	request string           // id of the request to stop, "" if it was not asked
	message string           // id of the message with it
	back    bool             // it was taken back
	asked   time.Time        // when
	answers chan answer      // the newest one
	target  panes.Target     // from the stage end on
	result  panes.StopResult // what ending it came to
	out     api.Ending
	release func() // gives its lock back
}

// Stop stops teammates: ask, TERM, KILL, close the panes, look again, write it down.
// names nil means all. The error is about the call as a whole; what became of each
// teammate is in the answer, whose OK is false if one refused or is not proved to be
// gone. A teammate that takes long does not delay the others.
func (sp *stopper) Stop(ctx context.Context, team string, names []string, o StopOptions) (api.Endings, error) {
	if err := sp.leadOnly("stop teammates"); err != nil {
		return api.Endings{}, err
	}
	r, there, err := sp.picked(ctx, team, names, o)
	if err != nil {
		return api.Endings{}, err
	}
	if len(there) > 0 {
		return r.apart(ctx, there, names == nil)
	}
	return r.run(ctx), nil
}

// picked is a stop of which nothing is done yet, of the teammates of this machine; there are
// those of others, by machine. What speaks against it is its error.
func (sp *stopper) picked(ctx context.Context, team string, names []string, o StopOptions) (_ *stopping, there map[string][]string, err error) {
	t, members, err := sp.toStop(ctx, team, names, o)
	var damage error
	switch fault.CodeOf(err) {
	case fault.CorruptFile, fault.PermissionDenied:
		damage = err
		t = store.Team{Name: team, Ours: store.Ours{Schema: store.Schema}}
		members, err = sp.withoutRoster(ctx, team, names, err)
	case fault.MemberNotFound: // the roster was emptied, and a host may run all the same
		var far []store.Member // whom it still names
		near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			m, none := memberOf(t, name)
			if none != nil || !sp.routed(m) || ofItsLead(t, m) {
				return false
			}
			far = append(far, m)
			return true
		})
		if members, err = sp.withoutRoster(ctx, team, near, err); err == nil {
			members = append(members, far...)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	there = map[string][]string{}
	here := slices.DeleteFunc(members, func(m store.Member) bool {
		if sp.routed(m) {
			there[m.Leadlight.Machine] = append(there[m.Leadlight.Machine], m.Name)
		}
		return sp.routed(m)
	})
	if o.Ask <= 0 {
		o.Ask = sp.limits.Ask
	}
	r := &stopping{stopper: sp, t: t, o: o, processes: sp.panes.Stopper(sp.limits.Term, sp.limits.Kill).Recorded(), members: make([]*stoppingMember, len(here)), damage: damage}
	all(len(here), func(i int) { r.members[i] = r.observe(ctx, here[i]) })
	return r, there, nil
}

// run takes the members through all stages.
func (r *stopping) run(ctx context.Context) api.Endings {
	defer r.ask(ctx)()
	through := make(chan *stoppingMember)
	for _, m := range r.members {
		go func() {
			r.end(ctx, m)
			through <- m
		}()
	}
	// From here on an interrupt would leave half of it: each step has its own limit.
	done, left := context.WithoutCancel(ctx), len(r.members)
	inBatches(through, len(r.members), func(batch []*stoppingMember) {
		r.close(done, batch)
		r.record(done, batch)
		r.giveUp(done, batch)
		left -= len(batch)
		r.report(batch, left > 0)
	})
	r.panes.TidyRun(done)
	return r.answer()
}

// toStop picks the members that are meant; one that somebody else runs is refused before
// anything is done. It waits for other verbs that start or end one of them.
func (sp *stopper) toStop(ctx context.Context, team string, names []string, o StopOptions) (store.Team, []store.Member, error) {
	t, err := sp.get(ctx, team)
	if err != nil {
		return t, nil, err
	}
	if !o.again {
		if t, err = sp.awaitOthers(ctx, t, names, o.say); err != nil {
			return t, nil, err
		}
	}
	var out []store.Member
	for _, m := range t.Teammates() {
		over := m.Leadlight != nil && settled(m.Leadlight.State) && sp.elsewhere(m)
		if sp.routed(m) { // who has failed or was lost may have left something there
			over = m.Unsafe || m.Leadlight.State == api.StateStopped
		}
		if names == nil && !ofItsLead(t, m) && !over {
			out = append(out, m)
		}
	}
	for _, name := range names {
		m, err := memberOf(t, name)
		switch {
		case err != nil:
			return t, nil, err
		case t.IsLead(m):
			return t, nil, fault.New(fault.InvalidArgument, "%s is the lead, which is never stopped", m.Name).WithHint("leadlight down %s ends the whole team", shell.Line(t.Name))
		case ofItsLead(t, m):
			return t, nil, fault.New(fault.NotLead, "teammate %s was started by the lead of team %s, not by leadlight", m.Name, t.Name).
				WithHint("ask its own lead to end it")
		case !slices.ContainsFunc(out, func(o store.Member) bool { return o.Name == m.Name }):
			out = append(out, m)
		}
	}
	for _, m := range out {
		if err := sp.notHere(m); err != nil && !sp.routed(m) {
			return t, nil, err
		}
	}
	return t, out, nil
}

// observe looks how a member is doing before anything is done to it.
func (r *stopping) observe(ctx context.Context, m store.Member) *stoppingMember {
	obs := r.observed(ctx, r.t.Name, m)
	return &stoppingMember{
		Member: m, obs: obs, began: time.Now(), live: !settled(m.Leadlight.State) && state.Live(obs.State),
		answers: make(chan answer, 1), out: api.Ending{Name: m.Name, Leftovers: []string{}},
	}
}

// guardLead refuses to go on when the roster names the lead's own pane as the
// member's: somebody wrote it there.
func (r *stopping) guardLead(ctx context.Context, m *stoppingMember) error {
	pane := m.obs.Record.Pane
	if pane != "" && paneOf(m.Member) != "" && pane != m.TmuxPaneID {
		return fault.New(fault.Rejected, "the roster says pane %s, the host of %s says %s", store.Shown(m.TmuxPaneID), m.Name, pane)
	}
	if pane != "" {
		return nil // its host stands in it: no need to ask a terminal that may be mute
	}
	if self, ok := r.panes.Self(ctx); ok && string(self) == m.TmuxPaneID {
		return fault.New(fault.Rejected, "the roster gives %s the pane %s, which is the lead's own", m.Name, m.TmuxPaneID)
	}
	return nil
}

// report closes the books on members. While others are under way it says what became of
// these; in the end the answer does.
func (r *stopping) report(batch []*stoppingMember, others bool) {
	for _, m := range batch {
		if m.release != nil {
			m.release()
		}
		m.out.DurationMs = time.Since(m.began).Milliseconds()
		if others {
			r.o.say(m.Name, cmp.Or(m.out.Reason, m.out.Outcome))
		}
	}
}

func (r *stopping) answer() api.Endings {
	out := api.Endings{Members: []api.Ending{}, OK: true, Run: r.t.Ours.Run}
	for _, m := range r.members {
		out.Members = append(out.Members, m.out)
		if m.out.Outcome == state.Rejected || m.out.Outcome == state.Unproven || m.out.Code != "" {
			out.OK = false
		}
	}
	return out
}

// Verdict is the error that an outcome amounts to, nil when every teammate ended.
func Verdict(e api.Endings) error {
	var refused, unproven, unwritten []string
	var last api.Ending // that could not be written down
	for _, m := range e.Members {
		switch {
		case m.Code != "" && m.Code == last.Code && m.Reason == last.Reason: // one write for a set has failed
			last.Name += ", " + m.Name
			unwritten[len(unwritten)-1] = last.Name + ": " + last.Reason
		case m.Code != "":
			unwritten, last = append(unwritten, m.Name+": "+m.Reason), m
		case m.Outcome == state.Rejected:
			refused = append(refused, m.Name+": "+cmp.Or(m.Reason, "no reason given"))
		case m.Outcome == state.Unproven:
			unproven = append(unproven, m.Name+": "+cmp.Or(m.Reason, "not observed"))
		}
	}
	switch {
	case len(unproven) > 0:
		return fault.New(fault.Unproven, "not proved to be gone: %s", strings.Join(unproven, "; ")).
			WithHint("leadlight ps shows what can be seen, leadlight doctor why; nothing was ended without proof that it is ours")
	case len(unwritten) > 0:
		return fault.New(fault.Code(last.Code), "%s", strings.Join(unwritten, "; ")).WithHint("leadlight ps shows it as lost until then: repeat this when it can be written")
	case len(refused) > 0:
		return fault.New(fault.Rejected, "refused to stop: %s", strings.Join(refused, "; ")).
			WithHint("--force ends a teammate that refuses")
	}
	return nil
}

// end is the stage in which a member ends: by itself after it was asked, else by TERM
// and KILL. What it comes to is in m.result, or in m.out if it does not end.
func (r *stopping) end(ctx context.Context, m *stoppingMember) {
	if err := r.guardLead(ctx, m); err != nil {
		m.out.Outcome, m.out.Reason = state.Unproven, err.Error()
		return
	}
	var said answer
	if m.request != "" {
		said = r.await(ctx, m)
	}
	switch {
	case said.outcome == state.Rejected && !r.o.Force:
		m.out.Outcome, m.out.Reason = state.Rejected, said.reason
		return
	case ctx.Err() != nil && said.outcome == "":
		m.out.Outcome, m.out.Reason = state.Unproven, "interrupted: "+r.withdraw(context.WithoutCancel(ctx), m)
		m.back = true
		return
	}
	ctx = context.WithoutCancel(ctx)
	if err := r.lock(ctx, m); err != nil {
		m.out.Outcome, m.out.Reason = state.Unproven, fault.Of(err).Message
		return
	}
	if r.replaced(ctx, m) { // it was started again since: that one is not meant
		if m.out.Outcome = state.AlreadyStopped; m.live {
			m.out.Outcome = cmp.Or(said.outcome, state.Exited)
		}
		return
	}
	if m.live && said.outcome == "" {
		r.o.say(m.Name, fmt.Sprintf("gets SIGTERM, and SIGKILL after %s", r.limits.Term))
	}
	m.target = r.target(r.t, m.Member, m.obs)
	m.result = r.processes.End(ctx, m.target)
	if m.result.Outcome == state.Unproven {
		m.out.Reason = m.result.Reason
	}
	m.out.Outcome = said.outcome
}

// close closes the panes of members that have ended, as a set, and looks again.
func (r *stopping) close(ctx context.Context, batch []*stoppingMember) {
	var ended []*stoppingMember
	var set []*panes.StopResult
	for _, m := range batch {
		if m.target.Host != "" {
			ended, set = append(ended, m), append(set, &m.result)
		}
	}
	if len(set) == 0 {
		return
	}
	r.processes.Close(ctx, set)
	for _, m := range ended {
		r.judge(ctx, m)
	}
}

// judge decides which word the end of a member gets.
func (r *stopping) judge(ctx context.Context, m *stoppingMember) {
	said, found := m.out.Outcome, m.result.Outcome
	m.out.Outcome, m.out.Reason = found, ""
	m.out.Leftovers = append(m.out.Leftovers, m.result.Leftovers...)
	switch {
	case found == state.Unproven:
		m.out.Reason = m.result.Reason
	case said == state.Approved, said == state.Exited && r.written(ctx, r.t.Name, m.Member) != nil:
		m.out.Outcome = said
	case found == state.PaneKilled && !m.live:
		m.out.Outcome = state.AlreadyStopped // only its dead pane was left
	}
}
