package teams

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// others are machines of which one says nothing.
type others struct {
	silence time.Duration
	looks   atomic.Int32
}

func (*others) List(context.Context) ([]api.Machine, error) { panic("nobody is counted") }

func (o *others) Seen(context.Context) ([]api.Machine, error) {
	o.looks.Add(1)
	silence := o.silence.Milliseconds()
	state := api.MachineActive
	if silence > 15_000 {
		state = api.MachineSilent
	}
	return []api.Machine{{Name: "desk", State: api.MachineActive, This: true}, {Name: "hub", State: state, SilentMS: silence}, {Name: "lab", State: api.MachineActive}}, nil
}

func (*others) Do(context.Context, api.MachineCall, func(json.RawMessage)) (json.RawMessage, error) {
	panic("nobody is asked")
}

// TestTasksOfASilentMachine: they stay with who has them until the limit, then onLoss
// holds, once. Nobody else's are touched.
func TestTasksOfASilentMachine(t *testing.T) {
	for _, c := range []struct {
		name    string
		silence time.Duration
		limits  Limits
		freed   bool
	}{
		{"not for long", 9 * time.Minute, Limits{}, false},
		{"for long", 11 * time.Minute, Limits{}, true},
		{"longer than was set", time.Minute, Limits{Silent: 30 * time.Second}, true},
		{"they are to be kept", time.Hour, Limits{OnLoss: KeepTasks}, false},
		{"it speaks", 10 * time.Second, Limits{Silent: time.Second}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem, ctx := memory.New(), t.Context()
			dir, err := files.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { dir.Close() })
			manager := panes.NewManager(panes.Options{Dir: dir, Runtime: t.TempDir()})
			team := store.Team{Name: "alpha", Ours: store.Ours{Schema: store.Schema}, Members: []store.Member{{Name: store.Lead}}}
			snap := Snapshot{}
			for name, machine := range map[string]string{"far": "hub", "near": "desk", "other": "lab"} {
				team.Members = append(team.Members, store.Member{Name: name, Leadlight: &store.Bookkeeping{Machine: machine}})
				snap.Members = append(snap.Members, api.Member{Name: name, Machine: machine, State: api.StateUnknown})
			}
			if err := mem.Roster().Create(ctx, team); err != nil {
				t.Fatal(err)
			}
			machines := &others{silence: c.silence}
			s := New(Config{Roster: mem.Roster(), Mail: mem.Mail(), Tasks: mem.Tasks(), Panes: manager, Limits: c.limits, Machine: "desk", Machines: machines})
			for _, owner := range []string{"far", "near", "other"} {
				task, err := mem.Tasks().Create(ctx, "alpha", store.Task{Subject: owner})
				if err == nil {
					task, err = mem.Tasks().Claim(ctx, "alpha", task.ID, owner)
				}
				if err != nil {
					t.Fatal(err)
				}
				snap.Tasks = append(snap.Tasks, shownTask(task))
			}
			for _, watcher := range []*Service{s, s, s.WithProgress(nil)} { // whoever comes later has nothing left to do
				if err := watcher.FreeSilent(ctx, "alpha", snap); err != nil {
					t.Fatal(err)
				}
			}
			if n := machines.looks.Load(); n > 1 || n == 0 && c.limits.OnLoss != KeepTasks {
				t.Errorf("for three pictures the machines were looked at %d times", n)
			}
			list, _, err := mem.Tasks().List(ctx, "alpha")
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range list {
				if free := task.Owner == ""; free != (c.freed && task.Subject == "far") {
					t.Errorf("the task of %s: %+v", task.Subject, task)
				}
			}
			box, err := mem.Mail().List(ctx, "alpha", store.Lead)
			if told := len(box) == 1 && strings.Contains(box[0].Text, "Machine hub says nothing for "); err != nil || told != c.freed || len(box) > 1 {
				t.Errorf("the lead was told %+v, %v", box, err)
			}
		})
	}
}

// TestNoTerminalForOtherMachines: up lets the terminal of this machine get ready only if a
// teammate surely runs here.
func TestNoTerminalForOtherMachines(t *testing.T) {
	t.Parallel()
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for machine, want := range map[string]bool{"": true, "desk": true, "hub": false, MachineAuto: false} {
		asked := false
		manager := panes.NewManager(panes.Options{Dir: dir, Choose: func(context.Context) (panes.Choice, error) {
			asked = true
			return panes.Choice{}, context.Canceled
		}})
		s := New(Config{Panes: manager, Machine: "desk"})
		if s.getReady(t.Context(), Plan{Team: TeamSpec{Name: "code"}, Members: []SpawnSpec{{Name: "ann", Machine: "hub"}, {Name: "bob", Machine: machine}}})(); asked != want {
			t.Errorf("with a teammate on %q the terminal is asked: %v", machine, asked)
		}
	}
}
