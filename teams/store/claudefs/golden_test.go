package claudefs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

// version is one version of one file, as a client of the version in the name of
// the golden file wrote it in a recorded run.
type version struct{ Run, Path, Text string }

// versions calls do for each recorded file.
func versions(t *testing.T, do func(client string, v version)) {
	t.Helper()
	golden, err := filepath.Glob("testdata/golden/*.jsonl")
	if err != nil || len(golden) != 6 {
		t.Fatalf("golden files: %q %v", golden, err)
	}
	for _, name := range golden {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var v version
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			do(strings.TrimSuffix(filepath.Base(name), ".jsonl"), v)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestG01_G04_Rosters reads every recorded roster and changes one field of it. The
// rest must keep its bytes. Torn ones, which were recorded while a client wrote
// in place, must be told from whole ones.
func TestG01_G04_Rosters(t *testing.T) {
	whole, torn := 0, 0
	generations := map[bool]int{} // implicit teams, of a session, or explicit ones
	description := regexp.MustCompile(`"description": "[^"]*"`)
	versions(t, func(client string, v version) {
		if !strings.HasSuffix(v.Path, "config.json") {
			return
		}
		folder := regexp.MustCompile(`"name": "([^"]*)"`).FindStringSubmatch(v.Text + `"name": "x"`)[1]
		opened, err := document.OpenTeam(folder, []byte(v.Text))
		if !json.Valid([]byte(v.Text)) {
			if torn++; err == nil {
				t.Errorf("%s %s: a torn roster was read: …%.40q", client, v.Run, v.Text[max(0, len(v.Text)-40):])
			}
			return
		}
		if err != nil {
			t.Errorf("%s %s: %v", client, v.Run, err)
			return
		}
		whole++
		generations[strings.HasPrefix(folder, "session-")]++
		if !bytes.Equal(opened.Bytes(), []byte(v.Text)) {
			t.Errorf("%s %s: the roster changes when nothing was asked for:\n%s\n%s", client, v.Run, v.Text, opened.Bytes())
		}
		team := opened.Read()
		checkGoldenTeam(t, client, v, team)
		want := strings.TrimSuffix(v.Text, "\n}") + ",\n  \"description\": \"changed\"\n}"
		if description.MatchString(v.Text) {
			want = description.ReplaceAllString(v.Text, `"description": "changed"`)
		}
		if _, err := opened.Edit(func(x *store.Team) error { x.Description = "changed"; return nil }); err != nil {
			t.Errorf("%s %s: %v", client, v.Run, err)
		}
		if got := string(opened.Bytes()); got != want {
			t.Errorf("%s %s: more changed than was asked for:\n%s\n%s", client, v.Run, got, want)
		}
	})
	if whole < 200 || torn < 20 || generations[true] < 50 || generations[false] < 50 {
		t.Errorf("only %d whole and %d torn rosters; by generation %v", whole, torn, generations)
	}
}

func checkGoldenTeam(t *testing.T, client string, v version, team store.Team) {
	t.Helper()
	if n := strings.Count(v.Text, `"agentId"`); len(team.Members) != n || n == 0 {
		t.Errorf("%s %s: %d members of %d", client, v.Run, len(team.Members), n)
		return
	}
	unsafe := strings.Count(v.Text, `"name": "Zoë the Great-x"`) + strings.Count(v.Text, `"name": "main"`)
	if !team.IsLead(team.Members[0]) || len(team.Warnings) != unsafe || team.LedByUs() || team.CreatedAt.IsZero() {
		t.Errorf("%s %s: %+v", client, v.Run, team)
	}
	if (team.LeadProcess != nil) != strings.Contains(v.Text, `"leadProcess"`) {
		t.Errorf("%s %s: lead process %+v", client, v.Run, team.LeadProcess)
	}
	for _, m := range team.Members {
		if m.Unsafe != (m.Name == "main" || strings.Contains(m.Name, " ")) || m.JoinedAt.IsZero() || m.Cwd == "" {
			t.Errorf("%s %s: member %+v", client, v.Run, m)
		}
	}
}

// TestG01_Boxes reads every recorded box, marks all of it as read, and adds a
// message.
func TestG01_Boxes(t *testing.T) {
	boxes := 0
	versions(t, func(client string, v version) {
		if !strings.Contains(v.Path, "/inboxes/") || checkBox([]byte(v.Text)) != nil {
			return
		}
		boxes++
		entries, err := parseBox([]byte(v.Text), "x")
		if err != nil || len(entries) != strings.Count(v.Text, "\n  {") {
			t.Errorf("%s %s: %d entries, %v:\n%s", client, v.Run, len(entries), err, v.Text)
			return
		}
		malformed := strings.Contains(v.Text, `"foo": 1`) // by an outside program, to see what clients do
		var ids []string
		for _, e := range entries {
			if malformed {
				continue
			}
			if !e.ok || e.msg.ID == "" || e.msg.From == "" || e.msg.Timestamp.IsZero() || e.msg.Stamp != "" || e.msg.Type != "message" {
				t.Errorf("%s %s: message %+v", client, v.Run, e.msg)
			}
			ids = append(ids, e.msg.ID)
		}
		want := strings.ReplaceAll(v.Text, `"read": false`, `"read": true`)
		if got, n, err := markedRead([]byte(v.Text), "x", ids); !malformed && (string(got) != want || n != len(entries) || err != nil) {
			t.Errorf("%s %s: marking read changes more than that: %v\n%s\n%s", client, v.Run, err, got, want)
		}
		added := appended([]byte(v.Text), json.RawMessage(`{"from":"y"}`))
		rest := strings.TrimSuffix(strings.TrimSuffix(v.Text, "]"), "\n")
		if !json.Valid(added) || !strings.HasPrefix(string(added), rest) || !strings.HasSuffix(string(added), "\n  {\n    \"from\": \"y\"\n  }\n]") {
			t.Errorf("%s %s: a message added to\n%s\ngives\n%s", client, v.Run, v.Text, added)
		}
	})
	if boxes < 400 {
		t.Errorf("only %d boxes", boxes)
	}
}

// TestG01_Tasks reads every recorded task and changes one field of it.
func TestG01_Tasks(t *testing.T) {
	found := 0
	versions(t, func(client string, v version) {
		id, ok := taskID(filepath.Base(v.Path))
		if !ok || !json.Valid([]byte(v.Text)) {
			return
		}
		found++
		if !strings.Contains(v.Text, `"status"`) {
			if _, _, err := document.OpenTask(id, []byte(v.Text), "alpha"); fault.CodeOf(err) != fault.CorruptFile {
				t.Errorf("%s %s: a task without a status: %v", client, v.Run, err)
			}
			return
		}
		task, o, err := document.OpenTask(id, []byte(v.Text), "alpha")
		if err != nil || task.ID != id || task.Subject == "" || task.Status == "" {
			t.Errorf("%s %s: %+v %v", client, v.Run, task, err)
			return
		}
		if !bytes.Equal(document.Bytes(o), []byte(v.Text)) {
			t.Errorf("%s %s: the task changes when nothing was asked for:\n%s\n%s", client, v.Run, v.Text, document.Bytes(o))
		}
		now := task.Clone()
		now.Description = "changed"
		document.SaveTask(o, &task, &now)
		want := regexp.MustCompile(`"description": "[^"]*"`).ReplaceAllString(v.Text, `"description": "changed"`)
		if got := string(document.Bytes(o)); got != want {
			t.Errorf("%s %s: more changed than was asked for:\n%s\n%s", client, v.Run, got, want)
		}
	})
	if found < 15 {
		t.Errorf("only %d tasks", found)
	}
}
