package claudefs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

func taskText(id, status, owner string, blocks, blockedBy []string) string {
	return fmt.Sprintf(`{"id":%q,"subject":"s%s","status":%q,"owner":%q,"blocks":[%s],"blockedBy":[%s]}`,
		id, id, status, owner, quoted(blocks), quoted(blockedBy))
}

func quoted(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%q", id))
	}
	return strings.Join(out, ",")
}

func TestXF02_EachSideOfALinkCounts(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	b.put("tasks/alpha/1.json", taskText("1", "pending", "", []string{"2"}, nil))
	b.put("tasks/alpha/2.json", taskText("2", "pending", "", nil, nil))
	b.put("tasks/alpha/3.json", taskText("3", "pending", "", nil, []string{"1"}))
	b.put("tasks/alpha/4.json", taskText("4", "pending", "", nil, []string{"5"})) // removed before
	b.put("tasks/alpha/6.json", taskText("6", "pending", "", []string{"77", "5"}, []string{"99"}))
	b.put("tasks/alpha/7.json", taskText("7", "pending", "", nil, []string{"#1"}))
	b.put("tasks/alpha/8.json", taskText("8", "pending", "", nil, []string{"8"}))
	b.put("tasks/alpha/0.json", taskText("0", "pending", "", nil, nil))
	b.put("tasks/alpha/.highwatermark", "6")
	list, warnings, err := b.Tasks().List(t.Context(), "alpha")
	b.ok(err)
	var got []string
	for _, x := range list {
		got = append(got, fmt.Sprintf("%s:%v%v%v", x.ID, x.Blocks, x.BlockedBy, x.Open))
	}
	if want := "1:[2 3][][] 2:[][1][1] 3:[][1][1] 4:[][5][] 6:[77 5][99][99] 7:[][#1][#1] 8:[8][8][8]"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	for _, want := range []string{"task 6 waits for task 99, which does not exist", "task 6 blocks task 77, which does not exist", "task 7 waits for task #1, which does not exist", "task 8 blocks itself"} {
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("%q is not among the warnings %q", want, warnings)
		}
	}
	if len(warnings) != 4 {
		t.Errorf("warnings %q", warnings)
	}
	_, err = b.Tasks().Claim(t.Context(), "alpha", "2", "builder")
	b.want("claim of 2", err, fault.TaskBlocked)
	for _, want := range []string{"1", "4"} {
		next, err := b.Tasks().ClaimNext(t.Context(), "alpha", "builder")
		b.ok(err)
		if next.ID != want {
			t.Errorf("claimed %s, want %s", next.ID, want)
		}
	}
	_, err = b.Tasks().ClaimNext(t.Context(), "alpha", "builder")
	b.want("nothing else is ready", err, fault.NoTaskReady)
	// To take away a link that stands on one side only is to take it away there.
	_, err = b.Tasks().Update(t.Context(), "alpha", "2", func(x *store.Task) error { x.BlockedBy = nil; return nil })
	b.ok(err)
	if text := b.text("tasks/alpha/1.json"); strings.Contains(text, `"2"`) {
		t.Errorf("task 1 still says that it blocks 2: %s", text)
	}
	_, err = b.Tasks().Update(t.Context(), "alpha", "2", func(x *store.Task) error { x.Blocks = []string{"6"}; return nil })
	b.ok(err)
	if text := b.text("tasks/alpha/6.json"); !strings.Contains(text, `"2"`) {
		t.Errorf("task 6 does not say that it waits for 2: %s", text)
	}
}

// TestXF02_OneSideIsAsGoodAsBoth: whichever side a link stands on, the same tasks are open.
func TestXF02_OneSideIsAsGoodAsBoth(t *testing.T) {
	status := func(id string) (string, bool) { return store.Pending, true }
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "tasks")
		both, one := make([]store.Task, n), make([]store.Task, n)
		for i := range n {
			both[i].ID = fmt.Sprint(i + 1)
			one[i].ID = both[i].ID
		}
		for range rapid.IntRange(0, 8).Draw(t, "links") {
			i, j := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			a, b := both[i].ID, both[j].ID
			both[i].Blocks, both[j].BlockedBy = append(both[i].Blocks, b), append(both[j].BlockedBy, a)
			if rapid.Bool().Draw(t, "side") {
				one[i].Blocks = append(one[i].Blocks, b)
			} else {
				one[j].BlockedBy = append(one[j].BlockedBy, a)
			}
		}
		open := func(list []store.Task) (out []string) {
			var all []*store.Task
			for i := range list {
				all = append(all, &list[i])
			}
			links := store.NewLinks(0, all)
			for _, x := range list {
				x = x.Clone()
				links.Join(&x, status)
				slices.Sort(x.Open)
				out = append(out, fmt.Sprint(x.Open))
			}
			return out
		}
		if x, y := open(both), open(one); !slices.Equal(x, y) {
			t.Fatalf("both sides %v, one side %v", x, y)
		}
	})
}

func TestXF01_OwnersInFilesAreNames(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	b.put("tasks/alpha/1.json", taskText("1", "pending", "builder@alpha", nil, nil))
	b.put("tasks/alpha/2.json", taskText("2", "pending", "builder@beta", nil, nil))
	list, _, err := b.Tasks().List(t.Context(), "alpha")
	b.ok(err)
	if list[0].Owner != "builder" || list[1].Owner != "builder@beta" {
		t.Errorf("owners %q, %q", list[0].Owner, list[1].Owner)
	}
	got, err := b.Tasks().ClaimNext(t.Context(), "alpha", "builder")
	if b.ok(err); got.ID != "1" {
		t.Errorf("claimed %s", got.ID)
	}
	_, err = b.Mail(nil).Put(t.Context(), "alpha", "builder@alpha", store.Message{From: "x", Text: "hi"})
	if b.ok(err); len(b.list("builder")) != 1 {
		t.Error("mail to builder@alpha is not builder's")
	}
}

func TestXF01_TheLiveOneOfTwo(t *testing.T) {
	dead, live := &store.Bookkeeping{State: "stopped"}, &store.Bookkeeping{State: "active"}
	for want, team := range map[string]store.Team{
		"%2": {Name: "alpha", Members: []store.Member{{Name: "a", TmuxPaneID: "%1", Leadlight: dead}, {Name: "a", TmuxPaneID: "%2", Leadlight: live}}},
		"%1": {Name: "alpha", Members: []store.Member{{Name: "a", TmuxPaneID: "%1", Leadlight: live}, {Name: "a", TmuxPaneID: "%2", Leadlight: dead}}},
		"%3": {Name: "alpha", Members: []store.Member{{Name: "a", Leadlight: dead}, {Name: "a", TmuxPaneID: "%3", Leadlight: dead}}},
	} {
		for _, name := range []string{"a", "a@alpha"} {
			if m := team.Member(name); m == nil || m.TmuxPaneID != want {
				t.Errorf("%s is %+v, want the one in %s", name, m, want)
			}
		}
	}
}

// TestXF01_TeammatesStandOnce: of two entries with one name only the one that is meant is
// looked at: the end of the other is not written down for it.
func TestXF01_TeammatesStandOnce(t *testing.T) {
	entry := func(pane, state string) store.Member {
		return store.Member{Name: "a", TmuxPaneID: pane, Leadlight: &store.Bookkeeping{State: state}}
	}
	for _, members := range [][]store.Member{
		{entry("%1", "stopped"), entry("%2", "active")}, {entry("%2", "active"), entry("%1", "lost")}, {entry("%1", "stopped"), entry("%2", "failed")},
	} {
		team := store.Team{Name: "alpha", Members: append([]store.Member{{Name: store.Lead}}, members...)}
		if got := team.Teammates(); len(got) != 1 || got[0].TmuxPaneID != "%2" {
			t.Errorf("of %+v the teammates are %+v", members, got)
		}
	}
}
