package store

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// The rules of tasks that hold in every store are here, so that no two stores
// can differ in them.

// StatusOf translates the names that other task lists use for a status: claimed,
// done, failed. Failed is pending with a failure.
func StatusOf(name string) (status string, failed bool) {
	switch strings.ToLower(name) {
	case "claimed", "in-progress":
		return InProgress, false
	case "done":
		return Completed, false
	case FailedTask:
		return Pending, true
	case "open", Blocked:
		return Pending, false
	}
	return name, false
}

// Revise applies change to a copy of old, whose Open must be filled, and holds
// the result to the rules: a status that exists, none but pending while a blocker
// is open, a failed task pending and unowned, an unfailed one without failure. It
// stamps UpdatedAt on tasks that we made.
func Revise(old *Task, now time.Time, change func(*Task) error) (Task, error) {
	t := old.Clone()
	if err := change(&t); err != nil {
		return *old, err
	}
	t.ID, t.Internal = old.ID, old.Internal
	if err := settleStatus(&t, old); err != nil {
		return *old, err
	}
	if Blank(t.Subject) && t.Subject != old.Subject {
		return *old, fault.New(fault.InvalidArgument, "task %s needs a subject", old.ID)
	}
	if t.Status != old.Status && old.Status == Pending && t.Status != Deleted && len(old.Open) > 0 {
		return *old, fault.New(fault.TaskBlocked, "task %s waits for %s", old.ID, tasksNamed(old.Open)).
			WithHint("complete what it waits for, or take it out of blockedBy")
	}
	switch {
	case t.Status != Completed:
		t.CompletedAt = time.Time{}
	case old.Status != Completed && t.CompletedAt.IsZero():
		t.CompletedAt = now
	}
	t.Blocks, t.BlockedBy = unique(t.Blocks), unique(t.BlockedBy)
	t.pack(old)
	if _, ours := old.Metadata[metaCreatedAt]; ours && !same(&t, old) {
		t.UpdatedAt = now
		t.pack(old)
	}
	return t, nil
}

func settleStatus(t, old *Task) error {
	if t.Status != old.Status {
		status, failed := StatusOf(t.Status)
		if t.Status = status; failed && t.Failure == "" {
			t.Failure = "failed"
		}
		if !slices.Contains([]string{Pending, InProgress, Completed, Deleted}, status) {
			return fault.New(fault.InvalidArgument, "%q is not a status of a task", Shown(status)).
				WithHint("pending, in_progress, completed")
		}
	}
	switch {
	case t.Failure != "" && t.Failure != old.Failure:
		t.Status = Pending // it keeps who had it
	case t.Status != Pending:
		t.Failure = ""
	}
	return nil
}

// CheckNew holds a task that is to be created to the rules and completes it.
func CheckNew(t Task, now time.Time) (Task, error) {
	t = t.Clone()
	if Blank(t.Subject) {
		return t, fault.New(fault.InvalidArgument, "a task needs a subject")
	}
	t.Status = cmp.Or(t.Status, Pending)
	if err := settleStatus(&t, &Task{}); err != nil {
		return t, err
	}
	if t.Status == Deleted {
		return t, fault.New(fault.InvalidArgument, "a new task cannot be deleted")
	}
	if t.CreatedAt.IsZero() {
		t.CreatedAt = now
	}
	t.UpdatedAt, t.Internal, t.Open = t.CreatedAt, false, nil
	t.Blocks, t.BlockedBy = unique(t.Blocks), unique(t.BlockedBy)
	t.pack(&Task{})
	return t, nil
}

// Claimable says why who may not claim t now, whose Open must be filled; nil if
// it may.
func Claimable(t *Task, who string) error {
	switch {
	case t.Ready(who):
		return nil
	case t.Internal || t.Status == Deleted:
		return fault.New(fault.TaskNotFound, "there is no task %s", t.ID)
	case t.Status == Completed:
		return fault.New(fault.TaskClaimed, "task %s is completed already", t.ID).
			WithHint("leadlight task release %s makes it pending again", t.ID)
	case t.Status == Pending && t.Failure != "":
		return fault.New(fault.TaskBlocked, "task %s has failed: %s", t.ID, Shown(t.Failure)).
			WithHint("leadlight task release %s makes it pending again", t.ID)
	case t.Status == Pending && t.AwaitsHooks():
		return fault.New(fault.TaskBlocked, "task %s waits for the answer of its hooks", t.ID).
			WithHint("leadlight task release %s gives it free without the answer", t.ID)
	case t.Owner != "" && !SameName(t.Owner, who):
		return fault.New(fault.TaskClaimed, "task %s is taken by %s", t.ID, Shown(t.Owner)).
			WithHint("leadlight task claim --next takes another one; the lead gives it to another by leadlight task update %s --owner NAME", t.ID)
	case t.Status == Pending && len(t.Open) == 0:
		return fault.New(fault.TaskClaimed, "task %s is meant for %s", t.ID, Shown(t.AssignedTo())).
			WithHint("leadlight task update %s --owner NAME gives it to another", t.ID)
	case t.Status == Pending && len(t.Missing) > 0:
		return fault.New(fault.TaskBlocked, "task %s waits for %s, and %s does not exist", t.ID, tasksNamed(t.Open), Shown(t.Missing[0])).
			WithHint("leadlight task update %s --remove-blocked-by ID takes it out", t.ID)
	case t.Status == Pending:
		return fault.New(fault.TaskBlocked, "task %s waits for %s", t.ID, tasksNamed(t.Open)).
			WithHint("leadlight task claim --next takes one that is ready")
	case SameName(t.Owner, who):
		return fault.New(fault.TaskClaimed, "task %s is taken by %s already", t.ID, Shown(who))
	}
	return fault.New(fault.TaskClaimed, "task %s is %s, and has no owner", t.ID, Shown(t.Status)).
		WithHint("leadlight task release %s makes it pending again", t.ID)
}

// Claiming is the change that makes who the owner of a task and sets it in progress.
func Claiming(who string) func(*Task) error {
	return func(t *Task) error {
		if err := Claimable(t, who); err != nil {
			return err
		}
		t.Owner, t.Status = who, InProgress
		return nil
	}
}

// MaxID is the highest id of a task. It is below the greatest number that JavaScript counts exactly.
const MaxID = 999_999_999_999_999

// NextID is the id of a new task of a team whose highest was that.
func NextID(team string, highest int64) (string, error) {
	if highest >= MaxID {
		return "", fault.New(fault.LimitReached, "team %s has used up all ids of tasks", team)
	}
	return strconv.FormatInt(highest+1, 10), nil
}

// IDNumber returns the number that a task's id is, from 1 on, or -1.
func IDNumber(id string) int64 {
	if id == "" || len(id) > 15 || id[0] == '0' {
		return -1
	}
	var n int64
	for _, c := range []byte(id) {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// NotReady is the error of a ClaimNext that found nothing.
func NotReady(team, who string) error {
	return fault.New(fault.NoTaskReady, "no task of team %s is ready for %s", team, Shown(who)).
		WithHint("leadlight task ls shows what each task waits for")
}

// NoTeam is the error for a name without a team.
func NoTeam(team string) error {
	return fault.New(fault.TeamNotFound, "team %q does not exist", Shown(team)).WithHint("leadlight team ls lists the teams there are")
}

// TeamExists is the error of a Create for a name that a team has.
func TeamExists(team string) error {
	return fault.New(fault.TeamExists, "team %q exists already", team).
		WithHint("choose another name, or delete it with: leadlight team delete %s", team)
}

// NoTask is the error for an id without a task.
func NoTask(team, id string) error {
	return fault.New(fault.TaskNotFound, "team %s has no task %s", team, Shown(id)).
		WithHint("leadlight task ls lists the tasks there are")
}

func tasksNamed(ids []string) string {
	if len(ids) == 1 {
		return "task " + ids[0]
	}
	return "tasks " + strings.Join(ids, ", ")
}

func unique(ids []string) []string {
	if len(ids) == 0 {
		return ids
	}
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
