package teams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Missing is a teammate of a plan that was not started, or is not proved to be, because its
// machine does not answer. All others are started without it.
type Missing struct {
	Name, Machine string
	Err           error
}

// MissingError is what is told of those in the end; nil if there are none. all is how many
// teammates the plan has.
func MissingError(missing []Missing, all int) error {
	if len(missing) == 0 {
		return nil
	}
	code, whys := fault.Timeout, []string{}
	for _, m := range missing {
		if whys = append(whys, m.Name+": "+fault.Of(m.Err).Message); fault.CodeOf(m.Err) == fault.Unproven {
			code = fault.Unproven
		}
	}
	was := "was"
	if len(missing) > 1 {
		was = "were"
	}
	return fault.New(code, "%d of %d teammates %s not started: %s", len(missing), all, was, strings.Join(whys, "; ")).
		WithHint("leadlight machine ls shows when a machine is back; the same leadlight up then adds what is missing")
}

// mute is the error of a machine that does not answer.
type mute struct {
	machine string
	error
}

func (m mute) Unwrap() error { return m.error }

// muteOf returns the machine that does not answer, "" if the error is another one.
func muteOf(err error) string {
	if m, is := errors.AsType[mute](err); is {
		return m.machine
	}
	return ""
}

// checkMembers checks the teammates of a plan, all machines at once. It returns those whose
// machine does not answer, which is asked once, and the mistakes.
func (s *Service) checkMembers(ctx context.Context, t store.Team, p Plan) (missing []Missing, mistakes error) {
	groups := map[string][]int{}
	for i, spec := range p.Members {
		machine := ""
		if s.apart(spec) {
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
					errs[i] = s.checkHere(ctx, t, spec, asked.first("", spec.Git))
				} else if k > 0 && muteOf(errs[at[k-1]]) != "" {
					errs[i] = errs[at[k-1]]
				} else {
					errs[i] = s.checkThere(ctx, t, spec, asked.first(machine, spec.Git))
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
			missing = append(missing, Missing{spec.Name, machine, errs[i]})
		default:
			all = append(all, fmt.Errorf("teammate %s: %w", spec.Name, errs[i]))
		}
	}
	return missing, errors.Join(all...)
}

// isMissing returns why a teammate is missing, nil if it is not.
func isMissing(missing []Missing, name string) *Missing {
	if i := slices.IndexFunc(missing, func(m Missing) bool { return m.Name == name }); i >= 0 {
		return &missing[i]
	}
	return nil
}

// startPlanned starts the teammates of a new team but for those that are missing, and returns
// these with those whose machine has become silent meanwhile.
func (s *Service) startPlanned(ctx context.Context, p Plan, missing []Missing, progress func(string)) ([]Missing, error) {
	var specs []SpawnSpec
	for _, spec := range p.Members {
		if m := isMissing(missing, spec.Name); m != nil {
			progress(m.why())
			continue
		}
		spec.Layout = p.Layout
		specs = append(specs, spec)
	}
	for i, r := range s.telling(progress).Spawn(ctx, p.Team.Name, specs) {
		if machine := muteOf(r.Err); machine != "" {
			missing = append(missing, Missing{specs[i].Name, machine, r.Err})
			progress(missing[len(missing)-1].why())
		} else if r.Err != nil {
			return nil, fmt.Errorf("start %s: %w", specs[i].Name, r.Err)
		}
	}
	switch n := len(p.Members) - len(missing); n {
	case 0:
	case 1:
		progress("1 teammate is started")
	default:
		progress(fmt.Sprintf("%d teammates are started", n))
	}
	var left []string
	for _, m := range missing {
		left = append(left, m.Name)
	}
	return missing, s.noteUnstarted(ctx, store.Team{Name: p.Team.Name}, left)
}

// noteUnstarted writes down who could not be started of a team that was such before. Whoever
// has joined since is not among them; whoever joins later is taken off.
func (s *Service) noteUnstarted(ctx context.Context, was store.Team, names []string) error {
	if len(names) == 0 && len(was.Ours.Unstarted) == 0 {
		return nil
	}
	err := s.roster.Update(ctx, was.Name, func(now *store.Team) error {
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
	return fmt.Sprintf("%s is not started: %s", m.Name, fault.Of(m.Err).Message)
}
