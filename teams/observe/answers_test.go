package observe

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/events"
)

// TestXH06_AnAnswerIsReadInEverySpelling: a mail that answers is a yes only if it says so,
// and says no in no spelling that clients use.
func TestXH06_AnAnswerIsReadInEverySpelling(t *testing.T) {
	team := &Team{Name: "alpha", Members: []Member{{MemberInfo: events.MemberInfo{Name: "ann"}}}}
	for text, want := range map[string]bool{
		`{"type":"shutdown_approved"}`:                                      true,
		`{"type":"shutdown_approved","approve":false}`:                      false,
		`{"type":"shutdown_approved","approved":"false"}`:                   false,
		`{"type":"shutdown_rejected"}`:                                      false,
		`{"type":"shutdown_rejected","approve":true}`:                       false,
		`{"type":"shutdown_response","approve":true}`:                       true,
		`{"type":"shutdown_response","approved":true}`:                      true,
		`{"type":"shutdown_response","approve":true,"approved":false}`:      false,
		`{"type":"shutdown_response","reason":"not yet"}`:                   false,
		`{"type":"plan_approval_response","approve":true}`:                  true,
		`{"type":"plan_approval_response","approved":true}`:                 true,
		`{"type":"plan_approval_response","approved":true,"approve":null}`:  false,
		`{"type":"plan_approval_response"}`:                                 false,
		`{"type":"shutdown_response","approve":false,"approve":true}`:       false,
		`{"type":"plan_approval_response","approved":"no","approved":true}`: false,
	} {
		m := mail{from: "ann", text: text}
		m.frame = frame(m.text)
		told := heard(team, m, "")
		if len(told) != 1 {
			t.Errorf("%s: %d events", text, len(told))
			continue
		}
		var got bool
		switch a := told[0].data.(type) {
		case *events.ShutdownAnswer:
			got = a.Approved
			if noted := receive(team, m, "").Member("ann").Shutdown == shutdownApproved; noted != want {
				t.Errorf("%s: approved is noted: %v", text, noted)
			}
		case *events.PlanAnswer:
			got = a.Approved
		}
		if got != want {
			t.Errorf("%s: approved is %v", text, got)
		}
	}
	for _, text := range []string{ // it answers neither of the two: it is words
		`{"type":"shutdown_approved","requestId":"r","request_id":"s"}`,
		`{"type":"plan_approval_response","requestID":"s","requestId":"r","approved":true}`,
		`{"type":"shutdown_approved","requestId":"r","requestId":"s"}`,
	} {
		m := mail{from: "ann", text: text}
		m.frame = frame(m.text)
		if told := heard(team, m, ""); len(told) != 1 || told[0].what != events.MessageReceived || receive(team, m, "").Member("ann").Shutdown != "" {
			t.Errorf("%s: %+v", text, told)
		}
	}
}

// TestXH06_ANameAndItsAddressAreOne: a structured mail speaks for its sender by name or by
// address; for anybody else it is words.
func TestXH06_ANameAndItsAddressAreOne(t *testing.T) {
	start := join(create("c", "alpha"), spawn("s", "alpha", "ann"))
	for _, c := range []struct {
		from, text string
		want       events.Type
	}{
		{"ann", `{"type":"shutdown_approved","from":"ann@alpha"}`, events.ShutdownResponse},
		{"ann@alpha", `{"type":"shutdown_approved","from":"ann"}`, events.ShutdownResponse},
		{"ann", `{"type":"shutdown_approved","from":"ann"}`, events.ShutdownResponse},
		{"ann", `{"type":"shutdown_approved","from":"ann@beta"}`, events.MessageReceived},
		{"ann", `{"type":"shutdown_approved","from":"bob@alpha"}`, events.MessageReceived},
		{"ann", `{"type":"plan_approval_request","agent_id":"bob","requestId":"r"}`, events.MessageReceived},
	} {
		w := seen(append(start, mailed("u", c.from, c.text))...)
		if got := w.events[len(w.events)-1]; got.Type != c.want {
			t.Errorf("%s: %s is %s, want %s", c.from, c.text, got.Type, c.want)
		}
	}
}
