package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/spf13/cobra"
)

func runCommand(a *app) *cobra.Command {
	return group("run", runCreateCommand(a, runRunCreate), runListCommand(a, runRunList), runShowCommand(a, runRunShow),
		runStepCommand(a, "pause"), runStepCommand(a, "resume"), runStepCommand(a, "cancel"), itemCommand(a), runTeamCommand(a))
}

// leadOnly refuses a teammate what is the lead's.
func (a *app) leadOnly(what string) error {
	who, err := a.who()
	if err == nil && who.Teammate {
		err = rpc.NotLead(rpc.Teammate{Name: who.Name}, what)
	}
	return err
}

type runCreateOptions struct {
	What string
	Wait bool
}

func runCreateCommand(a *app, run func(context.Context, *app, runCreateOptions) error) *cobra.Command {
	var o runCreateOptions
	c := command(a, "run create", run, &o, one(&o.What), teamFiles)
	c.Flags().BoolVar(&o.Wait, "wait", false, "follow the run until it is over and its teammates are gone; the exit status is 1 if it is not completed then")
	return c
}

func runRunCreate(ctx context.Context, a *app, o runCreateOptions) error {
	if o.What == "" {
		return usage("leadlight run create: TEAM-FILE|TEAM is empty") // of all that are defined, none is meant
	}
	begin := runOfTeam
	o.What = a.fromHome(o.What)
	if fi, err := os.Stat(o.What); err == nil && !fi.IsDir() || looksLikeFile(o.What) {
		plan, err := a.readRun(o.What) // before any other setting is read: the file has some
		if err != nil {
			return err
		}
		begin = plan.begin
		if len(plan.notTaken) > 0 {
			a.warn([]string{"a run does not take, and up does: " + strings.Join(plan.notTaken, ", ")})
		}
	}
	if err := a.leadOnly("begin a run"); err != nil {
		return err
	}
	r, err := begin(ctx, a, o.What)
	if err == nil && o.Wait {
		return a.awaitRun(ctx, r)
	}
	return a.answer(runShown(r), err, func(w io.Writer) { fmt.Fprintln(w, r.ID) })
}

// runOfTeam begins a run of a team that is defined.
func runOfTeam(ctx context.Context, a *app, name string) (r api.AgentTeamRun, err error) {
	list, err := ask[[]api.AgentTeam](ctx, a, "team:list", api.AgentTeamsParams{Name: name})
	if err != nil {
		return r, err
	}
	if len(list) == 0 {
		return r, fault.New(fault.TeamNotFound, "no team %q is defined for runs", name).WithHint("name a team file, which defines it: leadlight run create leadlight.yaml")
	}
	if err := teams.CheckFolder(a.cwd); err != nil {
		return r, err
	}
	r, err = ask[api.AgentTeamRun](ctx, a, "teamRun:create", api.RunCreateParams{TeamID: list[0].ID, Cwd: a.cwd})
	if err == nil {
		a.say("the run waits for items: leadlight run item add --run %s --owner ROLE TITLE", short(r.ID))
	}
	return r, err
}

// short is the part of an id that people are shown.
func short(id string) string { return id[:min(len(id), 8)] }

// errOver ends the following of a run.
var errOver = errors.New("the run is over")

// followRun calls item with each item of a run as it is and becomes, until errOver.
func (a *app) followRun(ctx context.Context, id string, item func(api.AgentTeamItem)) error {
	c, err := a.daemon(ctx)
	if err != nil {
		return err
	}
	return c.TeamRunEvents(ctx, api.TeamRunFilter{TeamRunID: id}, func() {}, func(e api.TeamRunEvent) error {
		for _, it := range e.Items {
			item(it)
		}
		if e.Item != nil {
			item(*e.Item)
		}
		if e.Run != nil && e.Run.Final() {
			return errOver
		}
		return nil
	})
}

// awaitRun follows a run to its end, and shows what it came to.
func (a *app) awaitRun(ctx context.Context, r api.AgentTeamRun) error {
	a.say("run %s", r.ID)
	seen := map[string]string{}
	item := func(it api.AgentTeamItem) {
		if was := seen[it.ID]; was != it.Status && (was != "" || it.Status != api.ItemTodo) {
			a.say("%s: %s", oneLine(it.Title), it.Status)
		}
		seen[it.ID] = it.Status
	}
	err := a.followRun(ctx, r.ID, item)
	for ; errors.Is(err, rpc.ErrHungUp) && ctx.Err() == nil; err = a.followRun(ctx, r.ID, item) {
		a.say("the daemon has ended; another one goes on with the run")
		a.hangUp()
	}
	if !errors.Is(err, errOver) {
		if ctx.Err() != nil {
			a.say("the run goes on; leadlight run cancel %s ends it", short(r.ID))
		}
		return err
	}
	_, err = untilAnswered(ctx, a, func() (api.AgentTeamRun, error) {
		return ask[api.AgentTeamRun](ctx, a, "teamRun:wait", api.IDParams{ID: r.ID})
	})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		a.warn([]string{fault.Of(err).Message}) // the run is over all the same
	}
	report, err := untilAnswered(ctx, a, func() (api.RunReport, error) { return reportOf(ctx, a, r.ID) })
	if err := a.answer(reportShown(report), err, func(w io.Writer) { a.showRun(w, report) }); err != nil || report.Run.Status == api.RunCompleted {
		return err
	}
	return fault.New(fault.Failed, "the run is %s: %s", report.Run.Status, report.Run.Summary).
		WithHint("leadlight logs -t %s NAME shows what a teammate said; leadlight down %s removes what is left", report.LiveTeam, report.LiveTeam)
}

// untilAnswered asks another daemon as often as one ends before it has answered.
func untilAnswered[T any](ctx context.Context, a *app, question func() (T, error)) (answer T, err error) {
	answer, err = question()
	for ; errors.Is(err, rpc.ErrHungUp) && ctx.Err() == nil; answer, err = question() {
		a.hangUp()
	}
	return answer, err
}

func runListCommand(a *app, run func(context.Context, *app, int) error) *cobra.Command {
	var limit int
	c := command(a, "run ls", run, &limit, takes(0, 0), noFiles)
	c.Flags().IntVar(&limit, "limit", 100, "`N` runs at most (default 100)")
	return c
}

func runRunList(ctx context.Context, a *app, limit int) error {
	if limit < 1 {
		return usage("--limit %d: it takes a number of runs", limit)
	}
	list, err := ask[[]api.AgentTeam](ctx, a, "team:list", nil)
	if err != nil {
		return err
	}
	names, p := map[string]string{}, api.RunsParams{Limit: limit}
	wanted := a.flags["team"]
	for _, t := range list {
		names[t.ID] = t.Name
		if t.Name == wanted {
			p.TeamID = t.ID
		}
	}
	if wanted != "" && p.TeamID == "" {
		return fault.New(fault.TeamNotFound, "no team %q has had a run", wanted)
	}
	all, err := ask[[]api.AgentTeamRun](ctx, a, "teamRun:list", p)
	return a.answer(mapped(all, runShown), err, func(w io.Writer) {
		t := &table{head: []string{"RUN", "TEAM", "KIND", "STATUS", "STARTED", "TOOK", "SUMMARY"}, less: []string{"STARTED", "TOOK"}}
		for _, r := range all {
			t.add(short(r.ID), names[r.TeamID], kindOf(r), cell{r.Status, statusColor(r.Status)}, clock(r.StartedAt),
				took(r.StartedAt, r.CompletedAt), oneLine(r.Summary))
		}
		a.table(w, t)
	})
}

// kindOf says who carries a run out: the daemon, or the lead of a team by itself.
func kindOf(r api.AgentTeamRun) string {
	if r.Recorded {
		return "team"
	}
	return "run"
}

// clock is a moment for people.
func clock(ms int64) string { return localTime(time.UnixMilli(ms), time.Now()) }

// took is how long something took, or takes so far.
func took(from, to int64) string {
	d := time.Duration(max(cmp.Or(to, time.Now().UnixMilli())-from, 0)) * time.Millisecond
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// runStep is what pause, resume and cancel do to a run.
type runStep struct{ Verb, ID string }

func runStepCommand(a *app, verb string) *cobra.Command {
	o := runStep{Verb: verb}
	return command(a, "run "+verb, byLead(verb+" a run", runRunStep), &o, optional(&o.ID), completeRuns(a))
}

// openRuns are the runs that the daemon carries out.
func openRuns(ctx context.Context, a *app) ([]api.AgentTeamRun, error) {
	list, err := ask[[]api.AgentTeamRun](ctx, a, "teamRun:list", api.RunsParams{Limit: 1000})
	return slices.DeleteFunc(list, func(r api.AgentTeamRun) bool { return r.Final() || r.Recorded }), err
}

// theOpenRun is the run that is named, or the only one that goes on.
func theOpenRun(ctx context.Context, a *app, verb, id string) (api.AgentTeamRun, error) {
	if id != "" {
		return theRun(ctx, a, id)
	}
	open, err := openRuns(ctx, a)
	switch {
	case err != nil:
		return api.AgentTeamRun{}, err
	case len(open) == 0:
		return api.AgentTeamRun{}, fault.New(fault.RunNotFound, "no run goes on").WithHint("leadlight run ls lists those that are over")
	case len(open) == 1:
		return open[0], nil
	}
	names := mapped(open, func(r api.AgentTeamRun) string { return short(r.ID) })
	return api.AgentTeamRun{}, fault.New(fault.InvalidArgument, "%d runs go on: %s", len(open), strings.Join(names, ", ")).WithHint("name one of them: leadlight run %s ID", verb)
}

func runRunStep(ctx context.Context, a *app, o runStep) error {
	r, err := theOpenRun(ctx, a, o.Verb, o.ID)
	if err != nil {
		return err
	}
	if o.Verb == "cancel" && !r.Final() {
		a.say("run %s: its teammates are ended", short(r.ID))
	}
	r, err = ask[api.AgentTeamRun](ctx, a, "teamRun:"+o.Verb, api.IDParams{ID: r.ID})
	if err == nil && o.Verb == "cancel" {
		a.sayWhatStays(ctx, r.ID)
	}
	return a.answer(runShown(r), err, func(w io.Writer) { fmt.Fprintf(w, "run %s is %s\n", short(r.ID), r.Status) })
}

// sayWhatStays says how to remove what a run that was ended has left.
func (a *app) sayWhatStays(ctx context.Context, id string) {
	report, err := reportOf(ctx, a, id)
	if err == nil && len(report.Members) > 0 {
		a.say("its team stays to be looked at; leadlight down %s removes it", report.LiveTeam)
	}
}

// sayOpenRuns says which runs nobody carries on while no daemon runs.
func (a *app) sayOpenRuns(ctx context.Context) {
	open, _ := openRuns(ctx, a) // it is only a word of warning
	for _, r := range open {
		a.say("run %s rests until a daemon runs again: leadlight daemon start", short(r.ID))
	}
}
