package teams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Limits of starting a teammate again by itself.
const (
	replaceFirst = time.Second      // before the first try
	replaceMost  = time.Minute      // between tries; each waits twice as long as the one before
	replaceTries = 5                // in a row
	replaceCalm  = 10 * time.Minute // one that ran this long begins anew
)

// errFaster says that somebody else has done what was to be done.
var errFaster = errors.New("somebody else was faster")

// RestartLost looks at a team that was reconciled and starts those teammates again whose
// host was lost and whose restart policy says so. How often that was done is in the
// roster, so that all who watch a team share one count. It returns whether more are to be
// expected. When one is lost too often in a row the lead is told, once, and it is left alone.
func (rs *restarter) RestartLost(ctx context.Context, team string) (more bool, err error) {
	t, err := rs.get(ctx, team)
	if err != nil || !t.LedByUs() {
		return false, err
	}
	var errs []error
	for _, m := range t.Teammates() {
		if !waitsForRestart(m) {
			continue
		}
		more = true
		if rs.elsewhere(m) {
			continue // its own machine does
		}
		if _, due := nextTry(m.Leadlight, time.Now()); !due {
			continue
		}
		err := rs.restartOneLost(ctx, t.Name, m.Name)
		if err != nil && !errors.Is(err, errFaster) && fault.CodeOf(err) != fault.DuplicateName {
			errs = append(errs, fmt.Errorf("start %s again: %w", m.Name, err))
		}
	}
	return more, errors.Join(errs...)
}

// waitsForRestart tells whether a member waits for being started again.
func waitsForRestart(m store.Member) bool {
	b := m.Leadlight
	return b != nil && !m.Unsafe && b.State == api.StateLost && b.Restart == RestartOnFailure && (b.Replaced == nil || !b.Replaced.GivenUp)
}

// nextTry returns the count after the next try with a lost member, and whether it is
// time for that. A clock that was set back delays nobody.
func nextTry(b *store.Bookkeeping, now time.Time) (next store.Replaced, due bool) {
	lost := deref(b.StoppedAt)
	last := store.Replaced{At: lost}
	if r := b.Replaced; r != nil && lost.Sub(r.At) <= replaceCalm {
		last = *r
	}
	waited := now.Sub(last.At)
	due = waited < 0 || waited >= min(replaceFirst<<last.Times, replaceMost)
	if last.Times >= replaceTries {
		return store.Replaced{Times: last.Times, At: last.At, GivenUp: true}, due
	}
	return store.Replaced{Times: last.Times + 1, At: now}, due
}

// restartOneLost starts one that is lost again, after it has counted that. Of several who want
// to do so at once one does, and the others get errFaster.
func (rs *restarter) restartOneLost(ctx context.Context, team, name string) error {
	if err := rs.leadOnly("restart teammates"); err != nil {
		return err
	}
	var count store.Replaced
	err := rs.roster.Update(ctx, team, func(t *store.Team) error {
		m := t.Member(name)
		if m == nil || !waitsForRestart(*m) {
			return errFaster
		}
		next, due := nextTry(m.Leadlight, time.Now())
		if !due {
			return errFaster
		}
		count, m.Leadlight.Replaced = next, &next
		return nil
	})
	if err != nil {
		return err
	}
	t, m, err := rs.find(ctx, team, name)
	switch {
	case err != nil:
		return err
	case count.GivenUp:
		return errors.Join(errFaster, rs.leaveLost(ctx, t, m, count.Times))
	}
	_, err = rs.restart(ctx, t.Name, m.Name, nil, &count)
	return err
}

// leaveLost tells the lead that somebody is not started again any more.
func (rs *restarter) leaveLost(ctx context.Context, t store.Team, m store.Member, times int) error {
	text := fmt.Sprintf("%s was started again %d times and is lost again. It is left alone now: leadlight restart %s", m.Name, times, m.Name)
	return rs.tellLead(ctx, t, m, text, m.Name+" stays lost")
}
