package scheduler

import (
	"context"
	"net"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/api/rpc/serve"
)

// dial is a program that is connected to the scheduler.
func (r *rig) dial() *rpc.Client {
	r.t.Helper()
	server, err := serve.New(r.Methods(), r.Log)
	if err != nil {
		r.t.Fatal(err)
	}
	here, there := net.Pipe()
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(context.Background(), there) }()
	client := rpc.NewClient(here)
	r.t.Cleanup(func() { client.Close(); <-served })
	return client
}

// TestXS10_BeginningsOfIDs: each method on a run or an item takes the beginning of its id.
func TestXS10_BeginningsOfIDs(t *testing.T) {
	r := newRig(t)
	run := r.run()
	c := r.dial()
	id := api.IDParams{ID: run.ID[:8]}
	for _, method := range []string{"teamRun:get", "teamRun:report", "teamRun:pause", "teamRun:resume"} {
		if err := c.Call(t.Context(), method, id, nil); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	list, err := rpc.Do[[]api.AgentTeamItem](t.Context(), c, "teamItem:list", api.ItemsParams{TeamRunID: id.ID})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	title, lead := "y", api.LeadRole
	first := list[0].ID[:8]
	more, err := rpc.Do[api.AgentTeamItem](t.Context(), c, "teamItem:create", api.ItemParams{TeamRunID: id.ID, Title: "z", BlockedBy: []string{first}})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []struct {
		method string
		params any
	}{
		{"teamItem:get", api.IDParams{ID: first}}, {"teamItem:update", api.ItemChange{ID: first, Title: &title, OwnerAgentRoleID: &lead}},
		{"teamItem:move", api.ItemMove{ID: more.ID[:8], BeforeID: first}}, {"teamItem:list", api.ItemsParams{TeamRunID: id.ID, After: more.ID[:8]}},
		{"teamItem:delete", api.IDParams{ID: more.ID[:8]}}, {"teamRun:cancel", id}, {"teamRun:wait", id},
	} {
		if err := c.Call(t.Context(), call.method, call.params, nil); err != nil {
			t.Errorf("%s: %v", call.method, err)
		}
	}
	if err := c.Call(t.Context(), "teamRun:get", api.IDParams{ID: ""}, nil); fault.CodeOf(err) != fault.RunNotFound {
		t.Errorf("no id: %v", err)
	}
}

// TestXS09_OneSubscriptionAConnection: the second one is refused, for everything would be
// told twice.
func TestXS09_OneSubscriptionAConnection(t *testing.T) {
	r := newRig(t)
	c := r.dial()
	begun, ctx := make(chan struct{}), t.Context()
	go func() {
		_ = c.TeamRunEvents(ctx, api.TeamRunFilter{}, func() { close(begun) }, func(api.TeamRunEvent) error { return nil })
	}()
	<-begun
	if err := c.Call(ctx, rpc.TeamRunEvent, api.TeamRunFilter{}, nil); fault.CodeOf(err) != fault.Rejected {
		t.Errorf("the second one: %v", err)
	}
}

// TestXS12_APreferenceNeedsAModel: a preference that no member's profile has a model for is
// refused, and not passed over.
func TestXS12_APreferenceNeedsAModel(t *testing.T) {
	r := newRig(t)
	r.Models = map[string]map[string]string{"codex": {"cheaper": "small"}}
	c := r.dial()
	team, err := rpc.Do[api.AgentTeam](t.Context(), c, "team:create", api.AgentTeamParams{Name: "t", DefaultModelPreference: "cheaper"})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		role string
		want fault.Code
	}{{"shell", fault.InvalidModel}, {"codex", ""}} {
		r.do(`DELETE FROM agent_team_members`)
		if err := c.Call(t.Context(), "teamMember:add", api.AgentTeamMemberParams{TeamID: team.ID, AgentRoleID: step.role}, nil); err != nil {
			t.Fatal(err)
		}
		err := c.Call(t.Context(), "teamRun:create", api.RunCreateParams{TeamID: team.ID}, nil)
		if step.want == "" && err != nil || step.want != "" && fault.CodeOf(err) != step.want {
			t.Errorf("%s: %v", step.role, err)
		}
	}
	r.do(`DELETE FROM agent_team_members`) // its items have owners all the same
	run, err := rpc.Do[api.AgentTeamRun](t.Context(), c, "teamRun:create", api.RunCreateParams{TeamID: team.ID})
	if err != nil {
		t.Fatal(err)
	}
	it, err := rpc.Do[api.AgentTeamItem](t.Context(), c, "teamItem:create", api.ItemParams{TeamRunID: run.ID, Title: "by hand", OwnerAgentRoleID: api.LeadRole})
	if err != nil {
		t.Fatal(err)
	}
	owner := "shell"
	if err := c.Call(t.Context(), "teamItem:create", api.ItemParams{TeamRunID: run.ID, Title: "x", OwnerAgentRoleID: owner}, nil); fault.CodeOf(err) != fault.InvalidModel {
		t.Errorf("an item of %s: %v", owner, err)
	}
	if err := c.Call(t.Context(), "teamItem:update", api.ItemChange{ID: it.ID, OwnerAgentRoleID: &owner}, nil); fault.CodeOf(err) != fault.InvalidModel {
		t.Errorf("an item given to %s: %v", owner, err)
	}
}
