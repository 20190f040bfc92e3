package backendtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

func focusStays(t T, r *rig) {
	before := r.Focus()
	opened := r.open(r.spec("f1"), r.spec("f2"), r.spec("f3"))
	if err := r.Backend.Label(t.Context(), opened[1].ID, opened[1].Mark, backend.Label{Name: "f2", State: "idle"}); err != nil {
		t.Error(err)
	}
	if after := r.Focus(); after != before {
		t.Errorf("the focus went from %s to %s", before, after)
	}
	for _, p := range opened {
		r.close(p)
	}
	if after := r.Focus(); after != before {
		t.Errorf("closing moved the focus from %s to %s", before, after)
	}
}

func focusTakesThere(t T, r *rig) {
	before := r.Focus()
	pane := r.open(r.spec("there"))[0]
	err := r.Backend.Focus(t.Context(), pane.ID)
	if r.Focus() == before && (err == nil || fault.Of(err).Hint == "") {
		t.Errorf("focus neither went there nor said how to get there: %v", err)
	}
}

// Marks come back as they were, whatever they hold, and only ours are listed.
func listByMark(t T, r *rig) {
	marks := []backend.Mark{
		{Base: "b1", Team: "team", Agent: "研究員", Host: "h1"},
		{Base: "b1", Team: "team", Agent: "工程師", Host: "h2"},
		{Base: "b2", Team: "other team", Agent: "#{pane_id};", Host: "h\n3"},
		{Base: "", Team: strings.Repeat("x", 64), Agent: "'\"\\", Host: "\x1f"},
	}
	var specs []backend.Spec
	for _, m := range marks {
		s := r.script("x", "exec sleep 1000")
		s.Mark = m
		specs = append(specs, s)
	}
	opened := r.open(specs...)
	list := r.list()
	if len(list) != len(marks) {
		t.Fatalf("%d panes are listed, want %d", len(list), len(marks))
	}
	for i, p := range opened {
		at := slices.IndexFunc(list, func(q backend.Pane) bool { return q.ID == p.ID })
		if at < 0 || list[at].Mark != marks[i] {
			t.Errorf("%s does not come back with the mark %q", p.ID, marks[i])
		} else if got := list[at]; got.Server != p.Server || got.Window != p.Window || got.Dead {
			t.Errorf("opened as %+v, listed as %+v", p, got)
		}
	}
}

// hostile sets the title as a program may at any time, in a folder with a hostile name.
const hostile = `printf '\033]2;%s\033\\' "$1"; : > "$2"; exec sleep 1000`

func hostileTitles(t T, r *rig) {
	odd := filepath.Join(r.dir, "x-:-y'\n%99 @1 $1 1 1 1 0 0 1 1 off - -")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	said := filepath.Join(r.dir, "said")
	loud := r.script("loud", hostile, "x-:-y'\x1f\\037", said)
	loud.Dir = odd
	opened := r.open(loud, r.spec("quiet"))
	r.eventually("the title is set", func() bool { _, err := os.Stat(said); return err == nil })
	r.left("loud", "quiet")
	if all, ok := backend.As[backend.Lister](r.Backend); ok {
		list, err := all.ListAll(t.Context())
		if (err != nil || len(list) < 2) && !errors.Is(err, fault.Unsupported) {
			t.Errorf("%d panes in all, error %v", len(list), err)
		}
	}
	if err := backend.CloseOne(t.Context(), r.Backend, opened[0].ID, opened[0].Mark); err != nil || r.has(opened[0].ID) || !r.has(opened[1].ID) {
		t.Errorf("closing the loud one: %v; left are %v", err, agents(r.list()))
	}
}

func labelSurvivesTitle(t T, r *rig) {
	said := filepath.Join(r.dir, "said")
	s := r.script("loud", hostile, "I am the lead", said)
	s.Label = backend.Label{Name: "研究員 #[fg=red]", State: "running", Color: "green"}
	pane := r.open(s)[0]
	r.eventually("the title is set", func() bool { _, err := os.Stat(said); return err == nil })
	shows := func(want string) {
		t.Helper()
		if got := r.Border(pane.ID); !strings.Contains(got, want) || strings.Contains(got, "the lead") {
			t.Errorf("the border says %q, want %q in it", got, want)
		}
	}
	shows("研究員 #[fg=red]")
	shows("running")
	if err := r.Backend.Label(t.Context(), pane.ID, pane.Mark, backend.Label{Name: `bob's "$HOME" \; kill-server;`, State: "idle"}); err != nil {
		t.Fatal(err)
	}
	shows(`bob's "$HOME" \; kill-server;`)
	shows("idle")
	if got := r.list(); len(got) != 1 || got[0].Mark != s.Mark {
		t.Error("a new label changed the mark")
	}
}

func closeTwice(t T, r *rig) {
	opened := r.open(r.spec("one"), r.spec("two"))
	for range 2 {
		r.close(opened[0])
		r.left("two")
	}
}

func closeWrongMark(t T, r *rig) {
	pane := r.open(r.spec("mine"))[0]
	for _, m := range []backend.Mark{
		{}, {Host: pane.Mark.Host}, {Base: "b", Team: "team", Agent: "mine", Host: "an earlier host"}, {Base: "other", Team: "team", Agent: "mine", Host: pane.Mark.Host},
	} {
		if err := backend.CloseOne(t.Context(), r.Backend, pane.ID, m); !errors.Is(err, fault.Unproven) && !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("close with the mark %q: %v", m, err)
		}
		if !r.has(pane.ID) {
			t.Fatalf("close with the mark %q closed it", m)
		}
	}
}

// A terminal that was started anew gives the ids out again: who holds a pane now is
// told by its mark alone.
func labelWrongMark(t T, r *rig) {
	pane := r.open(r.spec("mine"))[0]
	for _, m := range []backend.Mark{{}, {Base: pane.Mark.Base, Team: pane.Mark.Team, Agent: pane.Mark.Agent, Host: "an earlier host"}} {
		if err := r.Backend.Label(t.Context(), pane.ID, m, backend.Label{Name: "intruder", State: "idle"}); !errors.Is(err, fault.Unproven) && !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("label with the mark %q: %v", m, err)
		}
		if r.Border != nil && strings.Contains(r.Border(pane.ID), "intruder") {
			t.Errorf("the mark %q was enough to write on the pane", m)
		}
	}
}

func unknownIDs(t T, r *rig) {
	pane := r.open(r.spec("stays"))[0]
	capturer, captures := r.capturer(pane.ID)
	stays := func(what string, id backend.ID) {
		t.Helper()
		if list := r.list(); len(list) != 1 || list[0].ID != pane.ID {
			t.Fatalf("%s of %q: left are %v", what, id, agents(list))
		}
	}
	for _, id := range []backend.ID{"", "x", "%", "%x", "%-1", "@0", "$0", "0", ":", "=", "{last}", "%0;kill-server", "%0 ", "\n", "%999999", "stays:9.9"} {
		refused := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, backend.ErrGone) && !errors.Is(err, fault.InvalidArgument) {
				t.Errorf("%s of %q: %v", what, id, err)
			}
			stays(what, id)
		}
		refused("label", r.Backend.Label(t.Context(), id, pane.Mark, backend.Label{Name: "n", State: "s"}))
		refused("focus", r.Backend.Focus(t.Context(), id))
		if captures {
			_, err := capturer.Capture(t.Context(), id, 0, false)
			refused("capture", err)
		}
		if err := backend.CloseOne(t.Context(), r.Backend, id, pane.Mark); err != nil && !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("close of %q: %v", id, err)
		}
		stays("close", id)
		if err := r.Backend.Arrange(t.Context(), backend.Layout{Window: string(id), Kind: backend.Tiled}); err == nil && id != "@0" {
			t.Errorf("arranged window %q", id)
		}
	}
}

func frozen(t T, r *rig) {
	pane := r.open(r.spec("stays"))[0]
	thaw := r.Freeze()
	impatient := r.Impatient
	calls := map[string]func(context.Context) error{
		"list": func(ctx context.Context) error { _, err := impatient.List(ctx); return err },
		"open": func(ctx context.Context) error { return impatient.Open(ctx, []backend.Spec{r.spec("more")})[0].Err },
		"label": func(ctx context.Context) error {
			return impatient.Label(ctx, pane.ID, pane.Mark, backend.Label{Name: "n"})
		},
		"close": func(ctx context.Context) error {
			return backend.CloseOne(ctx, impatient, pane.ID, backend.Mark{Host: "not it"})
		},
		"focus": func(ctx context.Context) error { return impatient.Focus(ctx, pane.ID) },
		"arrange": func(ctx context.Context) error {
			return impatient.Arrange(ctx, backend.Layout{Window: pane.Window, Kind: backend.Tiled})
		},
	}
	for name, call := range calls {
		start := time.Now()
		if err := call(t.Context()); !errors.Is(err, fault.BackendUnavailable) {
			t.Errorf("%s of a frozen terminal: %v", name, err)
		}
		if took := time.Since(start); took > r.Patience {
			t.Errorf("%s of a frozen terminal took %v", name, took)
		}
	}
	thaw()
	r.eventually("it answers again", func() bool { _, err := r.Backend.List(t.Context()); return err == nil })
	if !r.has(pane.ID) {
		t.Error("the pane is gone after the thaw")
	}
}

// A terminal that provably does not run holds no panes; that is no error.
func killed(t T, r *rig) {
	pane := r.open(r.spec("doomed"))[0]
	r.Kill()
	if list, err := r.Backend.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%d panes are listed, error %v", len(list), err)
	}
	r.close(pane)
	if err := r.Backend.Label(t.Context(), pane.ID, pane.Mark, backend.Label{Name: "doomed"}); !errors.Is(err, backend.ErrGone) {
		t.Errorf("label: %v", err)
	}
}

func reopen(t T, r *rig) {
	opened := r.open(r.spec("one"), r.spec("two"))
	other := r.Other()
	list, err := other.List(t.Context())
	if err != nil || !slices.Equal(agents(list), []string{"one", "two"}) {
		t.Fatalf("found %v, error %v", agents(list), err)
	}
	if err := backend.CloseOne(t.Context(), other, opened[0].ID, opened[0].Mark); err != nil || r.has(opened[0].ID) {
		t.Errorf("the other backend could not close: %v", err)
	}
}

// capturer is what reads panes, if anything does: whether a program outside has that
// power is known only once it was asked.
func (r *rig) capturer(id backend.ID) (backend.Capturer, bool) {
	c, ok := backend.As[backend.Capturer](r.Backend)
	if !ok {
		return nil, false
	}
	_, err := c.Capture(r.Context(), id, 1, false)
	return c, !errors.Is(err, fault.Unsupported)
}

func capture(t T, r *rig) {
	pane := r.open(r.script("talks", `printf 'one\ntwo\n\033[31mthree\033[0m 研究\n'; exec sleep 1000`))[0]
	c, ok := r.capturer(pane.ID)
	if !ok {
		return // an optional power; nothing is promised
	}
	get := func(lines int, ansi bool) string {
		t.Helper()
		text, err := c.Capture(t.Context(), pane.ID, lines, ansi)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	r.eventually("the text is there", func() bool { return get(0, false) == "one\ntwo\nthree 研究\n" })
	if got := get(2, false); got != "two\nthree 研究\n" {
		t.Errorf("the last two lines are %q", got)
	}
	if got := get(1, true); !strings.Contains(got, "\x1b[31mthree") {
		t.Errorf("with colours the last line is %q", got)
	}
}

func arrange(t T, r *rig) {
	pane := r.open(r.spec("one"), r.spec("two"))[0]
	for _, l := range []backend.Layout{
		{Kind: backend.MainVertical, Main: "40%"}, {Kind: backend.MainVertical, Main: "30"}, {Kind: backend.MainVertical}, {Kind: backend.Tiled}, {Kind: backend.Even}, {Kind: backend.None},
	} {
		l.Window = pane.Window
		if err := r.Backend.Arrange(t.Context(), l); err != nil {
			t.Errorf("%s: %v", l.Kind, err)
		}
	}
	for _, l := range []backend.Layout{{Kind: "spiral"}, {Kind: backend.MainVertical, Main: "40%; kill-server"}} {
		l.Window = pane.Window
		if err := r.Backend.Arrange(t.Context(), l); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("%s, main %q: %v", l.Kind, l.Main, err)
		}
	}
	r.left("one", "two")
}
