package external

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// checkID refuses what no backend gives out as an id.
func checkID(id backend.ID) error {
	if id == "" || len(id) > wire.MaxID || !utf8.ValidString(string(id)) || strings.ContainsFunc(string(id), unicode.IsControl) {
		return fault.New(fault.InvalidArgument, "%.40q is not the id of a pane", string(id))
	}
	return nil
}

// Self returns the pane that the program, and so this process, was started in.
func (b *Backend) Self(ctx context.Context) (backend.Here, error) {
	var here backend.Here
	if err := b.call(ctx, wire.Self, wire.Nothing{}, &here); err != nil || here.Self == nil {
		return backend.Here{}, err
	}
	if err := checkID(here.Self.ID); err != nil {
		return backend.Here{}, b.oddly(wire.Self, err)
	}
	return here, b.checkPanes(here.Window, wire.Self)
}

// checkPanes refuses a list of panes in which an id is missing or doubled.
func (b *Backend) checkPanes(list []backend.Pane, method string) error {
	seen := map[backend.ID]bool{}
	for _, p := range list {
		if err := checkID(p.ID); err != nil || seen[p.ID] {
			return b.oddly(method, errors.Join(err, fmt.Errorf("pane %.40q", p.ID)))
		}
		seen[p.ID] = true
	}
	return nil
}

// oddly is the error of an answer that cannot be.
func (b *Backend) oddly(method string, err error) error {
	return fault.New(fault.BackendUnavailable, "%s answered %s oddly: %w", b.who(), method, err).WithHint("%s", b.advice())
}

// List returns the panes that carry a mark.
func (b *Backend) List(ctx context.Context) ([]backend.Pane, error) {
	list, err := b.list(ctx, wire.List)
	return backend.Ours(list), err
}

// ListAll returns all panes, strangers' too: fault.Unsupported where the program has no
// such list.
func (b *Backend) ListAll(ctx context.Context) ([]backend.Pane, error) {
	if err := b.has(ctx, wire.ListAll); err != nil {
		return nil, err
	}
	return b.list(ctx, wire.ListAll)
}

func (b *Backend) list(ctx context.Context, method string) ([]backend.Pane, error) {
	var list wire.PaneList
	if err := b.call(ctx, method, wire.Nothing{}, &list); err != nil {
		return nil, err
	}
	return list.Panes, b.checkPanes(list.Panes, method)
}

// Open opens panes. What no terminal could open is refused here; the program gets the
// rest.
func (b *Backend) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	results := make([]backend.Result, len(specs))
	if err := ctx.Err(); err != nil {
		return backend.NoneOpened(len(specs), fault.New(fault.Of(err).Code, "open panes: %w", err))
	}
	var params wire.OpenParams
	var index []int                     // of specs, by place in params
	at := make(map[int]int, len(specs)) // the other way round
	for i, s := range specs {
		if err := check(i, s, at); err != nil {
			results[i].Err = err
			continue
		}
		if s.Chain > 0 {
			s.Chain = len(index) - at[i-s.Chain]
		}
		at[i] = len(index)
		index = append(index, i)
		params.Panes = append(params.Panes, s)
	}
	if len(index) == 0 {
		return results
	}
	before, err := b.before(ctx)
	if err != nil {
		return backend.NoneOpened(len(specs), err)
	}
	var answer wire.OpenResult
	err = b.ask(ctx, wire.Open, params, &answer, b.opt.Opening)
	if err == nil && len(answer.Panes) != len(index) {
		err = b.oddly(wire.Open, fmt.Errorf("%d results for %d panes", len(answer.Panes), len(index)))
	}
	for n, i := range index {
		if err != nil {
			results[i].Err = err
			continue
		}
		r := b.opened(answer.Panes[n], specs[i])
		if r.Err == nil && before[r.Pane.ID] {
			r = backend.Result{Err: b.oddly(wire.Open, fmt.Errorf("pane %s was there before", r.Pane.ID))}
		}
		results[i], before[r.Pane.ID] = r, true
	}
	return results
}

// before are the panes that are there and so cannot be new ones: all, or those of which a
// program can tell, our own among them.
func (b *Backend) before(ctx context.Context) (map[backend.ID]bool, error) {
	method := wire.List
	if b.has(ctx, wire.ListAll) == nil {
		method = wire.ListAll
	}
	list, err := b.list(ctx, method)
	if err != nil {
		return nil, err
	}
	here, err := b.Self(ctx)
	there := map[backend.ID]bool{here.ID(): true}
	for _, p := range append(list, here.Window...) {
		there[p.ID] = true
	}
	return there, err
}

// check refuses a spec that cannot be told to a program; at holds those before it that can.
func check(i int, s backend.Spec, at map[int]int) error {
	if _, err := backend.Check(i, s); err != nil {
		return err
	}
	for _, text := range append([]string{s.Dir, s.Name, s.Mark.Base, s.Mark.Team, s.Mark.Agent, s.Mark.Host}, s.Argv...) {
		if !utf8.ValidString(text) {
			return fault.New(fault.InvalidArgument, "%.80q is not UTF-8 and cannot be told to an external backend", text)
		}
	}
	if _, ok := at[i-s.Chain]; s.Chain > 0 && !ok {
		return fault.New(fault.InvalidArgument, "pane %d of the batch hangs on one that was refused", i)
	}
	return nil
}

// opened reads what became of one spec.
func (b *Backend) opened(o wire.Opened, s backend.Spec) backend.Result {
	switch {
	case o.Error != nil:
		return backend.Result{Err: o.Error.Fault(b.who() + " could not open a pane")}
	case o.Pane == nil:
		return backend.Result{Err: b.oddly(wire.Open, errors.New("neither a pane nor an error"))}
	}
	if err := checkID(o.Pane.ID); err != nil {
		return backend.Result{Err: b.oddly(wire.Open, err)}
	}
	o.Pane.Mark = s.Mark
	return backend.Result{Pane: *o.Pane}
}

// Label shows name, state and colour on a pane if it still carries the mark.
func (b *Backend) Label(ctx context.Context, id backend.ID, mark backend.Mark, l backend.Label) error {
	if err := checkID(id); err != nil {
		return err
	}
	return b.call(ctx, wire.Label, wire.LabelParams{Marked: backend.Marked{ID: id, Mark: mark}, Label: l}, &wire.Nothing{})
}

// Arrange lays out one window.
func (b *Backend) Arrange(ctx context.Context, layouts ...backend.Layout) error {
	return backend.EachLayout(layouts, func(l backend.Layout) error { return b.arrangeOne(ctx, l) })
}

func (b *Backend) arrangeOne(ctx context.Context, l backend.Layout) error {
	if err := backend.CheckLayout(l); err != nil {
		return err
	}
	if l.Window == "" {
		return fault.New(fault.InvalidArgument, "there is no window to be arranged")
	}
	return b.call(ctx, wire.Arrange, l, &wire.Nothing{})
}

// Focus takes the person's terminal to the pane.
func (b *Backend) Focus(ctx context.Context, id backend.ID) error {
	if err := checkID(id); err != nil {
		return err
	}
	return b.call(ctx, wire.Focus, wire.Pointer{ID: id}, &wire.Nothing{})
}

// Close closes the pane if it still carries the mark.
func (b *Backend) Close(ctx context.Context, set ...backend.Marked) []error {
	// Whatever the program makes of it: who asks stays.
	here, unknown := b.Self(ctx)
	return backend.Each(set, func(id backend.ID, mark backend.Mark) error {
		if err := checkID(id); err != nil {
			return err
		}
		if unknown != nil {
			return unknown
		}
		return b.closeOne(ctx, id, mark, here.ID() == id)
	})
}

func (b *Backend) closeOne(ctx context.Context, id backend.ID, mark backend.Mark, asks bool) error {
	if asks {
		return fault.New(fault.Unproven, "pane %s is left alone: this program runs in it", id).WithHint("close it yourself, or ask again from another pane")
	}
	err := b.call(ctx, wire.Close, backend.Marked{ID: id, Mark: mark}, &wire.Nothing{})
	if errors.Is(err, backend.ErrGone) {
		return nil
	}
	return err
}

// Capture returns the text of a pane: fault.Unsupported where the program cannot tell.
func (b *Backend) Capture(ctx context.Context, id backend.ID, lines int, ansi bool) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	if err := b.has(ctx, wire.Capture); err != nil {
		return "", err
	}
	var text wire.Text
	err := b.call(ctx, wire.Capture, wire.CaptureParams{ID: id, Lines: lines, ANSI: ansi}, &text)
	return text.Text, err
}

// Attach returns the command line that shows a pane: fault.Unsupported where the program
// knows none.
func (b *Backend) Attach(ctx context.Context, id backend.ID) ([]string, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	if err := b.has(ctx, wire.Attach); err != nil {
		return nil, err
	}
	var cmd wire.Command
	err := b.call(ctx, wire.Attach, wire.Pointer{ID: id}, &cmd)
	if err == nil && len(cmd.Argv) == 0 {
		err = b.oddly(wire.Attach, errors.New("no command"))
	}
	return cmd.Argv, err
}
