package iterm2

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Open opens one pane after the other. See the contract; besides:
//
//   - iTerm2 knows no size for a new pane: Size counts once the window is arranged.
//   - A target that a person has closed meanwhile is replaced by another living pane of
//     the team, and at last by the pane of this process.
//   - A cancelled ctx undoes what was opened.
func (b *Backend) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	b.opening.Lock()
	defer b.opening.Unlock()
	o := &opening{b: b, specs: specs, results: make([]backend.Result, len(specs)), before: map[backend.ID]bool{}}
	before, err := b.focused(ctx)
	if err != nil {
		return backend.NoneOpened(len(specs), err)
	}
	tree, err := b.tree(ctx)
	if err != nil {
		return backend.NoneOpened(len(specs), err)
	}
	for _, p := range b.panes(tree) {
		o.before[p.ID] = true
	}
	work := context.WithoutCancel(ctx) // what was begun is seen to its end, else nobody would learn its id
	for i := range specs {
		if ctx.Err() != nil {
			break
		}
		o.results[i].Pane, o.results[i].Err = o.open(work, i)
	}
	if err := ctx.Err(); err != nil {
		o.undo(work)
		o.results = backend.NoneOpened(len(specs), fault.New(fault.Of(err).Code, "open panes: %w", err))
	}
	if tree, err := b.tree(work); err == nil {
		o.measure(tree)
	}
	b.refocus(work, before)
	return o.results
}

// opening is one call of Open.
type opening struct {
	b       *Backend
	specs   []backend.Spec
	results []backend.Result
	before  map[backend.ID]bool // the sessions that cannot be new ones
}

// open opens one pane and marks it.
func (o *opening) open(ctx context.Context, i int) (backend.Pane, error) {
	s := o.specs[i]
	program, err := backend.Check(i, s)
	if err != nil {
		return backend.Pane{}, err
	}
	s.Argv = append([]string{program}, s.Argv[1:]...)
	target, place := o.target(i)
	if place != backend.Session {
		if err := checkID(target); err != nil {
			return backend.Pane{}, err
		}
	}
	file, err := o.b.begins.begin(s)
	if err != nil {
		return backend.Pane{}, err
	}
	id, err := o.make(ctx, s, place, target, properties(file, s.Label))
	if err == nil && o.before[id] {
		err = fault.New(fault.BackendUnavailable, "iTerm2 says that it made session %s, which was there before", id)
	} else if err == nil {
		o.before[id] = true
		err = o.b.mark(ctx, id, s.Mark)
	}
	if err != nil {
		o.b.begins.forget(file)
		return backend.Pane{}, err
	}
	return backend.Pane{ID: id, Server: o.b.opt.Socket, Mark: s.Mark}, nil
}

// target follows a chain to a pane that is there.
func (o *opening) target(i int) (backend.ID, backend.Place) {
	s := o.specs[i]
	place := s.Place
	for s.Chain > 0 && place != backend.Session {
		i -= s.Chain
		if o.results[i].Err == nil {
			return o.results[i].Pane.ID, place
		}
		s = o.specs[i] // it was refused: where it should have gone is free
		if s.Place == backend.Session {
			place = backend.Session
		}
	}
	return s.Target, place
}

// make asks for the session, beside its target, or beside whoever stands in for it.
func (o *opening) make(ctx context.Context, s backend.Spec, place backend.Place, target backend.ID, look []wire.Property) (backend.ID, error) {
	if place == backend.Session {
		return o.b.tab(ctx, "", look)
	}
	id, err := o.beside(ctx, s, place, target, look)
	if !isGone(err) {
		return id, err
	}
	for _, other := range o.others(ctx, s.Mark, target) {
		if id, again := o.beside(ctx, s, place, other, look); !isGone(again) {
			return id, again
		}
	}
	return "", err
}

func (o *opening) beside(ctx context.Context, s backend.Spec, place backend.Place, target backend.ID, look []wire.Property) (backend.ID, error) {
	if place == backend.Split {
		return o.b.split(ctx, target, s.Below, look)
	}
	tree, err := o.b.tree(ctx)
	if err != nil {
		return "", err
	}
	p, ok := backend.Find(o.b.panes(tree), target)
	if !ok || p.Session == "" {
		return "", gone(target)
	}
	return o.b.tab(ctx, p.Session, look)
}

// others are the panes beside which a new one may stand when its target is gone: those
// of this batch, those of the team, the newest first as far as that is known, and our own.
func (o *opening) others(ctx context.Context, mark backend.Mark, target backend.ID) []backend.ID {
	var out []backend.ID
	for _, r := range slices.Backward(o.results) {
		if r.Err == nil && r.Pane.ID != "" {
			out = append(out, r.Pane.ID)
		}
	}
	list, _ := o.b.List(ctx) // whoever cannot be listed cannot be split
	for _, p := range slices.Backward(list) {
		if p.Mark.Base == mark.Base && p.Mark.Team == mark.Team {
			out = append(out, p.ID)
		}
	}
	if self, ok := SessionOf(o.b.opt.Getenv(Variable)); ok {
		out = append(out, self)
	}
	return slices.DeleteFunc(out, func(id backend.ID) bool { return id == target })
}

// split splits a session: backend.ErrGone, fault.NoSpace.
func (b *Backend) split(ctx context.Context, target backend.ID, below bool, look []wire.Property) (backend.ID, error) {
	r := &wire.SplitPaneRequest{Session: string(target), Properties: look}
	if below {
		r.Direction = wire.Stacked
	}
	a, err := b.ask(ctx, &wire.Request{SplitPane: r})
	switch {
	case err != nil:
		return "", err
	case a.SplitPane == nil:
		return "", odd("a split")
	case a.SplitPane.Status == wire.NotFound:
		return "", gone(target)
	case a.SplitPane.Status == wire.CannotSplit:
		return "", fault.New(fault.NoSpace, "session %s is too small to be split", target)
	case a.SplitPane.Status != wire.OK:
		return "", refused("split session "+string(target), a.SplitPane.Status)
	case len(a.SplitPane.Sessions) != 1:
		return "", fault.New(fault.Unsupported, "session %s shows a pane of tmux: iTerm2 does not tell what its splits become", target).
			WithHint("run leadlight inside that tmux, or use --backend tmux")
	}
	id := backend.ID(a.SplitPane.Sessions[0])
	return id, checkID(id)
}

// tab makes a tab in a window, or in one of its own if window is "".
func (b *Backend) tab(ctx context.Context, window string, look []wire.Property) (backend.ID, error) {
	a, err := b.ask(ctx, &wire.Request{CreateTab: &wire.CreateTabRequest{Window: window, Properties: look}})
	switch {
	case err != nil:
		return "", err
	case a.CreateTab == nil:
		return "", odd("a tab")
	case a.CreateTab.Status == wire.BadWindow:
		return "", fault.New(fault.BackendUnavailable, "window %s: %w", window, backend.ErrGone)
	case a.CreateTab.Status != wire.OK:
		return "", refused("make a tab", a.CreateTab.Status)
	}
	id := backend.ID(a.CreateTab.Session)
	return id, checkID(id)
}

// mark writes a mark on a session. One that is gone by then ran a program that had
// nothing to do: fault.SpawnFailed. One that cannot be marked is closed again.
func (b *Backend) mark(ctx context.Context, id backend.ID, m backend.Mark) error {
	known, err := b.facts(ctx, id)
	if isGone(err) {
		return fault.New(fault.SpawnFailed, "the program ended before its pane was marked")
	}
	text, err := json.Marshal(marked{m, known.pid}) // without a pid nobody is told apart
	if err == nil {
		text, err = json.Marshal(string(text))
	}
	var a *wire.Response
	if err == nil {
		a, err = b.ask(ctx, &wire.Request{Variable: &wire.VariableRequest{
			Session: string(id), Set: []wire.Variable{{Name: markVariable, JSON: string(text)}},
		}})
	}
	switch {
	case err == nil && a.Variable == nil:
		err = odd("a mark")
	case err == nil && a.Variable.Status == wire.NotFound:
		return fault.New(fault.SpawnFailed, "the program ended before its pane was marked")
	case err == nil && a.Variable.Status != wire.OK:
		err = refused("mark session "+string(id), a.Variable.Status)
	}
	if err != nil {
		_ = b.shut(ctx, id) // the first error counts
	}
	return err
}

// measure adds what is known of the panes once all are there.
func (o *opening) measure(tree *wire.Sessions) {
	all := o.b.panes(tree)
	for i := range o.results {
		if p, ok := backend.Find(all, o.results[i].Pane.ID); ok && o.results[i].Err == nil {
			p.Mark = o.results[i].Pane.Mark
			o.results[i].Pane = p
		}
	}
}

// undo closes what was opened.
func (o *opening) undo(ctx context.Context) {
	for _, r := range o.results {
		if r.Err == nil && r.Pane.ID != "" {
			_ = o.b.shut(ctx, r.Pane.ID) // nobody is left who could be told
			o.b.begins.forget(o.b.begins.of(r.Pane.Mark))
		}
	}
}

// Close closes a session, without asking anybody.
func (b *Backend) Close(ctx context.Context, set ...backend.Marked) []error {
	return backend.Each(set, func(id backend.ID, mark backend.Mark) error { return b.closeOne(ctx, id, mark) })
}

func (b *Backend) closeOne(ctx context.Context, id backend.ID, mark backend.Mark) error {
	err := b.mayClose(ctx, id, mark)
	if err == nil {
		err = b.shut(ctx, id)
	}
	if err == nil || isGone(err) || isAway(err) {
		b.begins.forget(b.begins.of(mark))
		return nil
	}
	return err
}

// shut closes a session by its id and waits until it is gone.
func (b *Backend) shut(ctx context.Context, id backend.ID) error {
	a, err := b.ask(ctx, &wire.Request{Close: &wire.CloseRequest{Sessions: &wire.SessionIDs{IDs: []string{string(id)}}, Force: true}})
	switch {
	case isAway(err):
		return nil
	case err != nil:
		return err
	case a.Close == nil || len(a.Close.Statuses) != 1:
		return odd("the end of a session")
	case a.Close.Statuses[0] == wire.Declined:
		return fault.New(fault.BackendUnavailable, "session %s was kept: somebody said no to a dialog of iTerm2", id)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.opt.Timeout, errMute)
	defer cancel()
	for {
		_, err := b.facts(ctx, id)
		if isGone(err) || isAway(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fault.New(fault.Unproven, "session %s was closed, but is still there", id)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
