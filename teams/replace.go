package teams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Limits of starting a teammate again by itself.
const (
	replaceFirst = time.Second      // before the first try
	replaceMost  = time.Minute      // between tries; each waits twice as long as the one before
	replaceTries = 5                // in a row
	replaceCalm  = 10 * time.Minute // one that ran this long begins anew
)

// Replacer starts teammates again whose host was lost, where their restart policy
// says so. It remembers how often it has, so a long-lived process keeps one. It may
// be used by several goroutines at once.
type Replacer struct {
	s     *Service
	mu    sync.Mutex
	tries map[string]*tries // by the member's address
}

// tries is how often one teammate was started again in a row.
type tries struct {
	n      int
	last   time.Time // of the loss, or of the latest try
	gaveUp bool
}

// Replacer returns one that has started nobody yet.
func (s *Service) Replacer() *Replacer { return &Replacer{s: s, tries: map[string]*tries{}} }

// Replace looks at a team that was reconciled and starts again who is due. It
// returns those it started, and whether others are to be expected. When one is lost
// too often in a row it tells the lead, once, and leaves it.
func (r *Replacer) Replace(ctx context.Context, team string) (started []api.Member, more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := r.s.get(ctx, team)
	if err != nil || !t.LedByUs() {
		return nil, false, err
	}
	var errs []error
	for _, m := range t.Teammates() {
		if m.Unsafe || m.Leadlight == nil || m.Leadlight.State != api.StateLost || m.Leadlight.Restart != RestartOnFailure {
			continue
		}
		due, err := r.due(ctx, t, m, time.Now())
		more = more || !r.tries[m.Name+"@"+t.Name].gaveUp
		if err != nil || !due {
			errs = append(errs, err)
			continue
		}
		again, err := r.s.Restart(ctx, team, m.Name)
		if err == nil {
			started = append(started, again)
		} else if fault.CodeOf(err) != fault.DuplicateName { // somebody else was faster
			errs = append(errs, fmt.Errorf("start %s again: %w", m.Name, err))
		}
	}
	return started, more, errors.Join(errs...)
}

// due tells whether it is time for the next try with a lost teammate, and counts it.
func (r *Replacer) due(ctx context.Context, t store.Team, m store.Member, now time.Time) (bool, error) {
	key := m.Name + "@" + t.Name
	x := r.tries[key]
	if x == nil || (now.Sub(x.last) > replaceCalm && !x.gaveUp) {
		x = &tries{last: deref(m.Leadlight.StoppedAt)}
		r.tries[key] = x
	}
	switch {
	case x.gaveUp || now.Sub(x.last) < min(replaceFirst<<x.n, replaceMost):
		return false, nil
	case x.n >= replaceTries:
		x.gaveUp = true
		text := fmt.Sprintf("%s was started again %d times and is lost again. It is left alone now: leadlight restart %s", m.Name, x.n, m.Name)
		_, err := r.s.mail.Put(ctx, t.Name, leadName(t), store.Message{From: m.Name, Text: text, Summary: m.Name + " stays lost", Timestamp: now})
		return false, err
	}
	x.n, x.last = x.n+1, now
	return true, nil
}
