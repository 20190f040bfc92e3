package claudefs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/claudefs"
)

// withList lays a sample list of tasks out as that of team alpha.
func withList(t *testing.T, folder string) base {
	t.Helper()
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	entries, err := os.ReadDir(filepath.Join(samples, "tasks", folder))
	b.ok(err)
	for _, e := range entries {
		b.put("tasks/alpha/"+e.Name(), sample(t, "tasks/"+folder+"/"+e.Name()))
	}
	return b
}

func ids(tasks []store.Task) string {
	var out []string
	for _, x := range tasks {
		out = append(out, x.ID)
	}
	return strings.Join(out, " ")
}

// TestTC_SampleLists loads every sample list.
func TestTC04_TC06_TC07_TC08_DP01_DP04_DP07_LK02_SampleLists(t *testing.T) {
	for _, c := range []struct {
		folder   string
		listed   string
		ready    string // for somebody who owns none
		next     string // the next new id
		warnings []string
	}{
		// https://github.com/anthropics/claude-code/issues/22100
		{"t01-basic", "1 2 3 4 5", "3", "8", nil},
		// https://github.com/anthropics/claude-code/issues/25131
		{"t02-internal", "1", "1", "6", nil},
		// https://github.com/tintinweb/pi-tasks/issues/33
		{"t03-missing-arrays", "3", "3", "4", nil},
		{"t06-nulls", "7", "7", "8", nil},
		{"t07-deleted", "", "", "9", nil},
		// https://github.com/anthropics/claude-code/issues/32188
		{"t09-one-bad", "1 2 4", "1 2", "5", []string{"3.json"}},
		// https://github.com/anthropics/claude-code/issues/22169
		{"t12-orphans", "1 2", "1 2", "3", nil},
		// https://github.com/cs50victor/claude-code-teams-mcp/commit/8fafd5a
		{"t13-cycle", "1 2 3", "", "4", []string{"cycle 1<->2", "task 3 blocks itself"}},
		// https://github.com/anthropics/claude-code/issues/23884
		{"t17-owner-suffix", "1", "", "2", nil},
		// https://github.com/shareAI-lab/learn-claude-code/pull/122
		{"t18-order", "1 2 3 9 10 11 100", "1 2 3 9 10 11 100", "101", nil},
		// https://github.com/btucker/midtown/pull/739
		{"t19-highwater-a", "9", "9", "10", []string{`.highwatermark holds "abc"`}},
		{"t19-highwater-b", "9", "9", "10", nil},
		{"t19-highwater-c", "9", "9", "13", nil},
		{"t20-unicode", "1", "1", "2", nil},
		{"t23-iso-times", "1", "1", "2", nil},
	} {
		t.Run(c.folder, func(t *testing.T) {
			t.Parallel()
			b := withList(t, c.folder)
			if c.folder == "t12-orphans" {
				for _, name := range []string{".DS_Store", "Thumbs.db", "README.md", "1.json.tmp.88213", "2.json~", "2.json.bak", ".2.json.swp", "1 (conflicted copy).json"} {
					b.put("tasks/alpha/"+name, sample(t, "tasks/t12-orphans/1.json"))
				}
			}
			list, warnings, err := b.Tasks().List(t.Context(), "alpha")
			b.ok(err)
			var ready []store.Task
			for _, x := range list {
				if x.Ready("core") {
					ready = append(ready, x)
				}
			}
			if ids(list) != c.listed || ids(ready) != c.ready {
				t.Errorf("listed %s, ready %s; want %s, %s", ids(list), ids(ready), c.listed, c.ready)
			}
			if len(warnings) != len(c.warnings) {
				t.Errorf("warnings %q, want %q", warnings, c.warnings)
			}
			for i := range min(len(warnings), len(c.warnings)) {
				if !strings.Contains(warnings[i], c.warnings[i]) {
					t.Errorf("warning %q, want %q", warnings[i], c.warnings[i])
				}
			}
			next, err := b.Tasks().ClaimNext(t.Context(), "alpha", "core")
			if want, _, _ := strings.Cut(c.ready, " "); want == "" && fault.CodeOf(err) != fault.NoTaskReady || next.ID != want {
				t.Errorf("claimed %q, %v; want %q", next.ID, err, want)
			}
			made, err := b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "new"})
			b.ok(err)
			if mark := b.text("tasks/alpha/.highwatermark"); made.ID != c.next || mark != c.next {
				t.Errorf("new id %s, high-water mark %s; want %s", made.ID, mark, c.next)
			}
		})
	}
}

// A change of one field leaves the others as they were found.
func TestG01_SampleTasksSurviveAnEdit(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples, "tasks/*/*.json"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	for _, file := range files {
		data, err := os.ReadFile(file)
		b.ok(err)
		text, id := string(data), strings.TrimSuffix(filepath.Base(file), ".json")
		if !json.Valid(data) || strings.Contains(text, "_internal") || strings.Contains(text, `"deleted"`) {
			continue
		}
		name := "tasks/alpha/" + id + ".json"
		b.put(name, text)
		for range 2 {
			_, err = b.Tasks().Update(t.Context(), "alpha", id, func(x *store.Task) error { x.ActiveForm = "Changing"; return nil })
			b.ok(err)
		}
		want := strings.TrimSuffix(pretty(t, text), "\n}") + ",\n  \"activeForm\": \"Changing\"\n}"
		if strings.Contains(text, `"activeForm"`) {
			want = regexp.MustCompile(`"activeForm": (null|"[^"]*")`).ReplaceAllString(text, `"activeForm": "Changing"`)
		}
		if got := b.text(name); got != want {
			t.Errorf("%s: got\n%.2000s\nwant\n%.2000s", file, got, want)
		}
		b.ok(os.Remove(b.path(name)))
	}
}

// https://github.com/btucker/midtown/pull/739
func TestTC05_HighWaterMark(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	b.put("tasks/alpha/.highwatermark", "31")
	made, err := b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "x"})
	b.ok(err)
	if made.ID != "32" || b.text("tasks/alpha/.highwatermark") != "32" {
		t.Errorf("id %s, mark %s", made.ID, b.text("tasks/alpha/.highwatermark"))
	}
	b.ok(os.Remove(b.path("tasks/alpha/32.json"))) // the client has reset its list
	if made, err = b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "x"}); err != nil || made.ID != "33" {
		t.Errorf("id %s after a reset, %v", made.ID, err)
	}
	for id, mark := range map[string]string{"51": "\ufeff50\r\n", "61": `"60"`} {
		b.put("tasks/alpha/.highwatermark", mark)
		if made, err := b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "x"}); err != nil || made.ID != id {
			t.Errorf("mark %q: id %s, want %s, %v", mark, made.ID, id, err)
		}
		b.ok(os.Remove(b.path("tasks/alpha/" + id + ".json")))
	}
	b.put("tasks/alpha/.highwatermark", "5")
	b.ok(b.Tasks().Delete(t.Context(), "alpha", "33"))
	if mark := b.text("tasks/alpha/.highwatermark"); mark != "33" {
		t.Errorf("mark %s after a deletion", mark)
	}
	b.put("tasks/alpha/.highwatermark", "999999999999999")
	_, err = b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "x"})
	b.want("no id left", err, fault.LimitReached)
}

// https://github.com/tintinweb/pi-tasks/issues/33
func TestD2_D3_NamesOfOtherLists(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	b.put("tasks/alpha/1.json", `{"id":"1","subject":"a","status":"claimed","claimed_by":"bob","created_at":"2026-02-09","createdBy":"team-lead"}`)
	b.put("tasks/alpha/2.json", `{"id":2,"subject":"b","status":"pending","dependsOn":["1"],"assignedTo":"bob"}`)
	b.put("tasks/alpha/3.json", `{"id":"3","subject":"c","status":"failed","blockedBy":[1]}`)
	b.put("tasks/alpha/4.json", `{"id":"4","subject":"d","status":"done","metadata":{"result":"fine","createdAt":"2026-03-02T10:00:00.000Z"}}`)
	list, _, err := b.Tasks().List(t.Context(), "alpha")
	b.ok(err)
	if len(list) != 4 {
		t.Fatalf("%+v", list)
	}
	if x := list[0]; x.Status != store.InProgress || x.Owner != "bob" || x.CreatedBy != "team-lead" || x.CreatedAt.Year() != 2026 {
		t.Errorf("%+v", x)
	}
	if x := list[1]; x.State() != store.Blocked || x.Owner != "bob" || !slices.Equal(x.Open, []string{"1"}) {
		t.Errorf("%+v", x)
	}
	if x := list[2]; x.State() != store.FailedTask || !slices.Equal(x.BlockedBy, []string{"1"}) {
		t.Errorf("%+v", x)
	}
	if x := list[3]; x.Status != store.Completed || x.Result != "fine" || x.CreatedAt.IsZero() {
		t.Errorf("%+v", x)
	}
	freed, err := b.Tasks().Update(t.Context(), "alpha", "3", func(x *store.Task) error { x.Failure = ""; return nil })
	if again, _ := b.Tasks().Get(t.Context(), "alpha", "3"); err != nil || again.Failure != "" || freed.Failure != "" {
		t.Errorf("a failure that was taken back is there: %+v, %v", again, err)
	}
	_, err = b.Tasks().Update(t.Context(), "alpha", "1", func(x *store.Task) error {
		x.Status, x.Owner, x.Result = store.Pending, "", "half"
		return nil
	})
	b.ok(err)
	x, err := b.Tasks().Get(t.Context(), "alpha", "1")
	if err != nil || x.Owner != "" || x.Status != store.Pending || x.Result != "half" {
		t.Errorf("after the release: %+v %v", x, err)
	}
	if text := b.text("tasks/alpha/1.json"); strings.Contains(text, "claimed_by") || !strings.Contains(text, `"created_at": "2026-02-09"`) {
		t.Errorf("file:\n%s", text)
	}
}

// The client drops unknown fields of a task, so ours are in metadata.
func TestD3_ExtensionsAreInMetadata(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	at := time.Date(2026, 3, 2, 10, 0, 0, 7_000_000, time.UTC)
	_, err := b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "s", CreatedBy: "team-lead", CreatedAt: at, Owner: "bob",
		Metadata: map[string]json.RawMessage{"run": json.RawMessage(`"make"`)}})
	b.ok(err)
	want := `{
  "id": "1",
  "subject": "s",
  "description": "",
  "status": "pending",
  "blocks": [],
  "blockedBy": [],
  "owner": "bob",
  "metadata": {
    "createdAt": "2026-03-02T10:00:00.007Z",
    "createdBy": "team-lead",
    "run": "make",
    "updatedAt": "2026-03-02T10:00:00.007Z"
  }
}`
	if got := b.text("tasks/alpha/1.json"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// https://github.com/indexable-inc/index/issues/2301
func TestSE04_LinkedTask(t *testing.T) {
	b := withList(t, "t25-symlink")
	outside := filepath.Join(t.TempDir(), "outside.json")
	text := `{"id":"4","subject":"secret","status":"pending","blocks":[],"blockedBy":[]}`
	b.ok(os.WriteFile(outside, []byte(text), 0o600))
	b.ok(os.Symlink(outside, b.path("tasks/alpha/4.json")))
	list, warnings, err := b.Tasks().List(t.Context(), "alpha")
	b.ok(err)
	if ids(list) != "1" || len(warnings) != 1 || !strings.Contains(warnings[0], "4.json") || !strings.Contains(warnings[0], "link") {
		t.Errorf("listed %s, warnings %q", ids(list), warnings)
	}
	_, err = b.Tasks().Claim(t.Context(), "alpha", "4", "bob")
	b.want("claim", err, fault.PermissionDenied)
	_, err = b.Tasks().Update(t.Context(), "alpha", "4", func(x *store.Task) error { x.Subject = "new"; return nil })
	b.want("update", err, fault.PermissionDenied)
	made, err := b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "new"})
	if err != nil || made.ID != "5" {
		t.Errorf("id %s, %v", made.ID, err)
	}
	b.ok(b.Tasks().Delete(t.Context(), "alpha", "4"))
	if got, err := os.ReadFile(outside); err != nil || string(got) != text || b.exists("tasks/alpha/4.json") {
		t.Errorf("the target is %q %v, the link is there: %t", got, err, b.exists("tasks/alpha/4.json"))
	}
}

// https://github.com/Extra-Chill/homeboy/issues/4694
func TestDP06_DP08_DamagedTask(t *testing.T) {
	b := withList(t, "t09-one-bad")
	before := b.text("tasks/alpha/3.json")
	for what, do := range map[string]func() error{
		"get":    func() error { _, err := b.Tasks().Get(t.Context(), "alpha", "3"); return err },
		"claim":  func() error { _, err := b.Tasks().Claim(t.Context(), "alpha", "3", "bob"); return err },
		"delete": func() error { return b.Tasks().Delete(t.Context(), "alpha", "3") },
	} {
		b.want(what, do(), fault.CorruptFile)
	}
	_, err := b.Tasks().Claim(t.Context(), "alpha", "4", "bob")
	b.want("claim what waits for it", err, fault.TaskBlocked)
	if got := b.text("tasks/alpha/3.json"); got != before {
		t.Errorf("the damaged file is now %q", got)
	}
	quick := false // at least one look has its turn at the CPU
	for deadline := time.Now().Add(30 * time.Second); !quick && time.Now().Before(deadline); {
		start := time.Now()
		_, _, err = b.Tasks().List(t.Context(), "alpha")
		b.ok(err)
		quick = time.Since(start) < 200*time.Millisecond
	}
	if !quick {
		t.Error("a file known as damaged is waited for")
	}
	b.put("tasks/alpha/3.json", replaced(t, sample(t, "tasks/t09-one-bad/2.json"), `"id": "2"`, `"id": "3"`))
	if x, err := b.Tasks().Get(t.Context(), "alpha", "3"); err != nil || x.Subject == "" {
		t.Errorf("after the repair: %+v %v", x, err)
	}
}

// Another process's change that makes a task ready is seen by a claimer that has
// looked at the list just before.
func TestClaimNextSeesReleasesAtOnce(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.ok(b.Roster().Create(t.Context(), store.Team{Name: "alpha"}))
	other, err := claudefs.Open(b.dir, claudefs.Options{})
	b.ok(err)
	defer other.Close()
	for range 5 {
		_, err := b.Tasks().Create(t.Context(), "alpha", store.Task{Subject: "x"})
		b.ok(err)
	}
	for range 10 {
		for _, want := range []string{"1", "2"} {
			if x, err := b.Tasks().ClaimNext(t.Context(), "alpha", "bob"); err != nil || x.ID != want {
				t.Fatalf("claimed %s, %v; want %s", x.ID, err, want)
			}
		}
		for _, id := range []string{"1", "2"} {
			_, err := other.Tasks().Update(t.Context(), "alpha", id, func(x *store.Task) error {
				x.Status, x.Owner = store.Pending, ""
				return nil
			})
			b.ok(err)
		}
	}
}

// A list without a team: that of a client without one.
func TestListOfASession(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("tasks/6c09165d-a6fb-4976-8016-79364f2e888d/1.json", sample(t, "tasks/t18-order/1.json"))
	list, _, err := b.Tasks().List(t.Context(), "6c09165d-a6fb-4976-8016-79364f2e888d")
	if err != nil || ids(list) != "1" {
		t.Errorf("listed %s, %v", ids(list), err)
	}
}

// TestDP06_BlockersOfEveryShape: who waits for something that is no id waits; and what stands
// where the metadata should be is kept when something is added.
func TestDP06_BlockersOfEveryShape(t *testing.T) {
	b := newBase(t, claudefs.Options{})
	b.put("teams/alpha/config.json", claudeTeam)
	b.put("tasks/alpha/1.json", `{"id":"1","subject":"a","status":"pending"}`)
	for blockers, open := range map[string][]string{
		`"1"`: {"1"}, `1`: {"1"}, `[1]`: {"1"}, `{"1":true}`: {`{"1":true}`}, `[{"id":1}]`: {"1"}, `{"id":"1"}`: {"1"}, `[1.0,"#1"]`: {"1.0", "#1"}, `true`: {"true"},
		`null`: nil, `[]`: nil, `""`: nil, `[null,""]`: nil, `false`: nil, `{}`: nil,
	} {
		b.put("tasks/alpha/2.json", `{"id":"2","subject":"b","status":"pending","blockedBy":`+blockers+`}`)
		got, err := b.Tasks().Get(t.Context(), "alpha", "2")
		b.ok(err)
		if !slices.Equal(got.Open, open) {
			t.Errorf("%s: open are %q, want %q", blockers, got.Open, open)
		}
	}
	for _, odd := range []string{`"words"`, `[1,2.50]`, `7`} {
		b.put("tasks/alpha/1.json", `{"id":"1","subject":"a","status":"in_progress","metadata":`+odd+`}`)
		_, err := b.Tasks().Update(t.Context(), "alpha", "1", func(x *store.Task) error { x.Status = store.Completed; return nil })
		b.ok(err)
		if got := strings.Join(strings.Fields(b.text("tasks/alpha/1.json")), ""); !strings.Contains(got, `"value":`+odd+`}`) || !strings.Contains(got, "completedAt") {
			t.Errorf("metadata %s became %s", odd, got)
		}
	}
}
