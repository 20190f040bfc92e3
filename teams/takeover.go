package teams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TakeoverSpec says who leads from now on.
type TakeoverSpec struct {
	Session string // id of the Claude session that the caller runs in; "": none
	Process bool   // this process leads; false: whoever runs the verbs
}

// Takeover makes the caller the lead of a team whose lead is proved to be gone, and
// adopts what is there: teammates that run go on and keep their mail and tasks, the
// lead's mail stays for the new one, those that are lost are written down. What ran
// inside the old lead, or in a pane that is gone, leaves the roster. A team that no
// process leads is the caller's already. fault.NotLead while the lead runs,
// fault.Unproven when it cannot be told, fault.LimitReached when this process leads
// another team.
func (lc *lifecycle) Takeover(ctx context.Context, team string, spec TakeoverSpec) (api.Takeover, error) {
	if err := lc.leadOnly("take a team over"); err != nil {
		return api.Takeover{}, err
	}
	t, err := lc.get(ctx, team)
	if err != nil {
		return api.Takeover{}, err
	}
	if err := lc.leadGone(t, spec); err != nil {
		return api.Takeover{}, err
	}
	var self *store.LeadProcess
	if spec.Process {
		if err := lc.oneTeam(ctx, t.Name); err != nil {
			return api.Takeover{}, err
		}
		if self, err = leadProcess(time.Now()); err != nil {
			return api.Takeover{}, fmt.Errorf("take team %s over: %w", t.Name, err)
		}
	}
	out := api.Takeover{Team: t.Name, Was: describeLead(t)}
	seen := lc.observe(ctx, t, t.Teammates())
	out.Removed = gone(t, seen)
	err = lc.roster.Update(ctx, t.Name, func(now *store.Team) error {
		if !sameLead(*now, t) {
			return fault.New(fault.NotLead, "team %s has got another lead meanwhile: %s", t.Name, describeLead(*now)).
				WithHint("leadlight team show %s", shell.Line(t.Name))
		}
		now.LeadProcess, now.LeadSessionID = self, spec.Session
		now.Ours.Schema = cmp.Or(now.Ours.Schema, store.Schema)
		now.Members = slices.DeleteFunc(now.Members, func(m store.Member) bool {
			return m.Leadlight == nil && slices.Contains(out.Removed, m.Name)
		})
		return nil
	})
	if err != nil {
		return api.Takeover{}, fmt.Errorf("take team %s over: %w", t.Name, err)
	}
	return lc.adopted(ctx, out)
}

// adopted settles what the old lead has left, and says what there is.
func (lc *lifecycle) adopted(ctx context.Context, out api.Takeover) (api.Takeover, error) {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, name := range out.Removed {
		errs = append(errs, lc.FreeTasks(ctx, out.Team, name, api.StateLost))
	}
	lost, err := lc.Reconcile(ctx, out.Team)
	out.Lost = orEmpty(lost)
	errs = append(errs, err)
	members, _, err := lc.Members(ctx, out.Team, true)
	errs = append(errs, err)
	out.Adopted, out.Unknown, out.Removed = []string{}, []string{}, orEmpty(out.Removed)
	for _, m := range members {
		switch {
		case m.State == api.StateUnknown:
			out.Unknown = append(out.Unknown, m.Name)
		case m.Live():
			out.Adopted = append(out.Adopted, m.Name)
			if m.Name != store.Lead { // what the old lead asked of it nobody waits for
				errs = append(errs, lc.takeBack(ctx, out.Team, m.Name, false))
			}
		}
	}
	return out, errors.Join(errs...)
}

// gone are the members that only the old lead could have ended: not ours, and
// proved not to run.
func gone(t store.Team, seen []api.Member) []string {
	var names []string
	for i, m := range t.Teammates() {
		if m.Leadlight == nil && !m.Unsafe && !seen[i].Live() {
			names = append(names, m.Name)
		}
	}
	return names
}

// sameLead tells whether a team is led as it was when we looked.
func sameLead(now, then store.Team) bool {
	if now.LeadSessionID != then.LeadSessionID || (now.LeadProcess == nil) != (then.LeadProcess == nil) {
		return false
	}
	return now.LeadProcess == nil || (now.LeadProcess.PID == then.LeadProcess.PID && now.LeadProcess.ProcStart == then.LeadProcess.ProcStart)
}

// leadGone returns nil if nobody else leads t: proved, not supposed.
func (rg *registry) leadGone(t store.Team, spec TakeoverSpec) error {
	switch {
	case t.LeadProcess == nil && (t.LedByUs() || (spec.Session != "" && spec.Session == t.LeadSessionID)):
		return nil // nobody in particular, or the caller itself
	case t.LeadProcess == nil:
		return noClaude(t)
	case t.LedByUs() && isThisProcess(t.LeadProcess):
		return nil
	}
	switch leadAlive(t) {
	case signals.Gone:
		return nil
	case signals.Unknown:
		if rg.gaveUp(t) {
			return nil
		}
	case signals.Alive:
		return fault.New(fault.NotLead, "team %s is led by process %d, which runs", t.Name, t.LeadProcess.PID).
			WithHint("end that one first, or leave the team to it; the lead of a team is fixed while it lives")
	}
	return fault.New(fault.Unproven, "team %s is led by process %d of %s, and it cannot be told here whether that runs", t.Name, t.LeadProcess.PID, cmp.Or(t.LeadProcess.PIDSpace, "another machine")).
		WithHint("run leadlight team takeover %s where the lead ran; if that place is gone for good, as a container that was removed: leadlight team delete %s --force", shell.Line(t.Name), shell.Line(t.Name))
}

// noClaude proves that the lead of a team which records no process is gone: no
// Claude Code runs here but the caller's own session and the teammates.
func noClaude(t store.Team) error {
	table, err := signals.Snapshot()
	if err != nil {
		return fault.New(fault.Unproven, "the lead of team %s cannot be looked for: %w", t.Name, err)
	}
	mine := map[int]bool{}
	for pid := os.Getpid(); pid > 1 && !mine[pid]; {
		mine[pid] = true
		p, ok := table.Find(pid)
		if !ok {
			break
		}
		pid = p.PPID
	}
	for _, p := range table.All() {
		if !mine[p.PID] && leadsAsClaude(p) {
			return fault.New(fault.Unproven, "team %s records no process of its lead (session %s), and %s may be it", t.Name, store.Shown(t.LeadSessionID), p).
				WithHint("end that session, then run leadlight team takeover %s again", shell.Line(t.Name))
		}
	}
	return nil
}

// leadsAsClaude tells whether a process may be a Claude Code session that leads.
func leadsAsClaude(p signals.Process) bool {
	if slices.Contains(p.Argv, "--agent-id") {
		return false // a teammate
	}
	if p.Command == "claude" {
		return true
	}
	for i, arg := range p.Argv {
		if i < 2 && (filepath.Base(arg) == "claude" || strings.Contains(arg, "claude-code")) {
			return true
		}
	}
	return false
}

// isThisProcess tells whether a lead is the very process that asks.
func isThisProcess(p *store.LeadProcess) bool {
	self, err := leadProcess(time.Time{})
	return err == nil && p.PID == self.PID && p.ProcStart == self.ProcStart && p.PIDSpace == self.PIDSpace
}
