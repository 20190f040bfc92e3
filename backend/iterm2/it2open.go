package iterm2

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Open opens one pane after the other. See the contract; besides:
//
//   - A target that a person has closed is replaced by another living pane of the team, and
//     at last by the pane of this process. A session that is not listed is never split.
//   - Size counts for nothing, and Session is fault.Unsupported.
//   - A pane is given back only when the program in it has begun: fault.SpawnFailed.
//   - A cancelled ctx undoes what was opened.
func (b *It2) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	b.opening.Lock()
	defer b.opening.Unlock()
	results := make([]backend.Result, len(specs))
	work := context.WithoutCancel(ctx) // what was begun is seen to its end, else nobody would learn its id
	focused := ""
	for i := range specs {
		if ctx.Err() != nil {
			break
		}
		if i == 0 {
			focused = b.focused(work)
		}
		results[i].Pane, results[i].Err = b.open(work, i, specs, results)
	}
	if err := ctx.Err(); err != nil {
		for i, r := range results {
			if r.Pane.ID != "" && r.Err == nil {
				_ = b.Close(work, r.Pane.ID, r.Pane.Mark) // nobody is left who could be told
			}
			results[i] = backend.Result{Err: fault.New(fault.Of(err).Code, "open panes: %w", err)}
		}
	}
	if focused != "" {
		_, _ = b.run(work, "session", "focus", focused) // whoever cannot get it back has closed it
	}
	return results
}

// focused is the session with the keyboard, as far as it2 tells.
func (b *It2) focused(ctx context.Context) string {
	out, _ := b.run(ctx, "app", "get-focus")
	id, _ := after(out, "Current session: ")
	if checkID(backend.ID(id)) != nil {
		return ""
	}
	return id
}

// attempts is how many sessions are tried for one program. A shell that throws away what is
// typed while it starts is given a pause before the line is typed into the next one.
const attempts = 2

func (b *It2) open(ctx context.Context, i int, specs []backend.Spec, before []backend.Result) (backend.Pane, error) {
	s := specs[i]
	program, err := backend.Check(i, s)
	switch {
	case err != nil:
		return backend.Pane{}, err
	case s.Place == backend.Session:
		return backend.Pane{}, fault.New(fault.Unsupported, "it2 gives a team no window of its own").WithHint("--placement split or window")
	}
	s.Argv = append([]string{program}, s.Argv[1:]...)
	if s.Chain > 0 {
		s.Target = before[i-s.Chain].Pane.ID
	}
	for try := 1; ; try++ {
		p, err := b.launch(ctx, s, before, time.Duration(try-1)*b.opt.Begin/4)
		if !errors.Is(err, errNotBegun) || try == attempts {
			return p, err
		}
	}
}

var errNotBegun = errors.New("its shell did not do what was typed")

// launch makes a session and types the command into its shell. What did not begin is
// closed again: nothing but the session that was just made.
func (b *It2) launch(ctx context.Context, s backend.Spec, before []backend.Result, pause time.Duration) (backend.Pane, error) {
	all, err := b.ListAll(ctx)
	if err != nil {
		return backend.Pane{}, err
	}
	target, err := b.standIn(s, all, before)
	if err != nil {
		return backend.Pane{}, err
	}
	file, err := b.begins.begin(s)
	if err != nil {
		return backend.Pane{}, err
	}
	p, err := b.make(ctx, s, target, all)
	if err != nil {
		b.drop(file)
		return backend.Pane{}, err
	}
	p.Mark = s.Mark
	if err = b.keep(p.ID, s.Mark); err == nil {
		err = b.typed(ctx, p.ID, file, pause)
	}
	b.drop(file)
	if err != nil {
		if shut := b.shut(ctx, p.ID); shut != nil {
			return backend.Pane{}, fault.New(fault.SpawnFailed, "session %s: %v, and it could not be closed: %w", p.ID, err, shut)
		}
		return backend.Pane{}, err
	}
	return p, nil
}

// standIn is the pane beside which a new one is made: the target, or whoever is there in
// its place: the newest of this batch, one of the team's, our own.
func (b *It2) standIn(s backend.Spec, all []backend.Pane, before []backend.Result) (backend.Pane, error) {
	wanted := []backend.ID{s.Target}
	for _, r := range slices.Backward(before) {
		if r.Err == nil {
			wanted = append(wanted, r.Pane.ID)
		}
	}
	for _, p := range slices.Backward(all) {
		if p.Mark.Base == s.Mark.Base && p.Mark.Team == s.Mark.Team && p.Mark != (backend.Mark{}) {
			wanted = append(wanted, p.ID)
		}
	}
	if self, ok := SessionOf(b.opt.Getenv(Variable)); ok {
		wanted = append(wanted, self)
	}
	if s.Target != "" {
		if err := checkID(s.Target); err != nil {
			return backend.Pane{}, err
		}
	}
	for _, id := range wanted {
		if p, ok := find(all, id); ok {
			return p, nil
		}
	}
	return backend.Pane{}, gone(s.Target)
}

// make makes a session and tells which it is: the one that it2 names, or that is in the tab
// which it2 names, and that was not there before.
func (b *It2) make(ctx context.Context, s backend.Spec, target backend.Pane, before []backend.Pane) (backend.Pane, error) {
	words, phrase := []string{"session", "split", "-s", string(target.ID)}, "Created new pane: "
	switch {
	case s.Place == backend.Window:
		words, phrase = []string{"tab", "new", "-w", target.Session}, "Created new tab: "
	case !s.Below:
		words = []string{"session", "split", "-v", "-s", string(target.ID)}
	}
	out, err := b.run(ctx, words...)
	if err != nil {
		return backend.Pane{}, err
	}
	named, ok := after(out, phrase)
	after, err := b.ListAll(ctx)
	if err != nil {
		if _, old := find(before, backend.ID(named)); !old && checkID(backend.ID(named)) == nil {
			_ = b.shut(ctx, backend.ID(named)) // the first error counts
		}
		return backend.Pane{}, err
	}
	fresh := slices.DeleteFunc(after, func(p backend.Pane) bool {
		_, old := find(before, p.ID)
		return old || string(p.ID) != named && (s.Place == backend.Split || p.Window != named)
	})
	if !ok || len(fresh) != 1 {
		return backend.Pane{}, fault.New(fault.BackendUnavailable, "it2 does not tell which session it has made but says %q", clean(out)).
			WithHint("close the empty pane yourself; leadlight --backend tmux works in every terminal")
	}
	return fresh[0], nil
}

// typed types the line that runs a file, once what may stand at the prompt is wiped, and
// waits until the file is gone. A file that is still there afterwards never runs.
func (b *It2) typed(ctx context.Context, id backend.ID, file string, pause time.Duration) error {
	time.Sleep(pause)
	if _, err := b.run(ctx, "session", "run", "-s", string(id), "\x15 exec /bin/sh "+file); err != nil {
		return err
	}
	for limit := time.Now().Add(b.opt.Begin); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if errors.Is(os.Remove(file), fs.ErrNotExist) { // it began at the last moment
		return nil
	}
	return fault.New(fault.SpawnFailed, "session %s: %w within %s", id, errNotBegun, b.opt.Begin).
		WithHint("what your shell does when it starts may take too long; enable iTerm2's Python API (Settings, General, Magic), or use --backend tmux")
}
