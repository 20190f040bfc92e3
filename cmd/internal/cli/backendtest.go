package cli

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/external"
	"github.com/leadlight-dev/leadlight/backend/external/externaltest"
	"github.com/leadlight-dev/leadlight/backend/external/wire"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/spf13/cobra"
)

type backendTestOptions struct {
	Only string
	Argv []string
}

// backendReport is the answer of backend test.
type backendReport struct {
	Backend      string       `json:"backend"`
	Version      string       `json:"version,omitempty"`
	Program      string       `json:"program"`
	Protocol     int          `json:"protocol"`
	Capabilities []string     `json:"capabilities"`
	Weaknesses   []string     `json:"weaknesses"`
	Cases        []caseReport `json:"cases"`
	OK           bool         `json:"ok"`
}

type caseReport struct {
	Name       string   `json:"name"`
	OK         bool     `json:"ok"`
	DurationMS int64    `json:"durationMs"`
	Output     []string `json:"output,omitempty"`
}

func backendCommand(a *app) *cobra.Command {
	return group("backend", plain(a, "backend ls", runBackendList), backendTestCommand(a, runBackendTest))
}

func runBackendList(ctx context.Context, a *app) error {
	if _, err := a.service(ctx); err != nil {
		return err
	}
	checks := a.probeBackends(ctx)
	return a.answer(checks, nil, func(w io.Writer) { a.showChecks(w, checks) })
}

func backendTestCommand(a *app, run func(context.Context, *app, backendTestOptions) error) *cobra.Command {
	var o backendTestOptions
	c := command(a, "backend test", run, &o, several(1, &o.Argv), noFiles)
	c.Flags().StringVar(&o.Only, "only", "", "only the cases with this `WORD` in their name")
	return c
}

// trial is one program that is tried.
type trial struct {
	app     *app
	out     io.Writer // what is said meanwhile
	options external.Options
	weak    []string
}

func runBackendTest(ctx context.Context, a *app, o backendTestOptions) error {
	if slices.Contains([]string{"tmux", "headless", "iterm2"}, o.Argv[0]) { // would be run, and not on a server of its own
		return usage("%s is built in, and no program that speaks the protocol of backends", o.Argv[0]).
			WithHint("leadlight backend test -- COMMAND tries a program; leadlight doctor --backend %s tells of this one", o.Argv[0])
	}
	program, err := exec.LookPath(o.Argv[0])
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return fault.New(fault.ProgramNotFound, "the program to be tried: %w", err)
	}
	dir, err := files.TempFolder("/tmp", "llbt") // short: sockets may lie in it
	if err != nil {
		return fmt.Errorf("make a state folder: %w", err)
	}
	defer dir.Remove()
	t := &trial{app: a, out: a.out, options: external.Options{
		Name: strings.TrimPrefix(filepath.Base(program), external.Prefix), Argv: append([]string{program}, o.Argv[1:]...),
		Environ: outsideEnviron(a.environ), StateDir: filepath.Join(dir.String(), "state"), Version: version().Version, Log: a.logger(),
		Limit: 10 * time.Second,
	}}
	if a.json {
		t.out = io.Discard
	}
	report, err := t.greet(ctx)
	if err != nil {
		return err
	}
	t.tell(report)
	if !slices.ContainsFunc(t.cases(), func(c backendtest.Case) bool { return strings.Contains(c.Name, o.Only) }) {
		return usage("no case has %q in its name", o.Only).WithHint("without --only every case is tried, and named")
	}
	for _, c := range t.cases() {
		if !strings.Contains(c.Name, o.Only) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done := t.run(ctx, c)
		t.tellCase(done)
		report.Cases = append(report.Cases, done)
		report.OK = report.OK && done.OK
	}
	return t.conclude(report)
}

// greet asks the program who it is, and whether it lists its panes.
func (t *trial) greet(ctx context.Context) (backendReport, error) {
	b, err := external.New(t.options)
	if err != nil {
		return backendReport{}, err
	}
	defer b.Stop()
	hello, err := b.Hello(ctx)
	if err != nil {
		return backendReport{}, err
	}
	if _, err := b.List(ctx); err != nil {
		return backendReport{}, err
	}
	t.weak = hello.Weaknesses
	return backendReport{
		Backend: hello.Backend.Name, Version: hello.Backend.Version, Program: t.options.Argv[0], Protocol: hello.Protocol,
		Capabilities: append([]string{}, hello.Capabilities...), Weaknesses: append([]string{}, hello.Weaknesses...), Cases: []caseReport{}, OK: true,
	}, nil
}

func (t *trial) is(weakness string) bool { return slices.Contains(t.weak, weakness) }

// opts are what it declares, and what cannot be tried from outside.
func (t *trial) opts() backendtest.Opts {
	return backendtest.Opts{
		New: t.terminal, NoFocus: t.is(wire.NoFocus), NoReopen: t.is(wire.NoReopen), NoBorder: true, NoFreeze: true, NoKill: true,
	}
}

// cases are those of panes and those of the frame.
func (t *trial) cases() []backendtest.Case {
	panes := backendtest.Cases(t.opts())
	frame := externaltest.Cases(externaltest.Program{
		Argv: t.options.Argv, Environ: t.options.Environ, StateDir: t.options.StateDir, NoReopen: t.is(wire.NoReopen),
		List: func(c backendtest.T) []backend.Pane {
			list, err := t.open(c).List(c.Context())
			if err != nil {
				c.Fatal(err)
			}
			return list
		},
		Close: func(c backendtest.T, p backend.Pane) {
			if err := backend.CloseOne(c.Context(), t.open(c), p.ID, p.Mark); err != nil {
				c.Error(err)
			}
		},
	})
	return append(frame, panes...)
}

// ours is a terminal in which only the panes of one case are seen: teams that live in
// the same terminal open others at any time.
type ours struct {
	*external.Backend
	asked *asked
}

// asked is what a case has asked for, by all of its backends. A pane counts by its
// mark as well as by its id: one that came about although Open failed has no other.
type asked struct {
	mu    sync.Mutex
	marks map[backend.Mark]bool
	ids   map[backend.ID]bool
}

func newAsked() *asked {
	return &asked{marks: map[backend.Mark]bool{}, ids: map[backend.ID]bool{}}
}

func (o ours) Open(ctx context.Context, specs []backend.Spec) []backend.Result {
	o.asked.mu.Lock()
	for _, s := range specs {
		o.asked.marks[s.Mark] = true
	}
	o.asked.mu.Unlock()
	results := o.Backend.Open(ctx, specs)
	o.asked.mu.Lock()
	defer o.asked.mu.Unlock()
	for _, r := range results {
		if r.Err == nil {
			o.asked.ids[r.Pane.ID] = true
		}
	}
	return results
}

func (o ours) List(ctx context.Context) ([]backend.Pane, error) {
	list, err := o.Backend.List(ctx)
	o.asked.mu.Lock()
	defer o.asked.mu.Unlock()
	return slices.DeleteFunc(list, func(p backend.Pane) bool { return !o.asked.marks[p.Mark] && !o.asked.ids[p.ID] }), err
}

// open is the program for one case; it keeps running until that is over.
func (t *trial) open(c backendtest.T) *external.Backend {
	options := t.options
	options.Idle = -1
	b, err := external.New(options)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(b.Stop)
	return b
}

func (t *trial) terminal(c backendtest.T) backendtest.Terminal {
	b := ours{t.open(c), newAsked()}
	c.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		list, err := b.List(ctx)
		for _, p := range list {
			if failed := backend.CloseOne(ctx, b, p.ID, p.Mark); failed != nil {
				err = failed
			}
		}
		if err != nil {
			c.Errorf("close what is left: %v", err)
		}
	})
	term := backendtest.Terminal{Backend: b, At: backend.Spec{Place: backend.Session}}
	if !t.is(wire.NoReopen) {
		term.Other = func() backend.Backend { return ours{t.open(c), b.asked} }
	}
	if !t.is(wire.NoFocus) {
		term.Focus = func() string { return activePanes(c, b) }
	}
	return term
}

// activePanes describes the focus as the program tells it.
func activePanes(c backendtest.T, b ours) string {
	list := b.ListAll
	if _, err := b.ListAll(c.Context()); err != nil {
		list = b.List
	}
	all, err := list(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	here, err := b.Self(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	var active []string
	for _, p := range all {
		if p.Active && (here.Self == nil || p.Window == here.Self.Window) {
			active = append(active, string(p.ID))
		}
	}
	return strings.Join(active, " ")
}

// tell says who is tried, and what is not looked at.
func (t *trial) tell(r backendReport) {
	fmt.Fprintf(t.out, "%s %s (%s), protocol %d\n", oneLine(r.Backend), oneLine(r.Version), r.Program, r.Protocol)
	for _, what := range t.opts().Weaknesses() {
		fmt.Fprintf(t.out, "WEAK  %s\n", what)
	}
	for _, w := range r.Weaknesses {
		if w != wire.NoFocus && w != wire.NoReopen {
			fmt.Fprintf(t.out, "WEAK  %s: not known to this leadlight\n", oneLine(w))
		}
	}
}

func (t *trial) tellCase(c caseReport) {
	word, color := "PASS", "green"
	if !c.OK {
		word, color = "FAIL", "red"
	}
	fmt.Fprintf(t.out, "%s  %s (%d ms)\n", paint(word, color, t.app.colors(t.app.out.w)), c.Name, c.DurationMS)
	for _, line := range c.Output {
		fmt.Fprintf(t.out, "      %s\n", printable(line))
	}
}

func (t *trial) conclude(r backendReport) error {
	failed := counted(r.Cases, func(c caseReport) bool { return !c.OK })
	if err := t.app.answer(r, nil, func(w io.Writer) { fmt.Fprintf(w, "%d cases, %d failed\n", len(r.Cases), failed) }); err != nil {
		return err
	}
	if failed > 0 {
		return fault.New(fault.Failed, "cases that failed: %d", failed).WithHint("each says what was seen; -v shows every line that is said")
	}
	return nil
}
