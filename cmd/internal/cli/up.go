package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

type upOptions struct {
	File                 string
	Detach, Keep, DryRun bool
	Top                  bool // show the dashboard, wherever the panes are
}

// upResult is the answer of up.
type upResult struct {
	Team    string       `json:"team"`
	Members []api.Member `json:"members"`
	Tasks   []api.Task   `json:"tasks"`
	Endings []api.Ending `json:"endings,omitempty"` // absent with --detach
	Missing []upMissing  `json:"missing,omitempty"`
	OK      bool         `json:"ok"`
}

// upMissing is a teammate of the file that was not started, or is not proved to be, since its
// machine does not answer.
type upMissing struct {
	Name    string      `json:"name"`
	Machine string      `json:"machine"`
	Error   fault.Error `json:"error"`
}

func upCommand(a *app, run func(context.Context, *app, upOptions) error) *cobra.Command {
	var o upOptions
	args := func(c *cobra.Command, args []string) error {
		if len(args) == 1 && c.Flags().Changed("file") {
			return usage("two team files: %q and --file %q", args[0], o.File)
		}
		if len(args) == 0 {
			return nil // the file of the flag
		}
		return optional(&o.File)(c, args)
	}
	c := command(a, "up", run, &o, args, teamFiles)
	c.Flags().StringVarP(&o.File, "file", "f", config.TeamFileName, "the team `FILE`, as without the flag")
	_ = c.RegisterFlagCompletionFunc("file", teamFiles)
	c.Flags().BoolVarP(&o.Detach, "detach", "d", false, "return when the teammates are started; nobody supervises them then")
	c.Flags().BoolVar(&o.Keep, "keep", false, "keep the team when its tasks are done, until ^C or leadlight down")
	c.Flags().BoolVar(&o.Top, "top", false, "show the dashboard meanwhile; q goes on in lines")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "check everything, say what would be added, adopted, started again and left, and do nothing")
	return c
}

// startGCPercent lets up start a usual team without collecting garbage: the first collection
// would come while the agents start, on their processors.
const startGCPercent = 400

// planOf is what a team file says, with the settings.
func (a *app) planOf(path string) (plan teams.Plan, err error) {
	file, identity, err := teamFile(path)
	if err != nil {
		return plan, err
	}
	plan = file.Plan
	if t, given := a.flags["team"]; given && t != plan.Team.Name {
		return plan, usage("two teams: %q in %s and --team %q", plan.Team.Name, path, t)
	}
	s, err := a.set(file)
	if err != nil {
		return plan, err
	}
	s.Complete(&plan)
	plan.Team.File = identity
	plan.Team.Engine, err = a.engineFor("")
	return plan, err
}

func runUp(ctx context.Context, a *app, o upOptions) error {
	if o.Top && o.Detach {
		return usage("--top and --detach: the dashboard stays in this terminal")
	}
	plan, err := a.planOf(a.fromHome(o.File))
	if err != nil {
		return err
	}
	plan.Team.LeadProcess = !o.Detach
	svc, err := a.service(ctx)
	if err != nil {
		return err
	}
	if o.DryRun {
		return a.showPlan(ctx, svc, plan)
	}
	cols := width(a.out.w)
	began, before := time.Now(), svc.DownBy(plan.Team.Name) // who takes the team down from here on ends up, too
	percent := debug.SetGCPercent(startGCPercent)
	snap, err := svc.Start(ctx, plan, func(line string) { a.say("%s", line) })
	debug.SetGCPercent(percent)
	a.sayChoice()
	if err != nil {
		return err
	}
	u := &upRun{
		a: a, svc: svc, team: plan.Team.Name, onLeadExit: a.settings.OnLeadExit.V, keep: o.Keep || a.settings.Keep.V, top: o.Top, began: began, before: before, cols: cols,
		missing: snap.Missing, planned: len(plan.Members),
	}
	u.record = a.recorder(ctx, svc, plan.Team.Name)
	a.keepRecord(u.record)
	u.opening(ctx, snap)
	if o.Detach {
		err := a.answer(u.result(snap, nil), nil, func(w io.Writer) { a.memberTable(w, snap.Members) })
		return errors.Join(err, u.unstarted())
	}
	a.narrate()
	return u.lead(ctx)
}

// upRun is one team that this process leads.
type upRun struct {
	a          *app
	svc        *teams.Service
	team       string
	onLeadExit string
	keep, top  bool
	record     *recorder // for the history of runs
	view       *progressView
	mailSeen   map[string]bool
	stillness  stillness
	began      time.Time
	before     teams.Downer // who had taken a team of that name down before
	cols       int          // the width of the terminal before panes stood beside it
	missing    []teams.Missing
	planned    int // how many teammates the file has
}

// unstarted is the error of teammates that were not started, or are not proved to be.
func (u *upRun) unstarted() error { return teams.MissingError(u.missing, u.planned) }

// opening says what a person wants to know at the start.
func (u *upRun) opening(ctx context.Context, snap teams.Snapshot) {
	u.plainOwners(snap)
	u.a.sayAttach(ctx, u.svc, u.team, "")
	for _, id := range snap.Unclaimed {
		for _, t := range snap.Tasks {
			if t.ID == id {
				u.a.say("leadlight: warning: nobody will take task %s: %s", id, oneLine(t.Subject))
			}
		}
	}
	for _, line := range waits(snap) {
		u.a.say("%s", line)
	}
}

// plainOwners says which tasks wait for a program that was only started: it takes no
// tasks by itself, and up waits until it, or somebody in its name, has done them.
func (u *upRun) plainOwners(snap teams.Snapshot) {
	for _, m := range snap.Members {
		for _, t := range snap.Tasks {
			if m.Kind == profiles.Plain && m.Live() && store.SameName(t.Owner, m.Name) && t.Status != "completed" {
				u.a.say("leadlight: warning: task %s waits for %s, which is only run: it, or you, must say leadlight task done %s", t.ID, oneLine(m.Name), t.ID)
			}
		}
	}
}

// lead follows the team to its end.
func (u *upRun) lead(ctx context.Context) error {
	if err := u.onScreen(ctx); err != nil {
		return err
	}
	u.view = newProgressView(u.a)
	u.mailSeen = map[string]bool{}
	mctx, stopMail := context.WithCancel(ctx)
	mail := make(chan struct{})
	go func() {
		defer close(mail)
		u.followMail(mctx)
	}()
	snap, err := u.follow(ctx)
	stopMail()
	<-mail
	u.view.done()
	pid, down := u.svc.TakenDown(u.team, u.before)
	switch {
	case ctx.Err() != nil:
		return u.interrupted(ctx)
	case down:
		u.a.say("the team was taken down by pid %d", pid)
		return nil
	case fault.CodeOf(err) == fault.TeamNotFound:
		u.a.say("team %s was taken down", u.team)
		return nil
	case err != nil:
		return err
	}
	return u.end(ctx, snap)
}

// followMail shows messages to the lead as they come, also after the engine was away. What it
// misses is shown at the end.
func (u *upRun) followMail(ctx context.Context) {
	for {
		err := u.svc.FollowInbox(ctx, u.team, "", teams.InboxFilter{Unread: true}, u.mail)
		if fault.CodeOf(err) != fault.EngineUnavailable {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// follow follows the team until its tasks are done, or, if it is kept, until it is taken down.
func (u *upRun) follow(ctx context.Context) (teams.Snapshot, error) {
	for told := false; ; {
		snap, err := u.svc.Follow(ctx, u.team, func(s teams.Snapshot) {
			u.record.see(s)
			u.view.show(s)
			u.still(s)
		})
		if err != nil || !u.keep {
			return snap, err
		}
		if !told {
			u.view.say("nothing is left to do; the team is kept until ^C or leadlight down " + u.team)
			told = true
		}
		for again := false; !again; {
			select {
			case <-ctx.Done():
				return snap, ctx.Err()
			case <-time.After(time.Second):
			}
			now, err := u.svc.Snapshot(ctx, u.team)
			if err != nil {
				return snap, err
			}
			if _, down := u.svc.TakenDown(u.team, u.before); down {
				return now, nil
			}
			u.record.see(now) // a short task is done by now
			u.view.show(now)
			again = !now.Settled()
		}
	}
}

// still says, when nothing has happened for a while, who is waited for.
func (u *upRun) still(snap teams.Snapshot) {
	if !u.stillness.see(time.Now(), snap) {
		return
	}
	for _, line := range waits(snap) {
		u.view.say("nothing happens: " + line)
	}
}

// onScreen shows the dashboard where it was asked for, or the teammates have no terminal
// of their own, and a person sits at ours, until all is done or the person leaves it: then it goes on in
// lines.
func (u *upRun) onScreen(ctx context.Context) error {
	c := u.a.built.choice
	headless := c != nil && c.Type == panes.Headless
	if !u.top && !headless || u.a.json || !isTerminal(u.a.in) || !isTerminal(u.a.out.w) || !isTerminal(u.a.err) {
		return nil
	}
	dctx, leave := context.WithCancel(ctx)
	fctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer leave()
		_, _ = u.svc.Follow(fctx, u.team, func(teams.Snapshot) {}) // whoever goes on is told the same error
	}()
	err := u.a.dashboard(dctx, u.team)
	cancel()
	<-done
	if ctx.Err() != nil {
		return nil // an interrupt is answered as ever
	}
	return err
}

// mail shows a message to the lead: this process is the lead.
func (u *upRun) mail(m api.Message) error {
	at, err := time.Parse(time.RFC3339, m.Timestamp)
	told := teams.TellsEnd(m) && err == nil && at.Before(u.began) && !u.began.Round(0).After(time.Now()) // by an earlier run; else the clock was set back
	if u.mailSeen[m.ID] || m.Type != "message" || told {
		return nil
	}
	u.mailSeen[m.ID] = true
	u.view.say("mail from " + oneLine(m.From) + ": " + strings.TrimRight(printable(m.Text), "\n"))
	return nil
}

// interrupted ends as lifecycle.onLeadExit says.
func (u *upRun) interrupted(ctx context.Context) error {
	if u.onLeadExit != "shutdown" {
		u.a.say("interrupted: the teammates go on; leadlight down %s ends them", u.team)
		return context.Cause(ctx)
	}
	u.a.say("interrupted: shutting the teammates down; again ^C does not wait for them")
	if _, err := u.shutDown(context.WithoutCancel(ctx), "the lead was interrupted", false); err != nil {
		u.a.report(fault.Of(err))
	}
	u.a.say("the team stays to be looked at; leadlight down %s removes it", u.team)
	return context.Cause(ctx)
}

// shutDown ends all teammates, and says how each ended. keepLost: who was lost before stays so,
// and may be started again.
func (u *upRun) shutDown(ctx context.Context, reason string, keepLost bool) (api.Endings, error) {
	var mu sync.Mutex
	said := map[string]string{} // the last of each
	progress := func(name, what string) {
		mu.Lock()
		defer mu.Unlock()
		said[name] = what
		u.a.progress(name, what)
	}
	e, err := u.svc.Down(ctx, u.team, teams.StopOptions{Reason: reason, Force: true, KeepLost: keepLost, Progress: progress}, true)
	for _, m := range e.Members {
		if said[m.Name] != m.Outcome {
			u.a.say("%s: %s", m.Name, m.Outcome)
		}
	}
	return e, err
}

// widenLimit is how long the terminal may take to give back the room of panes that are closed.
const widenLimit = 500 * time.Millisecond

// widened waits a moment for the terminal to be as wide as before: the result is cut to its width.
func (u *upRun) widened(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, widenLimit)
	defer cancel()
	for ctx.Err() == nil && width(u.a.out.w) < u.cols {
		time.Sleep(10 * time.Millisecond)
	}
}

// end shuts the teammates down and prints the result. The team stays: its
// transcripts and results are somebody's work.
func (u *upRun) end(ctx context.Context, snap teams.Snapshot) error {
	u.missing = u.svc.StillMissing(ctx, u.team, u.missing)
	e, err := u.shutDown(ctx, "the tasks are done", !snap.Completed())
	if err != nil {
		return err
	}
	if left, err := u.svc.Inbox(ctx, u.team, "", teams.InboxFilter{Unread: true}); err == nil {
		for _, m := range left {
			if !teams.TellsEnd(m) { // that was said above
				_ = u.mail(m)
			}
		}
	}
	if last, err := u.svc.Snapshot(ctx, u.team); err == nil {
		snap.Members = last.Members
	}
	u.record.see(snap)
	u.record.end()
	u.a.keepRecord(u.record)
	res := u.result(snap, e.Members)
	res.OK = res.OK && e.OK
	u.widened(ctx)
	if err := u.a.answer(res, nil, func(w io.Writer) { u.a.table(w, resultRows(res.Tasks)) }); err != nil {
		return err
	}
	if !snap.Completed() {
		return u.incomplete(snap)
	}
	return cmp.Or(u.unstarted(), teams.Verdict(e))
}
