package jetstream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// mirror is the copy of what lies under some subjects. It follows the engine as long as
// it is used.
type mirror struct {
	e        *Engine
	stream   string
	subjects []string
	take     func(subject string, x *entry) // a message has come; called with mu held
	empty    func()                         // what has come is not there any more; called with mu held
	of       any                            // the copy that this is part of

	mu       sync.Mutex
	seq      uint64        // of the newest message that has come
	moved    chan struct{} // closed when seq changes, or a claim here has failed
	waiting  bool          // somebody looks at moved
	watchers map[*hinted]bool
	used     time.Time
	proven   bool            // it has held all that was written before a call
	ctx      context.Context // ends when nobody needs the copy any more
	close    context.CancelFunc
	by       *follower     // nil: it is not followed now
	heard    time.Time     // when the engine said something by it last
	anew     chan struct{} // somebody wants it to be followed anew
	asking   bool          // the engine is being asked
	next     *question     // that is asked then
}

// question is how far a copy must come to hold all that was written before. All who want to
// know it share one.
type question struct {
	done chan struct{} // closed when it is answered
	due  uint64
	err  error
}

// hinted is somebody who wants to know of changes.
type hinted struct {
	c     chan struct{}
	match func(subject string) bool
}

// idle is how long a copy that nobody asks for is kept.
const idle = 5 * time.Minute

// copyOf is mirrorOf for the copy that the mirror is part of.
func copyOf[T any](ctx context.Context, e *Engine, name string, begin func() *mirror) (none T, err error) {
	m, err := e.mirrorOf(ctx, name, begin)
	if err != nil {
		return none, err
	}
	return m.of.(T), nil
}

// mirrorOf returns the copy of that name, and begins one if there is none.
func (e *Engine) mirrorOf(ctx context.Context, name string, begin func() *mirror) (*mirror, error) {
	if err := e.reachable("read from the engine"); err != nil {
		return nil, err
	}
	e.mu.Lock()
	m := e.kept(name)
	e.mu.Unlock()
	if m != nil {
		return m, nil
	}
	err := e.patiently(ctx, func(ctx context.Context) (err error) {
		m, err = e.mirrorNow(ctx, name, begin)
		return err
	})
	return m, e.explain(ctx, "read from the engine", err)
}

// mirrorNow is one try of mirrorOf. One copy of a name is begun at a time; who wants the same
// waits for it, and nobody else does.
func (e *Engine) mirrorNow(ctx context.Context, name string, begin func() *mirror) (*mirror, error) {
	for {
		e.mu.Lock()
		m, begun := e.kept(name), e.begins[name]
		mine := m == nil && begun == nil
		if mine {
			e.sweep()
			begun = make(chan struct{})
			e.begins[name] = begun
		}
		e.mu.Unlock()
		switch {
		case m != nil:
			return m, nil
		case mine:
			defer close(begun)
			return e.begin(ctx, name, begin())
		}
		select {
		case <-begun:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin has a new copy follow the engine, and keeps it if it does.
func (e *Engine) begin(ctx context.Context, name string, m *mirror) (*mirror, error) {
	m.e, m.moved, m.watchers, m.used, m.anew = e, make(chan struct{}), map[*hinted]bool{}, time.Now(), make(chan struct{}, 1)
	m.ctx, m.close = context.WithCancel(e.ctx)
	err := m.follow(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.begins, name)
	if err != nil {
		m.close()
		return nil, err
	}
	go m.tend()
	e.mirrors[name] = m
	return m, nil
}

// kept returns the copy of that name, nil if there is none. Called with e.mu held.
func (e *Engine) kept(name string) *mirror {
	m := e.mirrors[name]
	if m != nil {
		m.mu.Lock()
		m.used = time.Now()
		m.mu.Unlock()
	}
	return m
}

// sweep lets go of the copies that nobody uses. Called with e.mu held.
func (e *Engine) sweep() {
	for name, m := range e.mirrors {
		m.mu.Lock()
		old := len(m.watchers) == 0 && time.Since(m.used) > idle
		m.mu.Unlock()
		if old {
			delete(e.mirrors, name)
			m.close()
		}
	}
}

// wake lets those look again who wait for more. Called with mu held.
func (m *mirror) wake() {
	if m.waiting {
		close(m.moved)
		m.moved, m.waiting = make(chan struct{}), false
	}
}

// took is for a message of our own, which need not come first.
func (m *mirror) took(subject string, x *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(subject, x)
	m.hint(subject)
}

func (m *mirror) hint(subject string) {
	for w := range m.watchers {
		if w.match == nil || w.match(subject) {
			select {
			case w.c <- struct{}{}:
			default:
			}
		}
	}
}

// more is closed when more has come. Called with mu held.
func (m *mirror) more() <-chan struct{} {
	m.waiting = true
	return m.moved
}

// refresh waits until the copy holds all that was written before the call.
func (m *mirror) refresh(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, chooseLimit)
	defer cancel()
	for {
		due, err := m.due(ctx)
		if err != nil {
			return err
		}
		done, err := m.await(limit, due)
		if err != nil {
			return err
		}
		if done {
			m.mu.Lock()
			m.proven = true
			m.mu.Unlock()
			return nil
		}
	}
}

// begun tells whether copies have held once all that there was. Since then they follow.
func begun(all ...*mirror) bool {
	return !slices.ContainsFunc(all, func(m *mirror) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return !m.proven
	})
}

// refreshed refreshes several copies at once.
func refreshed(ctx context.Context, all ...*mirror) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, m := range all[1:] {
		wg.Go(func() { errs[i+1] = m.refresh(ctx) })
	}
	errs[0] = all[0].refresh(ctx)
	wg.Wait()
	return cmp.Or(errs...)
}

// due asks how far the copy must come. Whoever comes while the engine is being asked waits
// for the next question: what is answered now may be older.
func (m *mirror) due(ctx context.Context) (uint64, error) {
	m.mu.Lock()
	q := m.next
	if q == nil {
		q = &question{done: make(chan struct{})}
		m.next = q
	}
	if !m.asking {
		m.asking = true
		go m.ask()
	}
	m.mu.Unlock()
	select {
	case <-q.done:
		return q.due, q.err
	case <-ctx.Done():
		return 0, fmt.Errorf("read from the engine: %w", context.Cause(ctx))
	}
}

// ask asks the engine as long as somebody wants to know.
func (m *mirror) ask() {
	for {
		m.mu.Lock()
		q, seq := m.next, m.seq
		m.next, m.asking = nil, q != nil
		m.mu.Unlock()
		if q == nil {
			return
		}
		q.due, q.err = m.newest(seq)
		close(q.done)
	}
}

// newest returns the number of the newest message, if that is greater than seq.
func (m *mirror) newest(seq uint64) (newest uint64, err error) {
	for _, subject := range m.subjects {
		x, err := m.e.after(m.e.ctx, m.stream, subject, seq)
		if err == nil && x != nil {
			x, err = m.e.last(m.e.ctx, m.stream, subject)
		}
		if err != nil {
			return 0, err
		}
		if x != nil {
			newest = max(newest, x.rev)
		}
	}
	return newest, nil
}

// again is how long a copy may take until it is asked anew how far it must come: what it
// waits for may have been removed.
const again = 250 * time.Millisecond

func (m *mirror) await(ctx context.Context, due uint64) (bool, error) {
	late := time.After(again)
	for {
		m.mu.Lock()
		reached, more := m.seq >= due, m.more()
		m.mu.Unlock()
		if reached {
			return true, nil
		}
		select {
		case <-more:
		case <-late:
			return false, nil
		case <-ctx.Done():
			return false, m.e.explain(ctx, "follow the engine", fmt.Errorf("it does not send what is new: %w", ctx.Err()))
		}
	}
}

// watch hints at changes of the subjects that match, at once for the first time, until
// ctx ends.
func (m *mirror) watch(ctx context.Context, match func(string) bool) <-chan struct{} {
	w := &hinted{make(chan struct{}, 1), match}
	w.c <- struct{}{}
	m.mu.Lock()
	m.watchers[w] = true
	m.mu.Unlock()
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, w)
		close(w.c)
	})
	return w.c
}
