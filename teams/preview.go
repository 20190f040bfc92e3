package teams

import (
	"context"
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// What Start does about a teammate or a task.
const (
	StepAdd     = "add"         // it is not there yet
	StepAdopt   = "adopt"       // a teammate that runs goes on
	StepRestart = "start again" // a teammate that does not run
	StepRetry   = "try again"   // a task that has failed
	StepLeave   = "leave"       // it is there, and stays as it is
)

// Step is what Start does about one teammate, or one task.
type Step struct {
	Do      string
	Name    string // of the teammate; the subject of a task
	Profile string // of a teammate that the file has
	ID      string // of a task that is there
	State   string // of what is there: the state of a teammate, the status of a task
	InFile  bool
}

// What Start does about the team.
const (
	TeamMade     = "make"
	TeamAdopted  = "adopt"
	TeamReplaced = "replace" // a finished one makes room
)

// Preview is what Start does with a plan.
type Preview struct {
	Team    string
	Members []Step // in the order of the file, then those that it does not have
	Tasks   []Step
	Missing []Missing // of those that would be started
}

// Preview returns what Start would do with a plan now, or its error, and changes nothing.
func (lc *lifecycle) Preview(ctx context.Context, p Plan) (Preview, error) {
	missing, err := lc.checkPlan(ctx, p)
	if err != nil {
		return Preview{}, err
	}
	v := Preview{Team: TeamMade}
	t, found, err := lc.OfFile(ctx, p.Team.Name, p.Team.File)
	if err != nil {
		return Preview{}, err
	}
	var members []api.Member
	var tasks []store.Task
	switch {
	case found && lc.finished(ctx, p):
		v.Team = TeamReplaced
	case found:
		v.Team = TeamAdopted
		if err := onSameEngine(t, p.Team); err != nil {
			return Preview{}, err
		}
		if err := lc.mayAdopt(ctx, t); err != nil {
			return Preview{}, err
		}
		if err := lc.leadGone(t, TakeoverSpec{Process: p.Team.LeadProcess}); err != nil {
			return Preview{}, err
		}
		if members, _, err = lc.Members(ctx, t.Name, true); err != nil {
			return Preview{}, err
		}
		if tasks, _, err = lc.tasks.List(ctx, t.Name); err != nil {
			return Preview{}, fmt.Errorf("list tasks: %w", err)
		}
	}
	v.Members, v.Tasks = memberSteps(p, members), taskSteps(p, tasks)
	for _, step := range v.Members[:len(p.Members)] {
		if m := isMissing(missing, step.Name); m != nil && step.Do != StepAdopt {
			v.Missing = append(v.Missing, *m)
		}
	}
	return v, nil
}

// memberSteps are what is done about the teammates of a plan, one step for each in its
// order, and then about those that the team has besides.
func memberSteps(p Plan, members []api.Member) []Step {
	there := map[string]api.Member{}
	for _, m := range members {
		there[m.Name] = m
	}
	steps, planned := []Step{}, map[string]bool{}
	for _, spec := range p.Members {
		m, known := there[spec.Name]
		step := Step{Do: StepAdd, Name: spec.Name, Profile: spec.ProfileName(), State: m.State, InFile: true}
		switch planned[spec.Name] = true; {
		case known && m.Live():
			step.Do = StepAdopt
		case known:
			step.Do = StepRestart
		}
		steps = append(steps, step)
	}
	for _, m := range members {
		if !planned[m.Name] {
			steps = append(steps, Step{Do: StepLeave, Name: m.Name, State: m.State})
		}
	}
	return steps
}

// taskSteps are the same for the tasks. A task is known by its subject; of several with
// one subject, by their order.
func taskSteps(p Plan, tasks []store.Task) []Step {
	bySubject := map[string][]store.Task{}
	for _, t := range tasks {
		bySubject[t.Subject] = append(bySubject[t.Subject], t)
	}
	steps, planned := []Step{}, map[string]bool{}
	for _, spec := range p.Tasks {
		step := Step{Do: StepAdd, Name: spec.Subject, InFile: true}
		if known := bySubject[spec.Subject]; len(known) > 0 {
			step.Do, step.ID, step.State = StepLeave, known[0].ID, known[0].State()
			if step.State == store.FailedTask {
				step.Do = StepRetry
			}
			bySubject[spec.Subject], planned[known[0].ID] = known[1:], true
		}
		steps = append(steps, step)
	}
	for _, t := range tasks {
		if !planned[t.ID] {
			steps = append(steps, Step{Do: StepLeave, Name: t.Subject, ID: t.ID, State: t.State()})
		}
	}
	return steps
}
