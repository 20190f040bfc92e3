package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type doctorOptions struct{ Fix, Agents bool }

func doctorCommand(a *app, run func(context.Context, *app, doctorOptions) error) *cobra.Command {
	var o doctorOptions
	c := command(a, "doctor", run, &o, takes(0, 0), noFiles)
	c.Flags().BoolVar(&o.Fix, "fix", false, "mend first what can be mended safely: what gc removes, who may write to the base directory, and what is odd in team files")
	c.Flags().BoolVar(&o.Agents, "agents", false, "also start each agent that is installed, say nothing to it, and tell whether it shows its prompt or what it asks")
	return c
}

func runDoctor(ctx context.Context, a *app, o doctorOptions) error {
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	only := a.built.settings.Team.V
	if only != "" {
		if _, err := svc.Team(ctx, only); fault.CodeOf(err) == fault.TeamNotFound || fault.CodeOf(err) == fault.InvalidName {
			return err // one that is damaged is what doctor is for
		}
	}
	if o.Fix {
		found, err := svc.GC(ctx, false)
		if err != nil {
			return err
		}
		for _, l := range found {
			a.say("%s", oneLine(l.String()))
		}
		if err := a.mend(ctx, svc); err != nil {
			return err
		}
	}
	facts := a.facts(ctx)
	facts.Team = only
	if o.Agents {
		facts.Backend = append(facts.Backend, a.startAgents(ctx)...)
	}
	res := svc.Doctor(ctx, facts)
	if a.verbose {
		for _, l := range a.built.settings.Lines() {
			res.Checks = append(res.Checks, api.Check{Name: "setting " + l.Name, Status: "ok", Detail: l.Value + " (" + l.Origin + ")"})
		}
	}
	err = a.answer(res, nil, func(w io.Writer) { a.showChecks(w, res.Checks) })
	if err != nil || res.OK {
		return err
	}
	failed := counted(res.Checks, func(c api.Check) bool { return c.Status == "fail" })
	return fault.New(fault.Failed, "checks that failed: %d", failed).WithHint("each of them says what to do")
}

// mend does what else is safe to do, and says what it did.
func (a *app) mend(ctx context.Context, svc *teams.Service) error {
	done, err := svc.Mend(ctx)
	for _, line := range done {
		a.say("%s", line)
	}
	return errors.Join(err, a.tidyDaemon())
}

// tidyDaemon removes what a killed daemon has left.
func (a *app) tidyDaemon() error {
	p, err := a.daemonPaths()
	if err != nil {
		return err
	}
	removed, err := dial.Tidy(p)
	if removed {
		a.say("removed socket %s: its daemon is gone", p.Socket)
	}
	return err
}

// probeBackends says of each terminal whether it can hold panes here.
func (a *app) probeBackends(ctx context.Context) []api.Check {
	return slices.Concat(a.probeITerm2(ctx), a.probeHeadless(ctx), a.probeShim(ctx), a.probeOutside(ctx), a.probeTmux(ctx))
}

// failing is a check of what cannot be used.
func failing(name string, err error) api.Check {
	e := fault.Of(err)
	return api.Check{Name: name, Status: "fail", Detail: e.Message, Fix: e.Hint}
}

// probed is the check of a terminal; where nothing is to be told of it, there is none.
func probed(name, detail string, err error) []api.Check {
	switch {
	case err != nil:
		return []api.Check{failing(name, err)}
	case detail == "":
		return nil
	}
	return []api.Check{{Name: name, Status: "ok", Detail: detail}}
}

// facts is what doctor cannot know by itself.
func (a *app) facts(ctx context.Context) teams.Facts {
	s := a.built.settings
	f := teams.Facts{Version: version().String(), BaseOrigin: s.BaseDir.Origin.String(), Runtime: a.built.runtime, Backend: a.probeBackends(ctx)}
	f.OtherBases = filled(a.getenv("CLAUDE_CONFIG_DIR"), a.getenv("LEADLIGHT_BASE_DIR"))
	if home := a.getenv("HOME"); home != "" {
		f.OtherBases = append(f.OtherBases, filepath.Join(home, ".claude"))
	}
	f.Backend = append(f.Backend, a.around(ctx)...)
	return f
}

// probeHeadless counts the panes without a terminal; where there are none it is silent.
func (a *app) probeHeadless(ctx context.Context) []api.Check {
	b, err := a.openBackend(a.built, panes.Headless, "")
	var list []backend.Pane
	if err == nil {
		list, err = b.List(ctx)
	}
	detail := ""
	if len(list) > 0 {
		detail = fmt.Sprintf("%d panes in %s", len(list), panes.HeadlessFolder(a.built.runtime))
	}
	return probed(panes.Headless, detail, err)
}

// probeTmux says what tmux is like here.
func (a *app) probeTmux(ctx context.Context) []api.Check {
	if a.withoutTmux(a.built.settings) {
		return []api.Check{{Name: "tmux", Status: "warn", Detail: "not on PATH: teammates run without a terminal", Fix: "install tmux to see their panes side by side"}}
	}
	b, err := a.openTmux(a.built, "")
	if err != nil {
		return probed("tmux", "", err)
	}
	r, err := b.Probe(ctx)
	detail := fmt.Sprintf("%s, version %s, socket %s", r.Program, r.Version.Text, r.Socket)
	if r.Running {
		detail += fmt.Sprintf(" (running: %d panes, %d of them ours)", r.Panes, r.Ours)
	}
	out := probed("tmux", detail, errors.Join(r.Usable, err))
	if err != nil && r.Usable == nil && !r.Running { // only new panes need one: all else can be looked after from here
		out[0].Status = "warn"
	}
	if out[0].Status != "ok" {
		return out
	}
	for _, trap := range r.Traps {
		out = append(out, api.Check{Name: "tmux bug " + trap.Name, Status: "warn", Detail: "known bug in " + r.Version.Text + ": " + trap.Text, Fix: "fixed in tmux " + trap.Fixed})
	}
	return out
}

func (a *app) showChecks(w io.Writer, checks []api.Check) {
	colors := a.colors(a.out.w)
	for _, c := range checks {
		color := map[string]string{"ok": "green", "warn": "yellow", "fail": "red"}[c.Status]
		fmt.Fprintf(w, "%s  %s: %s\n", paint(fmt.Sprintf("%-4s", c.Status), color, colors), oneLine(c.Name), oneLine(c.Detail))
		if c.Fix != "" {
			fmt.Fprintf(w, "      → %s\n", oneLine(c.Fix))
		}
	}
}
