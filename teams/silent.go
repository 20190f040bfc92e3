package teams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// silentLook is how often it is looked whether machines are silent.
const silentLook = 5 * time.Second

// silence is the last look at the machines, which all teams share.
type silence struct {
	mu   sync.Mutex
	next time.Time
	list []api.Machine
}

// look returns what was seen of the machines within silentLook; nothing while somebody else
// looks, who is not waited for.
func (x *silence) look(ctx context.Context, machines Machines) (_ []api.Machine, err error) {
	if !x.mu.TryLock() {
		return nil, nil
	}
	defer x.mu.Unlock()
	if now := time.Now(); !now.Before(x.next) {
		x.next = now.Add(silentLook)
		x.list, err = machines.Seen(ctx)
	}
	return x.list, err
}

// FreeSilent frees the tasks of teammates whose machine has said nothing for as long as the
// limit says, as onLoss has it. Whoever watches a team calls it with each picture of it. The
// teammates may go on there: what one of them brings when it is back counts if nobody else
// has its task by then.
func (re *recorder) FreeSilent(ctx context.Context, team string, snap Snapshot) error {
	if re.machines == nil || re.limits.OnLoss == KeepTasks {
		return nil
	}
	far := re.workingElsewhere(snap)
	if len(far) == 0 {
		return nil
	}
	list, err := re.silence.look(ctx, re.machines)
	if err != nil {
		return err
	}
	owners, machines := map[string]string{}, []string{}
	for _, m := range list {
		silence := time.Duration(m.SilentMS) * time.Millisecond
		if m.This || m.State != api.MachineSilent || silence < re.limits.Silent {
			continue
		}
		for _, w := range far {
			if w.Machine == m.Name {
				owners[w.Name] = fmt.Sprintf("unknown: machine %s is silent for %s", m.Name, silence.Round(time.Second))
				machines = append(machines, m.Name)
			}
		}
	}
	freed, err := re.freeTasks(ctx, team, owners)
	if len(freed) == 0 {
		return err
	}
	t, found := re.get(ctx, team)
	if found != nil || !t.LedByUs() {
		return errors.Join(err, found)
	}
	slices.Sort(machines)
	text := fmt.Sprintf("Machine %s says nothing for %s or longer. Tasks of its teammates are free again: %s.", strings.Join(slices.Compact(machines), ", "), re.limits.Silent, strings.Join(freed, ", "))
	return errors.Join(err, re.putToLead(ctx, t, store.Message{From: store.Lead, Text: text, Summary: "tasks are free again"}))
}

// workingElsewhere are those on other machines who have a task.
func (re *recorder) workingElsewhere(snap Snapshot) (out []api.Member) {
	for _, m := range snap.Members {
		has := func(t api.Task) bool { return t.Status == store.InProgress && store.SameName(t.Owner, m.Name) }
		if m.Live() && re.Far(m) && slices.ContainsFunc(snap.Tasks, has) {
			out = append(out, m)
		}
	}
	return out
}
