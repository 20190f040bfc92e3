package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// decoded is a value as a reader of its JSON has it.
func decoded(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// asTheAPI takes the moments of an answer back into milliseconds and fails on any that
// is not RFC 3339 with milliseconds in UTC.
func asTheAPI(t *testing.T, v any) any {
	t.Helper()
	form := regexp.MustCompile(`^2026-01-02T03:04:05\.\d{3}Z$`)
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = asTheAPI(t, v[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, isText := v[name].(string)
			if !strings.HasSuffix(name, "At") {
				v[name] = asTheAPI(t, v[name])
			} else if !isText || !form.MatchString(text) {
				t.Errorf("%s is %v", name, v[name])
			} else {
				v[name] = json.Number("1767323045" + text[20:23])
			}
		}
	}
	return v
}

// TestMomentsOfRuns: an answer about runs has what the API says, with moments as every
// answer has them.
func TestMomentsOfRuns(t *testing.T) {
	const at = 1767323045000
	report := api.RunReport{
		Run:      api.AgentTeamRun{ID: "r", StartedAt: at + 1, CompletedAt: at + 2, Status: api.RunCompleted, Summary: "s"},
		Team:     api.AgentTeam{ID: "t", CreatedAt: at + 3, UpdatedAt: at + 4},
		LiveTeam: "t-r",
		Members:  []api.RunMember{{Name: "a", StartedAt: at + 5, EndedAt: at + 6, BusyMs: 7}, {Name: "b", StartedAt: at}},
		Items:    []api.AgentTeamItem{{ID: "i", CreatedAt: at + 8, UpdatedAt: at + 9, BlockedBy: []string{"j"}, SortOrder: 1024}},
		Tasks:    []api.RunTask{{ID: "k", StartedAt: at + 10, CompletedAt: at + 11, Usage: &api.Usage{OutputTokens: 1}}, {ID: "l"}},
		Usage:    &api.Usage{OutputTokens: 1},
	}
	if diff := cmp.Diff(decoded(t, report), asTheAPI(t, decoded(t, reportShown(report)))); diff != "" {
		t.Errorf("(-API +answer):\n%s", diff)
	}
	if got := decoded(t, reportShown(api.RunReport{})).(map[string]any); got["items"] == nil || got["members"] == nil || got["tasks"] == nil {
		t.Errorf("a list is null: %v", got)
	}
}

// TestXS07_WhoDidAnItem: of several teammates of a role it is said who did an item, how long it
// took, what it waited for and what it is part of.
func TestXS07_WhoDidAnItem(t *testing.T) {
	items := []api.AgentTeamItem{
		{ID: "11111111-a", Title: "own", OwnerAgentRoleID: "review/vet", Status: api.ItemDone, SourceTaskID: "t", ParentItemID: "22222222-b", BlockedBy: []string{"33333333-c", "44444444-d"}},
		{ID: "55555555-e", Title: "other", OwnerAgentRoleID: "review/vet", Status: api.ItemDone, SourceTaskID: "u"},
	}
	tasks := []api.RunTask{{ID: "t", Assignee: "vet-2", StartedAt: 1000, CompletedAt: 3500}, {ID: "u", Assignee: "vet", StartedAt: 1000, CompletedAt: 61000}}
	var out bytes.Buffer
	itemTable(items, tasks).write(&out, 200, false)
	for _, want := range []string{`own +22222222 +33333333, 44444444 +review/vet \(vet-2\) +done +2.5s`, `other +review/vet +done +1m0s`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
