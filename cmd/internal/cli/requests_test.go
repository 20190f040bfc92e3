package cli

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// TestXD06_WhatIsADialog: who waits for the answer to a plan or to be started again shows
// none; a plan hides none.
func TestXD06_WhatIsADialog(t *testing.T) {
	members := []api.Member{
		{Name: "amy", State: api.StateWaiting, Reason: "waits for its plan p1 to be approved"},
		{Name: "bob", State: api.StateWaiting, AtDialog: true, Reason: "Run it? [yes | no]"},
		{Name: "cora", State: api.StateWaiting, AtDialog: true, Reason: "May it touch one?"},
		{Name: "dan", State: api.StateIdle},
		{Name: "eve", State: api.StateWaiting, Reason: "exited with 3, starts again in 4s (1 of 5)"},
		{Name: "fay", State: api.StateWaiting, AtDialog: true, Reason: "Run it?"},
	}
	open := []request{
		{ID: "perm-1", Kind: permissionRequest, From: "cora", Status: api.RequestOpen}, {ID: "perm-2", Kind: permissionRequest, From: "bob", Status: api.RequestApproved},
		{ID: "plan-1", Kind: planRequest, From: "fay", Status: api.RequestOpen},
	}
	a := &app{named: "Team Two", unnamed: func() bool { return true }} // there are several teams
	got := a.dialogs(members, open)
	if len(got) != 2 || got[0].ID != "dialog:bob" || got[0].Kind != dialogRequest || got[1].From != "fay" || got[0].Answer != "leadlight -t 'Team Two' keys bob KEY…" {
		t.Errorf("dialogs: %+v", got)
	}
}
