package cli

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// A plan that came after the plans were read is no dialog: nobody answers it by keys.
func TestDialogsAreNoRequests(t *testing.T) {
	members := []api.Member{
		{Name: "amy", State: api.StateWaiting, Reason: "waits for its plan p1 to be approved", HasAsked: true},
		{Name: "bob", State: api.StateWaiting, Reason: "Run it? [yes | no]"},
		{Name: "cora", State: api.StateWaiting, Reason: "May it touch one?"},
		{Name: "dan", State: api.StateIdle},
	}
	open := []request{{ID: "perm-1", From: "cora", Status: api.RequestOpen}, {ID: "plan-1", From: "bob", Status: api.RequestApproved}}
	got := dialogs(members, open)
	if len(got) != 1 || got[0].ID != "dialog:bob" || got[0].Kind != dialogRequest {
		t.Errorf("dialogs: %+v", got)
	}
}
