package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// Every event has words of its own, and one that a newer daemon tells is shown as it is.
func TestEventsInWords(t *testing.T) {
	var b bytes.Buffer
	a := newApp(Stdio{Out: &b, Err: io.Discard}, nil)
	table := &eventTable{a: a}
	for _, c := range []struct{ kind, data, want string }{
		{"team:created", `{"type":"team_created"}`, "the team is made"},
		{"team:deleted", `{"type":"team_deleted"}`, "the team is deleted"},
		{"team:member:joined", `{"type":"member_joined","member":{"name":"bob"}}`, "bob joined"},
		{"team:member:shutdown", `{"type":"member_left","member":{"name":"bob"},"reason":"pane closed"}`, "bob left: pane closed"},
		{"team:member:waiting", `{"type":"member_waiting","member":{"name":"bob"},"toolName":"Bash"}`, "bob waits for a person (Bash)"},
		{"team:member:idle", `{"type":"idle","from":"bob","completedTaskId":"2"}`, "bob has nothing to do; task 2 is done"},
		{"team:task:claimed", `{"type":"task_claimed","task":{"id":"1","subject":"vet","owner":"bob"}}`, "task 1 is taken by bob: vet"},
		{"team:task:updated", `{"type":"task_updated","task":{"id":"1","subject":"vet","status":"deleted"}}`, "task 1 is deleted: vet"},
		{"team:message:sent", `{"type":"message","from":"bob","content":"one\n\u001b[2Jtwo"}`, "bob → all: one �[2Jtwo"},
		{"team:message:received", `{"type":"message","from":"bob","to":"eve","content":"x","summary":"short"}`, "eve has read what bob wrote: short"},
		{"team:message:sent", `{"type":"message","from":"lead","to":"bob","content":"{\"type\":\"task_assignment\",\"taskId\":\"1\",\"subject\":\"vet\"}"}`, "lead → bob: task 1 is yours: vet"},
		{"team:shutdown:requested", `{"type":"shutdown_request","from":"lead","to":"bob","reason":"done"}`, "lead asks bob to shut down: done"},
		{"team:shutdown:response", `{"type":"shutdown_response","from":"bob","approved":true}`, "bob agrees to shut down"},
		{"team:plan:requested", `{"type":"plan_approval_request","from":"bob","to":"lead","plan":"look"}`, "bob asks lead to approve a plan: look"},
		{"team:plan:resolved", `{"type":"plan_approval_response","from":"lead","to":"bob","feedback":"no"}`, "lead rejects the plan of bob: no"},
		{"team:run:item:moved", `{"type":"team_item_moved","teamRunId":"12345678-9","title":"vet","status":"done"}`, "run item moved 12345678: vet (done)"},
	} {
		b.Reset()
		if err := table.line(json.RawMessage(`{"seq":1,"at":"2030-01-02T03:04:05.000Z","type":"` + c.kind + `","team":"alpha","data":` + c.data + `}`)); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(b.String(), "  alpha  "); got != c.want+"\n" {
			t.Errorf("%s: %q, want %q", c.kind, b.String(), c.want)
		}
	}
	for _, kind := range events.Types() {
		b.Reset()
		if err := table.line(json.RawMessage(`{"seq":1,"type":"` + string(kind) + `","data":{}}`)); err != nil || strings.Contains(b.String(), "team:") || strings.TrimSpace(b.String()) == "" {
			t.Errorf("%s: %q, %v", kind, b.String(), err)
		}
	}
	b.Reset()
	if err := table.line(json.RawMessage(`{"type":"team:from:later"}`)); err != nil || b.String() != "{\"type\":\"team:from:later\"}\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
