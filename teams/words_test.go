package teams

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestA14_FramesAreToldInWords(t *testing.T) {
	for want, f := range map[string]store.Frame{
		"has nothing to do":                                  {Type: store.IdleNotification},
		"has nothing to do; task 2 is done":                  {Type: store.IdleNotification, CompletedTaskID: "2", CompletedStatus: "resolved"},
		"has nothing to do; task 2 failed: no luck":          {Type: store.IdleNotification, CompletedTaskID: "2", CompletedStatus: "failed", FailureReason: "no luck"},
		"has nothing to do; task 2 is done\nall of it":       {Type: store.IdleNotification, IdleReason: IdleDone, CompletedTaskID: "2", Result: "all of it"},
		"has nothing to do: [to bob] hello":                  {Type: store.IdleNotification, IdleReason: IdleAvailable, Summary: "[to bob] hello"},
		"waits for an answer: Run make?":                     {Type: store.IdleNotification, IdleReason: IdleWaiting, Summary: "Run make?"},
		"does nothing (brand_new)":                           {Type: store.IdleNotification, IdleReason: "brand_new"},
		"task 3 is yours: read it":                           {Type: store.TaskAssignment, TaskID: "3", Subject: "read it"},
		"task 3 is yours: read it\nall":                      {Type: store.TaskAssignment, TaskID: "3", Subject: "read it", Description: "all"},
		"asks you to shut down: done (request r)":            {Type: store.ShutdownRequest, RequestID: "r", Reason: "done"},
		"agrees to shut down (request r)":                    {Type: store.ShutdownApproved, RequestID: "r"},
		"refuses to shut down: not yet (request r)":          {Type: store.ShutdownRejected, RequestID: "r", Reason: "not yet"},
		"asks for permission to reach a.example (request r)": {Type: store.SandboxRequest, RequestID: "r", HostPattern: &store.HostPattern{Host: "a.example"}},
		"denies permission to reach a.example (request r)":   {Type: store.SandboxResponse, RequestID: "r", Host: "a.example"},
		`{"type":"permission_request"}`:                      {Type: "permission_request"},
	} {
		if got := InWords(f.Text()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := InWords("{not really json}"); got != "{not really json}" {
		t.Errorf("plain text became %q", got)
	}
}
