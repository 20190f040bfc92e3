package cli

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestFramesAreToldInWords(t *testing.T) {
	for want, f := range map[string]store.Frame{
		"has nothing to do":                         {Type: store.IdleNotification},
		"has nothing to do; task 2 is done":         {Type: store.IdleNotification, CompletedTaskID: "2", CompletedStatus: "resolved"},
		"has nothing to do; task 2 failed: no luck": {Type: store.IdleNotification, CompletedTaskID: "2", CompletedStatus: "failed", FailureReason: "no luck"},
		"task 3 is yours: read it":                  {Type: store.TaskAssignment, TaskID: "3", Subject: "read it"},
		"asks you to shut down: done (request r)":   {Type: store.ShutdownRequest, RequestID: "r", Reason: "done"},
		"agrees to shut down (request r)":           {Type: store.ShutdownApproved, RequestID: "r"},
		"refuses to shut down: not yet (request r)": {Type: store.ShutdownRejected, RequestID: "r", Reason: "not yet"},
		`{"type":"permission_request"}`:             {Type: "permission_request"},
	} {
		if got := inWords(api.Message{Text: f.Text()}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := inWords(api.Message{Text: "{not really json}"}); got != "{not really json}" {
		t.Errorf("plain text became %q", got)
	}
}
