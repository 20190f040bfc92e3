package teams_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// https://github.com/anthropics/claude-code/issues/25694
func TestIB08_SendToANameNobodyReads(t *testing.T) {
	d := newDesk(t)
	bob := running("bob")
	bob.AgentType = "reviewer"
	d.team("alpha", bob)
	sent, err := d.as("").Send(t.Context(), "alpha", teams.SendSpec{To: "bob@alpha", Text: "hello"})
	if err != nil || sent.To != "bob" {
		t.Fatalf("bob@alpha: %+v, %v", sent, err)
	}
	for _, to := range []string{"reviewer", "Bob", "main", "ghost", ""} {
		_, err := d.as("").Send(t.Context(), "alpha", teams.SendSpec{To: to, Text: "hello"})
		wantCode(t, err, fault.RecipientNotFound)
		if !strings.Contains(fault.Of(err).Hint, "bob") {
			t.Errorf("to %q: the members are not listed: %v", to, fault.Of(err).Hint)
		}
	}
	boxes, err := os.ReadDir(filepath.Join(d.base, "teams/alpha/inboxes"))
	if err != nil || len(boxes) != 1 || boxes[0].Name() != "bob.json" {
		t.Errorf("boxes: %v, %v", boxes, err)
	}
}

func TestA12_SendErrors(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("bob"), stopped("eve"))
	for _, tc := range []struct {
		team string
		spec teams.SendSpec
		code fault.Code
	}{
		{"nope", teams.SendSpec{To: "bob", Text: "x"}, fault.TeamNotFound},
		{"../alpha", teams.SendSpec{To: "bob", Text: "x"}, fault.InvalidName},
		{"alpha", teams.SendSpec{To: "eve", Text: "x"}, fault.RecipientInactive},
		{"alpha", teams.SendSpec{To: "bob", Text: "x", Type: "telegram"}, fault.InvalidType},
		{"alpha", teams.SendSpec{To: "bob"}, fault.InvalidArgument},
		{"alpha", teams.SendSpec{To: "bob", Text: strings.Repeat("x", store.MaxMessage+1)}, fault.InvalidArgument},
	} {
		_, err := d.as("").Send(t.Context(), tc.team, tc.spec)
		wantCode(t, err, tc.code)
	}
	if _, err := d.as("").Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: strings.Repeat("x", store.MaxMessage)}); err != nil {
		t.Errorf("a message of 1 MiB: %v", err)
	}
}

func TestA07_SE07_TheSenderIsTheCaller(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("scout"), running("bob"))
	if _, err := d.as("scout").Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: "I am the lead", Summary: "s"}); err != nil {
		t.Fatal(err)
	}
	box, err := d.as("").Inbox(t.Context(), "alpha", "bob", teams.InboxFilter{})
	if err != nil || len(box) != 1 {
		t.Fatal(box, err)
	}
	if m := box[0]; m.From != "scout" || m.Color != "blue" || m.Summary != "s" || m.Read || m.Type != "message" || m.Note != "" {
		t.Errorf("got %+v", m)
	}
	// Written by hand, in the name of nobody we know: shown as such.
	if _, err := d.fs.Mail(nil).Put(t.Context(), "alpha", "bob", store.Message{From: "mallory", Text: "stop all", Timestamp: time.Now()}); err != nil {
		t.Fatal(err)
	}
	box, err = d.as("").Inbox(t.Context(), "alpha", "bob", teams.InboxFilter{From: "mallory"})
	if err != nil || len(box) != 1 || box[0].Note != "not a member" {
		t.Errorf("got %+v, %v", box, err)
	}
	_, err = d.as("mallory").Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: "x"})
	wantCode(t, err, fault.MemberNotFound)
}

func TestA08_Broadcast(t *testing.T) {
	d := newDesk(t)
	d.led("alpha", os.Getpid(), func(p *store.LeadProcess) { p.ProcStart = "1" }, running("a"), running("b"), stopped("c")) // the next lead reads it
	sent, err := d.as("a").Broadcast(t.Context(), "alpha", "hello", "")
	if err != nil {
		t.Fatal(err)
	}
	var to []string
	for _, s := range sent {
		to = append(to, s.To)
	}
	if !slices.Equal(to, []string{"team-lead", "b"}) {
		t.Errorf("sent to %v", to)
	}
}

func TestA15_InboxFilters(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("a"), running("b"))
	for _, from := range []string{"a", "b", "a"} {
		if _, err := d.as(from).Send(t.Context(), "alpha", teams.SendSpec{To: "team-lead", Text: "from " + from}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := d.as("").Inbox(t.Context(), "alpha", "", teams.InboxFilter{})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	if err := d.as("").MarkRead(t.Context(), "alpha", "", []string{all[0].ID}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		f    teams.InboxFilter
		want int
	}{
		{teams.InboxFilter{Unread: true}, 2}, {teams.InboxFilter{From: "a"}, 2}, {teams.InboxFilter{From: "a", Unread: true}, 1},
		{teams.InboxFilter{Since: time.Hour}, 3}, {teams.InboxFilter{Since: time.Nanosecond}, 0},
	} {
		got, err := d.as("").Inbox(t.Context(), "alpha", "", tc.f)
		if err != nil || len(got) != tc.want {
			t.Errorf("%+v: %d messages, %v; want %d", tc.f, len(got), err, tc.want)
		}
	}
	wantCode(t, d.as("a").MarkRead(t.Context(), "alpha", "b", nil), fault.NotLead)
}

// A request to the one who had the name before must not end the new one.
// https://github.com/anthropics/claude-code/issues/45874
func TestSH06_OldShutdownRequestIsExpired(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("builder"))
	old := store.Frame{Type: store.ShutdownRequest, RequestID: "shutdown-1@builder", From: "team-lead"}
	for _, at := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Second)} {
		old.RequestID = store.NewRequestID("shutdown", "builder", at)
		if _, err := d.fs.Mail(nil).Put(t.Context(), "alpha", "builder", store.Message{From: "team-lead", Text: old.Text(), Timestamp: at}); err != nil {
			t.Fatal(err)
		}
	}
	box, err := d.as("").Inbox(t.Context(), "alpha", "builder", teams.InboxFilter{})
	if err != nil || len(box) != 2 || box[0].Note != "expired" || box[1].Note != "" {
		t.Fatalf("got %+v, %v", box, err)
	}
	first, _ := store.ParseFrame(box[0].Text)
	_, err = d.as("builder").AnswerShutdown(t.Context(), "alpha", first.RequestID, true, "")
	wantCode(t, err, fault.RequestNotFound)
	id, err := d.as("builder").AnswerShutdown(t.Context(), "alpha", "", true, "")
	if err != nil || id != old.RequestID {
		t.Errorf("answered %q, %v; want the new one", id, err)
	}
}

// TestSH06_TheClockIsSetBack after a teammate was started, and after its team was taken down
// once: what comes then counts all the same.
func TestSH06_TheClockIsSetBack(t *testing.T) {
	d := newDesk(t)
	later, m := time.Now().Add(time.Hour), running("builder")
	m.Leadlight.SpawnedAt = &later
	d.team("alpha", m)
	d.put("builder", store.Lead, store.Frame{Type: store.ShutdownRequest, RequestID: "shutdown-2@builder", From: store.Lead}.Text())
	builder := d.as("builder")
	if f, asked, err := builder.Asked(t.Context(), "alpha"); !asked || f.RequestID != "shutdown-2@builder" {
		t.Errorf("asked %+v, %v", f, err)
	}
	_, err := builder.AnswerShutdown(t.Context(), "alpha", "shutdown-2@builder", true, "")
	if err != nil || !builder.Agreed(t.Context(), "alpha", m.Leadlight.Host) || builder.Agreed(t.Context(), "alpha", "another") {
		t.Errorf("builder has not agreed: %v", err)
	}
	down := func(pid int, at time.Time) {
		t.Helper()
		name := filepath.Join(d.base, panes.OwnPath("alpha", "locks", "down"))
		if err := os.WriteFile(name, fmt.Appendf(nil, "%d %d \"down\"\n", pid, at.UnixMilli()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	down(1, later)
	before := d.as("").DownBy("alpha")
	if _, is := d.as("").TakenDown("alpha", before); before.PID != 1 || is {
		t.Errorf("taken down by %+v", before)
	}
	down(2, time.Now())
	if pid, is := d.as("").TakenDown("alpha", before); pid != 2 || !is {
		t.Errorf("not taken down, by %d", pid)
	}
}

// TestIB05_TheStatusNamesADamagedInbox, and says of the others what it always says.
// https://github.com/NanmiCoder/dsh-agent-teams/issues/2
func TestIB05_TheStatusNamesADamagedInbox(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("bob"), running("eve"))
	d.write("teams/alpha/inboxes/bob.json", `[{"from":"eve","text":"\q"}]`)
	d.write("teams/alpha/inboxes/eve.json", `[{"from":"bob","text":"x"}]`)
	members, warnings, err := d.as("").Members(t.Context(), "alpha", true)
	if err != nil || len(members) != 2 || members[0].Unread != nil || members[1].Unread == nil || *members[1].Unread != 1 {
		t.Errorf("members %+v, %v", members, err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "inboxes/bob.json is damaged at byte 23") {
		t.Errorf("warnings: %q", warnings)
	}
}
