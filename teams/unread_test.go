package teams_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// leadMail is what the lead has got, as text.
func (d *desk) leadMail() []string {
	d.t.Helper()
	box, err := d.as("").Inbox(d.t.Context(), "alpha", "", teams.InboxFilter{})
	if err != nil {
		d.t.Fatal(err)
	}
	var out []string
	for _, m := range box {
		out = append(out, m.From+": "+m.Text)
	}
	return out
}

// end writes down the end of a member, as its host does.
func (d *desk) end(m store.Member) {
	d.t.Helper()
	if _, err := d.as("").RecordExit(d.t.Context(), "alpha", m.Name, m.Leadlight.Host, panes.ExitRecord{State: api.StateStopped, Reason: "exited with 0"}); err != nil {
		d.t.Fatal(err)
	}
}

// What somebody has not read when it ends goes to the lead, once, and stays where it is.
func TestXF20_TheLeadGetsWhatWasNotRead(t *testing.T) {
	d := newDesk(t)
	bob := running("bob")
	d.team("alpha", bob, running("eve"))
	for from, text := range map[string]string{"eve": "the branch is ready", "": "look at it"} {
		if _, err := d.as(from).Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.as("").Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: "done?", Type: store.ShutdownRequest}); err != nil {
		t.Fatal(err)
	}
	d.end(bob)
	got := d.leadMail()
	if len(got) != 1 || !strings.HasPrefix(got[0], "bob: bob is stopped and has not read its mail") ||
		!strings.Contains(got[0], "\nfrom eve: the branch is ready") || !strings.Contains(got[0], "\nfrom team-lead: look at it") || strings.Contains(got[0], "done?") {
		t.Errorf("the lead has got %q", got)
	}
	box, err := d.as("").Inbox(t.Context(), "alpha", "bob", teams.InboxFilter{Unread: true})
	if err != nil || len(box) != 3 {
		t.Errorf("bob would find %d messages after a restart, want 3: %v", len(box), err)
	}
	again := running("bob")
	err = d.fs.Roster().Update(t.Context(), "alpha", func(now *store.Team) error {
		*now.Member("bob") = again
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d.end(again)
	if got := d.leadMail(); len(got) != 1 {
		t.Errorf("told twice: %q", got)
	}
}

// What a teammate writes to one that has ended is refused, and the lead gets it.
func TestXF20_TheLeadGetsWhatIsRefused(t *testing.T) {
	d := newDesk(t)
	d.team("alpha", stopped("bob"), running("eve"))
	_, err := d.as("eve").Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: "the branch is ready"})
	wantCode(t, err, fault.RecipientInactive)
	if hint := fault.Of(err).Hint; !strings.Contains(hint, "the lead has got the message") {
		t.Errorf("hint: %q", hint)
	}
	_, err = d.as("").Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: "are you there?"})
	wantCode(t, err, fault.RecipientInactive)
	if got := d.leadMail(); !slices.Equal(got, []string{"eve: teammate bob is stopped: pane closed, so this is for you: the branch is ready"}) {
		t.Errorf("the lead has got %q", got)
	}
}

// endsFirst is a mailbox whose owner ends in the moment in which a message is put into it.
type endsFirst struct {
	store.Mail
	end func()
}

func (m endsFirst) Put(ctx context.Context, team, owner string, msg store.Message) (store.Message, error) {
	if owner == "bob" {
		m.end()
	}
	return m.Mail.Put(ctx, team, owner, msg)
}

// One who leaves while it is written to leaves the message to the lead.
func TestXF20_TheLeadGetsWhatComesTooLate(t *testing.T) {
	for _, all := range []bool{false, true} {
		d := newDesk(t)
		bob := running("bob")
		d.team("alpha", bob, running("eve"))
		d.mail = endsFirst{Mail: d.fs.Mail(nil), end: func() { d.end(bob) }}
		svc, err := d.as("eve"), error(nil)
		if all {
			_, err = svc.Broadcast(t.Context(), "alpha", "wait for me", "")
		} else {
			_, err = svc.Send(t.Context(), "alpha", teams.SendSpec{To: "bob", Text: "wait for me"})
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := d.leadMail(); !slices.ContainsFunc(got, func(text string) bool { return strings.HasSuffix(text, "\nfrom eve: wait for me") }) {
			t.Errorf("to all: %t: the lead has got %q", all, got)
		}
	}
}
