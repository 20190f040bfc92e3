package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/dial"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// recorder notes what becomes of a team that is carried out without a daemon, for
// the history of runs. The daemon takes the record in when it next looks.
type recorder struct {
	rec  api.RunRecord
	path string
	over bool // its last word has been said
}

// recorder begins the record of a team, with a first picture; nil if that cannot be.
// The same team has the same record, whoever writes it. That of a team which another
// program leads is not ours to write.
func (a *app) recorder(ctx context.Context, svc *teams.Service, team string) *recorder {
	p, err := a.daemonPaths()
	if err != nil {
		return nil
	}
	t, err := svc.Team(ctx, team)
	if err != nil || t.LedBy != ledByUs {
		return nil
	}
	snap, err := svc.Snapshot(ctx, team)
	if err != nil {
		return nil
	}
	r := newRecorder(p, t, ms(t.CreatedAt))
	r.see(snap)
	return r
}

// ledByUs is what a team says that is led by leadlight.
const ledByUs = "leadlight"

func newRecorder(p dial.Paths, t api.Team, made int64) *recorder {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", p.Base, t.Name, made))
	id := hex.EncodeToString(sum[:16])
	r := &recorder{
		rec:  api.RunRecord{ID: id, Team: t.Name, Description: t.Description, Status: api.RunRunning, StartedAt: made},
		path: filepath.Join(p.Records(), id+".json"),
	}
	r.goOn()
	return r
}

// goOn takes over what an earlier process has left of the same record.
func (r *recorder) goOn() {
	var old api.RunRecord
	data, err := files.ReadFile(r.path, 0)
	if err != nil || json.Unmarshal(data, &old) != nil {
		return
	}
	r.over, r.rec.Tasks = old.CompletedAt > 0, old.Tasks
}

// itemStatuses are the statuses of items for those of tasks.
var itemStatuses = map[string]string{
	store.Pending: api.ItemTodo, store.InProgress: api.ItemInProgress, store.Blocked: api.ItemBlocked, store.Completed: api.ItemDone, store.FailedTask: api.ItemFailed,
}

// see takes a new picture. What is known of a task since before stays: when it began and ended
// first, and how often it was seen to begin.
func (r *recorder) see(snap teams.Snapshot) {
	if r == nil {
		return
	}
	now := time.Now().UnixMilli()
	was := map[string]api.RunRecordTask{}
	for _, k := range r.rec.Tasks {
		was[k.ID] = k
	}
	r.rec.Members, r.rec.Tasks = []api.RunRecordMember{}, []api.RunRecordTask{}
	for _, m := range snap.Members {
		r.rec.Members = append(r.rec.Members, api.RunRecordMember{Name: m.Name, Profile: m.Profile, StartedAt: ms(m.StartedAt)})
	}
	for _, t := range snap.Tasks {
		k := api.RunRecordTask{ID: t.ID, Title: t.Subject, Description: t.Description, Owner: teams.MeantFor(t), Status: itemStatuses[t.Status], Result: cmp.Or(t.Failure, t.Result), BlockedBy: t.BlockedBy, Usage: t.Usage}
		old := was[t.ID]
		k.StartedAt, k.CompletedAt, k.Attempts = old.StartedAt, old.CompletedAt, old.Attempts
		switch {
		case k.Status == api.ItemInProgress && old.Status != api.ItemInProgress:
			k.StartedAt, k.Attempts = cmp.Or(k.StartedAt, now), k.Attempts+1
		case k.Status == api.ItemDone || k.Status == api.ItemFailed:
			k.CompletedAt = cmp.Or(k.CompletedAt, ms(t.UpdatedAt), now)
		}
		if k.CompletedAt > 0 && (k.StartedAt == 0 || k.StartedAt > k.CompletedAt) {
			k.StartedAt = k.CompletedAt // nobody saw it under way
		}
		r.rec.Tasks = append(r.rec.Tasks, k)
	}
}

func ms(t *api.Time) int64 {
	if t == nil {
		return 0
	}
	return time.Time(*t).UnixMilli()
}

// end gives the record its last word.
func (r *recorder) end() {
	if r == nil {
		return
	}
	r.rec.CompletedAt, r.rec.Status = time.Now().UnixMilli(), api.RunCompleted
	if slices.ContainsFunc(r.rec.Tasks, func(k api.RunRecordTask) bool { return k.Status != api.ItemDone }) {
		r.rec.Status, r.rec.Error = api.RunFailed, "not every task was completed"
	}
}

// cancel says of a record that has ended with tasks left that this was wanted.
func (r *recorder) cancel() {
	if r != nil && r.rec.Status == api.RunFailed {
		r.rec.Status, r.rec.Error = api.RunCancelled, "the team was taken down"
	}
}

// write leaves the record for the daemon, whole or not at all.
func (r *recorder) write() error {
	data, err := json.Marshal(r.rec)
	if err == nil {
		err = files.Replace(r.path, data)
	}
	if err != nil {
		return fmt.Errorf("leave a record of the run: %w", err)
	}
	return nil
}

// keepRecord writes a record; without it only the history has a gap.
func (a *app) keepRecord(r *recorder) {
	if r == nil || r.over {
		return
	}
	if err := r.write(); err != nil {
		a.warn([]string{err.Error()})
	}
}
