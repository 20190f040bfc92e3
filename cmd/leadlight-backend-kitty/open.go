package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Open opens windows, one after the other. When ctx ends on the way, those of before are
// closed again; the one that kitty is just opening is waited for, to know its id.
func (b *Backend) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	results := make([]backend.Result, len(specs))
	for i, s := range specs {
		if ctx.Err() != nil {
			break
		}
		program, err := backend.Check(i, s)
		if s.Chain > 0 && err == nil {
			before := results[i-s.Chain]
			if s.Target = before.Pane.ID; before.Err != nil {
				err = fault.New(fault.InvalidArgument, "pane %d of the batch hangs on one that was not opened", i)
			}
		}
		if err == nil && s.Place != backend.Session {
			err = checkID(s.Target)
		}
		if err != nil {
			results[i].Err = err
			continue
		}
		results[i].Pane.ID, results[i].Err = b.launch(context.WithoutCancel(ctx), program, s)
		results[i].Pane.Mark = s.Mark
	}
	if err := ctx.Err(); err != nil {
		b.undo(ctx, results)
		return backend.NoneOpened(len(specs), fault.New(fault.Of(err).Code, "open windows in kitty: %w", err))
	}
	b.describe(ctx, results)
	return results
}

// launch opens one window. The program is started by kitty as it is, without a shell.
func (b *Backend) launch(ctx context.Context, program string, s backend.Spec) (backend.ID, error) {
	mark, err := json.Marshal(s.Mark)
	if err != nil {
		return "", err
	}
	payload := map[string]any{
		"args": append([]string{program}, s.Argv[1:]...), "cwd": s.Dir, "window_title": titleOf(s.Label), "keep_focus": true,
		"env":  []string{markVariable + "=" + string(mark), hashVariable + "=" + hashOf(s.Mark)},
		"type": map[backend.Place]string{backend.Split: "window", backend.Window: "tab", backend.Session: "os-window"}[s.Place],
	}
	switch s.Place {
	case backend.Split:
		payload["match"] = "window_id:" + string(s.Target)
		payload["location"] = "vsplit"
		if s.Below {
			payload["location"] = "hsplit"
		}
	case backend.Window:
		payload["match"] = "window_id:" + string(s.Target)
		payload["tab_title"] = titleOf(backend.Label{Name: s.Name})
	}
	b.late.Delete(hashOf(s.Mark))
	data, err := b.call(ctx, "launch", payload)
	if err != nil {
		if _, refused := errors.AsType[refusal](err); !refused {
			b.late.Store(hashOf(s.Mark), true)
		}
		if s.Place != backend.Session {
			if _, found := b.find(ctx, s.Target); errors.Is(found, backend.ErrGone) {
				return "", found
			}
		}
		return "", err
	}
	id := backend.ID(strings.Trim(string(data), `"`))
	if err := checkID(id); err != nil {
		return "", fault.New(fault.BackendUnavailable, "kitty answered launch with something else: %w", err)
	}
	return id, nil
}

// undo closes what was opened.
func (b *Backend) undo(ctx context.Context, results []backend.Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*b.opt.Limit)
	defer cancel()
	for _, r := range results {
		if r.Pane.ID != "" {
			b.takeBack(ctx, r.Pane.ID)
		}
	}
}

// takeBack closes a window that kitty has just opened for us, whether it shows its mark yet
// or not.
func (b *Backend) takeBack(ctx context.Context, id backend.ID) {
	_, err := b.call(ctx, "close-window", map[string]any{"match": "id:" + string(id)})
	_ = b.awaitGone(ctx, id, err)
}

// closeLate closes the windows that came when nobody waited for them any more, and returns
// the others.
func (b *Backend) closeLate(ctx context.Context, all []backend.Pane) []backend.Pane {
	return slices.DeleteFunc(all, func(p backend.Pane) bool {
		_, late := b.late.Load(hashOf(p.Mark))
		if late && p.Mark != (backend.Mark{}) {
			_, _ = b.call(ctx, "close-window", map[string]any{"match": exactly(p.ID, p.Mark)}) // the next question tries again
		}
		return late
	})
}

// markLimit is how long a program may take to begin, so that its window shows the mark.
const markLimit = 10 * time.Second

// describe waits until the windows show their marks, and fills in what kitty tells of
// windows only when it lists them.
func (b *Backend) describe(ctx context.Context, results []backend.Result) {
	for limit := time.Now().Add(markLimit); ; {
		all, err := b.ListAll(ctx)
		if err != nil {
			return // they were opened: that the list failed is for whoever lists next
		}
		waiting := false
		for i := range results {
			waiting = b.describeOne(ctx, &results[i], all, time.Now().After(limit)) || waiting
		}
		if !waiting {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// describeOne fills in one window, and tells whether it has to be waited for. One that is
// not listed has ended already.
func (b *Backend) describeOne(ctx context.Context, r *backend.Result, all []backend.Pane, late bool) (waiting bool) {
	if r.Err != nil {
		return false
	}
	switch now, there := backend.Find(all, r.Pane.ID); {
	case !there:
		*r = backend.Result{Err: fault.New(fault.SpawnFailed, "window %s of kitty ended as soon as it was opened", r.Pane.ID)}
	case now.Mark == r.Pane.Mark:
		r.Pane = now
	case late:
		b.takeBack(ctx, r.Pane.ID)
		*r = backend.Result{Err: fault.New(fault.SpawnFailed, "the program in window %s of kitty did not begin within %s", r.Pane.ID, markLimit)}
	default:
		return true
	}
	return false
}
