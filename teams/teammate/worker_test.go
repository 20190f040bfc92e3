package teammate

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/memory"
)

// lostAnswers are tasks of an engine whose answers to claims are lost.
type lostAnswers struct{ store.Tasks }

func (l lostAnswers) ClaimNext(ctx context.Context, team, who string) (store.Task, error) {
	if task, err := l.Tasks.ClaimNext(ctx, team, who); err != nil {
		return task, err
	}
	return store.Task{}, fault.New(fault.EngineUnavailable, "the engine was cut off")
}

// A claim that was done although its answer was lost is carried out: nobody else would
// take the task.
func TestWorkerFindsWhatItHasClaimed(t *testing.T) {
	mem, ctx := memory.New(), t.Context()
	dir, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	manager := panes.NewManager(panes.Options{Dir: dir, Runtime: t.TempDir()})
	if err := mem.Roster().Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}, {Name: "bob"}}}); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{"", "eve", ""} {
		if _, err := mem.Tasks().Create(ctx, "alpha", store.Task{Subject: "x", Owner: owner}); err != nil {
			t.Fatal(err)
		}
	}
	m := &teammate{o: Options{Team: "alpha", Agent: "bob"}, launch: panes.LaunchRecord{Argv: []string{"true"}}}
	serve := func(tasks store.Tasks) {
		m.o.Service = teams.New(teams.Config{Roster: mem.Roster(), Mail: mem.Mail(), Tasks: tasks, Panes: manager, Caller: teams.Caller{Name: "bob", Teammate: true}})
	}
	serve(lostAnswers{mem.Tasks()})
	if task, err := m.claim(ctx); fault.CodeOf(err) != fault.EngineUnavailable {
		t.Fatalf("%+v, %v", task, err)
	}
	serve(mem.Tasks())
	for _, want := range []string{"1", "3"} {
		if task, err := m.claim(ctx); err != nil || task.ID != want {
			t.Errorf("claimed %q, %v; want %s", task.ID, err, want)
		}
	}
	if _, err := m.claim(ctx); fault.CodeOf(err) != fault.NoTaskReady {
		t.Errorf("after all: %v", err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name   string
		writes []string
		want   string
	}{
		{"short", []string{"a", "b"}, "ab"},
		{"cut", []string{"0123456789", "abcdefgh"}, "abcdefgh"},
		{"many", slices.Repeat([]string{"x"}, 100), "xxxxxxxx"},
		{"never inside a character", []string{"aaaa", "研究員"}, "究員"},
		{"bytes that are no text", []string{"ok\xff"}, "ok�"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := &tail{limit: 8}
			for _, w := range tc.writes {
				if n, err := out.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got := out.String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if len(out.buf) > 2*out.limit+len(tc.writes[0]) {
				t.Errorf("holds %d bytes", len(out.buf))
			}
		})
	}
}

func TestLastLines(t *testing.T) {
	if got := lastLines("a\r\nb \r\n\r\n"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	if got := lastLines(strings.Repeat("\n", 3)); got != nil {
		t.Errorf("got %q", got)
	}
}
