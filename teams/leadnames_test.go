package teams_test

import (
	"fmt"
	"testing"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/maildir"
)

// TestXF01_TheLeadByItsAddress: the lead is meant by its name and by its address, as
// recipient and as sender.
func TestXF01_TheLeadByItsAddress(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("bob"))
	if sent, err := d.as("bob").Send(t.Context(), "alpha", teams.SendSpec{To: "team-lead@alpha", Text: "hello"}); err != nil || sent.To != store.Lead {
		t.Errorf("%+v, %v", sent, err)
	}
	request := store.Frame{Type: store.ShutdownRequest, RequestID: "r", From: "team-lead@alpha", Reason: "done"}.Text()
	if _, err := d.fs.Mail(nil).Put(t.Context(), "alpha", "bob", store.Message{From: "team-lead@alpha", Text: request}); err != nil {
		t.Fatal(err)
	}
	if f, asked, err := d.as("bob").Asked(t.Context(), "alpha"); !asked || err != nil || f.Reason != "done" {
		t.Errorf("a request from the lead's address: %+v %v %v", f, asked, err)
	}
}

// TestXF01_SendersByTheirAddress: who writes under its address is meant in whatever it says:
// its plan is its own, is answered, and what it says to itself is not unread.
func TestXF01_SendersByTheirAddress(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", running("bob"))
	for n, named := range []string{"bob", "bob@alpha"} {
		for m, from := range []string{"bob@alpha", "bob"} {
			id := fmt.Sprintf("r-%d-%d", n, m)
			d.put(store.Lead, from, store.Frame{Type: store.PlanRequest, From: named, RequestID: id, PlanContent: "look"}.Text())
			plans, err := d.as("").Plans(t.Context(), "alpha", false)
			if err != nil || len(plans) != 1 || plans[0].From != "bob" {
				t.Fatalf("from %s, who says it is %s: %+v, %v", from, named, plans, err)
			}
			if _, err := d.as("").ResolvePlan(t.Context(), "alpha", id, false, "no"); err != nil {
				t.Fatal(err)
			}
			if got := d.last("bob"); got["requestId"] != id {
				t.Errorf("the answer is %v", got)
			}
		}
	}
	box, err := d.as("").Inbox(t.Context(), "alpha", "", teams.InboxFilter{})
	if err != nil || len(box) != 4 {
		t.Fatal(box, err)
	}
	for _, msg := range box {
		if msg.From != "bob" || msg.Note != "" {
			t.Errorf("%+v", msg)
		}
	}
	d.put("bob", "bob@alpha", "a note to myself")
	unread, err := d.as("bob").Inbox(t.Context(), "alpha", "", teams.InboxFilter{Unread: true, From: "bob"})
	if err != nil || len(unread) != 0 {
		t.Error(unread, err)
	}
}

// TestXF12_TheLeadOfOtherPrograms: a program that shares a maildir calls the lead lead, and
// the reason of a request content.
func TestXF12_TheLeadOfOtherPrograms(t *testing.T) {
	d := newDesk(t)
	d.mail = maildir.New(d.fs.Dir(), maildir.Options{})
	if _, err := d.as("").CreateTeam(t.Context(), teams.TeamSpec{Name: "alpha", Description: "x", Mailbox: store.MailboxMaildir}); err != nil {
		t.Fatal(err)
	}
	err := d.fs.Roster().Update(t.Context(), "alpha", func(t *store.Team) error { t.Members = append(t.Members, running("bob")); return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"id":"m1","from":"lead","to":"bob","type":"shutdown_request","content":"all is done","timestamp":"2099-01-01T00:00:00Z"}`,
		`{"id":"m2","from":"lead","to":"bob","type":"direct","content":"{\"type\":\"shutdown_request\",\"content\":\"all is done\"}","timestamp":"2099-01-01T00:00:00Z"}`,
	} {
		d.write("teams/alpha/inbox/bob/msg-001.json", text)
		if f, asked, err := d.as("bob").Asked(t.Context(), "alpha"); !asked || err != nil || f.Reason != "all is done" {
			t.Errorf("%s: %+v %v %v", text, f, asked, err)
		}
	}
}
