package teams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Missing is a teammate of a plan that was not started, or is not proved to be, because its
// machine does not answer. All others are started without it.
type Missing struct {
	Name, Machine string
	Err           error
	was           string // its host before, "" if it had none
}

// MissingError is what is told of those in the end; nil if there are none. all is how many
// teammates the plan has.
func MissingError(missing []Missing, all int) error {
	if len(missing) == 0 {
		return nil
	}
	code, whys, teammates, was, is := fault.Timeout, []string{}, "teammates", "was", "is"
	if all == 1 {
		teammates = "teammate"
	}
	if len(missing) > 1 {
		was, is = "were", "are"
	}
	what := was + " not started"
	for _, m := range missing {
		if whys = append(whys, m.Name+": "+fault.Of(m.Err).Message); m.unproven() {
			code, what = fault.Unproven, was+" not started, or "+is+" not proved to be"
		}
	}
	return fault.New(code, "%d of %d %s %s: %s", len(missing), all, teammates, what, strings.Join(whys, "; ")).
		WithHint("leadlight machine ls shows when a machine is back; the same leadlight up then adds what is missing")
}

// muteOf returns the machine that does not answer, "" if the error is another one.
func muteOf(err error) string {
	if m, is := errors.AsType[api.Mute](err); is {
		return m.Machine
	}
	return ""
}

// checkMembers checks the teammates of a plan, all machines at once. It returns those whose
// machine does not answer, which is asked once, and the mistakes.
func (lc *lifecycle) checkMembers(ctx context.Context, t store.Team, p Plan) (missing []Missing, mistakes error) {
	groups := map[string][]int{}
	for i, spec := range p.Members {
		machine := ""
		if lc.apart(spec) {
			machine = spec.Machine
		}
		groups[machine] = append(groups[machine], i)
	}
	errs := make([]error, len(p.Members))
	var wg sync.WaitGroup
	for machine, at := range groups {
		wg.Go(func() {
			asked := sources{}
			for k, i := range at {
				if spec := p.Members[i]; machine == "" {
					errs[i] = lc.checkHere(ctx, t, spec, asked.first("", spec.Git))
				} else if k > 0 && muteOf(errs[at[k-1]]) != "" {
					errs[i] = errs[at[k-1]]
				} else {
					errs[i] = lc.checkThere(ctx, t, spec, asked.first(machine, spec.Git))
				}
			}
		})
	}
	wg.Wait()
	var all []error
	for i, spec := range p.Members {
		switch machine := muteOf(errs[i]); {
		case errs[i] == nil:
		case machine != "":
			missing = append(missing, Missing{Name: spec.Name, Machine: machine, Err: errs[i]})
		default:
			all = append(all, fmt.Errorf("%steammate %s: %w", spec.place(errs[i]), spec.Name, errs[i]))
		}
	}
	return missing, errors.Join(all...)
}

// place says where in the team file the mistake of a spec is, with a colon behind it; "" if
// it comes from none.
func (spec SpawnSpec) place(mistake error) string {
	m, _ := errors.AsType[mistaken](mistake)
	if at := cmp.Or(spec.Places[m.key], spec.Places["name"]); at != "" {
		return at + ": "
	}
	return ""
}

// leftOut adds a teammate to those that are missing, and says so, if its error is that its
// machine does not answer.
func leftOut(missing *[]Missing, name string, err error, progress func(string)) bool {
	m := Missing{Name: name, Machine: muteOf(err), Err: err}
	if m.Machine == "" {
		return false
	}
	*missing = append(*missing, m)
	progress(m.why())
	return true
}

// isMissing returns why a teammate is missing, nil if it is not.
func isMissing(missing []Missing, name string) *Missing {
	if i := slices.IndexFunc(missing, func(m Missing) bool { return m.Name == name }); i >= 0 {
		return &missing[i]
	}
	return nil
}

// noteUnstarted writes down who could not be started of a team that was such before. Whoever
// has joined since is not among them; whoever joins later is taken off.
func (rg *registry) noteUnstarted(ctx context.Context, was store.Team, names []string) error {
	if len(names) == 0 && len(was.Ours.Unstarted) == 0 {
		return nil
	}
	err := rg.roster.Update(ctx, was.Name, func(now *store.Team) error {
		now.Ours.Unstarted = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return hostOf(now.Member(name)) != hostOf(was.Member(name))
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("write down who is not started: %w", err)
	}
	return nil
}

// hostOf is the host that a member has, "" if there is none.
func hostOf(m *store.Member) string {
	if m == nil || m.Leadlight == nil {
		return ""
	}
	return m.Leadlight.Host
}

func (m Missing) why() string {
	what := "is not started"
	if m.unproven() {
		what = "is not proved to be started"
	}
	return fmt.Sprintf("%s %s: %s", m.Name, what, fault.Of(m.Err).Message)
}

// unproven tells whether the machine became silent after the start had begun: the teammate may run.
func (m Missing) unproven() bool { return fault.CodeOf(m.Err) == fault.Unproven }

// StillMissing are those of missing that were not seen since: who has joined the team, and whose
// machine says how it is doing or how it ended, was started after all.
func (ob *observer) StillMissing(ctx context.Context, team string, missing []Missing) []Missing {
	if len(missing) == 0 {
		return nil
	}
	t, err := ob.get(ctx, team)
	if err != nil {
		return missing
	}
	var joined []store.Member
	for _, m := range missing {
		if now := t.Member(m.Name); hostOf(now) != m.was && hostOf(now) != "" {
			joined = append(joined, *now)
		}
	}
	came := map[string]bool{}
	for i, m := range ob.present(ctx, t, joined) {
		came[joined[i].Name] = m.State != api.StateStarting && m.State != api.StateUnknown && m.State != api.StateLost
	}
	return slices.DeleteFunc(slices.Clone(missing), func(m Missing) bool { return came[m.Name] })
}

// anybodyRuns tells whether a team is there, and one of it is not known to have ended.
func (ob *observer) anybodyRuns(ctx context.Context, t store.Team, there bool) (bool, error) {
	if !there {
		return false, nil
	}
	members, _, err := ob.Members(ctx, t.Name, true)
	return slices.ContainsFunc(members, isLive), err
}

func isLive(m api.Member) bool { return m.Live() }
