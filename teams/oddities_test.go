package teams_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXS39_OddThingsAreTold: what is odd in a team's files, though it is read, is said once by
// the verb that meets it and listed by doctor; what has one right answer is mended.
func TestXS39_OddThingsAreTold(t *testing.T) {
	d := newDesk(t)
	d.team("alpha")
	d.write("teams/alpha/config.json", `{"name":"alpha","leadAgentId":"team-lead@alpha","createdAt":"2999-01-01T00:00:00Z","metadata":{"leadlight":{"schema":1}},"members":[
		{"agentId":"team-lead@alpha","name":"team-lead"},
		{"agentId":"bob@alpha","name":"bob","old":1,"leadlight":{"host":"11111111-1111-4111-8111-111111111111","state":"stopped"}},
		{"agentId":"bob@alpha","name":"bob","new":1,"color":"chartreuse","isActive":"yes","leadlight":{"host":"22222222-2222-4222-8222-222222222222","state":"starting"}},
		{"agentId":"eve@alpha","name":"eve","metadata":[]},
		{"agentId":"Eve@alpha","name":"Eve"}]}`)
	d.write("tasks/alpha/1.json", `{"id":"1","subject":"x","status":"pending","blocks":[],"blockedBy":[]}`)
	d.write("tasks/alpha/2.json", `{"id":"1","subject":"y","status":"pending","blocks":[],"blockedBy":"1","kept":true,"metadata":{"updatedAt":"2999-01-01T00:00:00Z"}}`)
	d.write("tasks/alpha/3.json", `{"id":3,"subject":"z","status":"mostly","owner":"BOB","blocks":[],"blockedBy":[{"id":"1"}]}`)
	d.write("teams/alpha/inboxes/bob.json", `[{"from":"eve","text":"a","timestamp":"2999-01-01T00:00:00Z","read":"no","msg_id":"m"},{"from":"eve","text":"b","timestamp":"2026-01-01T00:00:00Z","read":true,"msg_id":"m"}]`)

	s := d.as("")
	_, ofPS, err := s.Members(t.Context(), "alpha", true)
	if err != nil {
		t.Fatal(err)
	}
	_, ofTasks, err := s.TaskList(t.Context(), "alpha", teams.TaskFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for verb, said := range map[string][]string{"ps": ofPS, "task ls": ofTasks} {
		if len(said) != 1 || !strings.Contains(said[0], "more such things: leadlight doctor lists them") {
			t.Errorf("%s says %q", verb, said)
		}
	}
	if snap, err := s.Snapshot(t.Context(), "alpha"); err != nil || len(snap.Warnings) > 0 {
		t.Errorf("what is odd keeps a team from its end: %q, %v", snap.Warnings, err)
	}

	before, mendable := d.doctorSays("alpha")
	for _, want := range []string{
		"createdAt, 2999-01-01T00:00:00.000Z, is in the future", `member bob: there is no colour "chartreuse"`, "member bob: isActive is not true or false",
		"member bob stands 2 times in the roster", "member eve: metadata is not an object", "member Eve and member eve differ by upper and lower case only",
		"task 2: blockedBy is not a list", "task 2: its file is that of task 2, and calls it 1", "task 2: updatedAt, 2999-01-01T00:00:00.000Z, is in the future",
		`task 3: there is no status "mostly"`, `task 3: its owner "BOB" is no member of the team`, "task 3: blockedBy is not a list of ids", "message m to bob: its time, 2999-01-01T00:00:00.000Z, is in the future", "message m to bob: read is not true or false",
		"message m to bob: another message has its id, and is not shown",
	} {
		if n := len(slices.DeleteFunc(slices.Clone(before), func(line string) bool { return !strings.Contains(line, want) })); n != 1 {
			t.Errorf("doctor says %q %d times", want, n)
		}
	}
	if want := 2; len(mendable) != want {
		t.Errorf("doctor mends %d of them: %q", len(mendable), mendable)
	}

	if done, err := s.Mend(t.Context()); err != nil || len(done) != 2 {
		t.Fatalf("%q, %v", done, err)
	}
	if after, left := d.doctorSays("alpha"); len(left) > 0 || len(after) >= len(before) {
		t.Errorf("after the mending doctor says %q", after)
	}
	roster := d.read("teams/alpha/config.json")
	if strings.Contains(roster, `"old"`) || !strings.Contains(roster, `"new": 1`) || !strings.Contains(roster, `"Eve"`) {
		t.Errorf("%s", roster)
	}
	if task := d.read("tasks/alpha/2.json"); !strings.Contains(task, `"id": "2"`) || !strings.Contains(task, `"kept": true`) {
		t.Errorf("%s", task)
	}
	if done, err := s.Mend(t.Context()); err != nil || len(done) > 0 {
		t.Errorf("mended twice: %q, %v", done, err)
	}
}

// What each deleted team leaves is no reason for doctor to warn.
func TestXS22_DoctorDoesNotWarnOfUsualLocks(t *testing.T) {
	d := newDesk(t)
	d.write("leadlight/gone/locks/roster", "")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(d.base, "leadlight/gone/locks/roster"), old, old); err != nil {
		t.Fatal(err)
	}
	checks := d.as("").Doctor(t.Context(), teams.Facts{Runtime: t.TempDir()}).Checks
	checks = slices.DeleteFunc(checks, func(c api.Check) bool { return c.Name != "left over" })
	if len(checks) != 1 || checks[0].Status != "ok" || !strings.Contains(checks[0].Detail, "(1)") {
		t.Errorf("%+v", checks)
	}
}

// doctorSays returns what doctor says of a team, and what of that it offers to mend.
func (d *desk) doctorSays(team string) (all, mendable []string) {
	for _, c := range d.as("").Doctor(d.t.Context(), teams.Facts{Team: team, Runtime: d.t.TempDir()}).Checks {
		if c.Name != "team "+team {
			continue
		}
		all = append(all, c.Detail)
		if strings.Contains(c.Fix, "doctor --fix") {
			mendable = append(mendable, c.Detail)
		}
	}
	return all, mendable
}

func (d *desk) read(path string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.base, path))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}
