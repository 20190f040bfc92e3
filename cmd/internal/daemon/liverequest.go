package daemon

import (
	"context"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// requestMethods are about what teammates ask of their lead: plans and permissions,
// and about what the lead may do itself.
func requestMethods(serve Serve) []rpc.Method {
	return []rpc.Method{
		on(serve, "live.plan.submit", "Hand in a plan, as a teammate.", func(p *api.PlanSubmitParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.PlanSubmitParams) (api.Plan, error) {
				return svc.SubmitPlan(ctx, team, p.Text, p.Path)
			}),
		on(serve, "live.plan.ls", "List the plans that wait for an answer.", scopeOfAll,
			func(ctx context.Context, svc *teams.Service, team string, p api.AllParams) ([]api.Plan, error) {
				return full(svc.Plans(ctx, team, p.All))
			}),
		on(serve, "live.plan.show", "Show a plan.", scopeOfRequest,
			func(ctx context.Context, svc *teams.Service, team string, p api.RequestParams) (api.Plan, error) {
				return svc.Plan(ctx, team, p.ID)
			}),
		on(serve, "live.plan.approve", "Approve a plan, as the lead; text is for its author.", scopeOfRequest, resolvePlan(true)),
		on(serve, "live.plan.reject", "Reject a plan, as the lead; text says what is to be changed.", scopeOfRequest, resolvePlan(false)),
		on(serve, "live.permission.ls", "List the requests for permission that wait for an answer.", scopeOfAll,
			func(ctx context.Context, svc *teams.Service, team string, p api.AllParams) ([]api.Permission, error) {
				return full(svc.Permissions(ctx, team, p.All))
			}),
		on(serve, "live.permission.allow", "Allow what was asked for, this once.", scopeOfRequest, answerPermission(true)),
		on(serve, "live.permission.deny", "Deny what was asked for; text reaches the teammate's agent.", scopeOfRequest, answerPermission(false)),
		on(serve, "live.permission.mode", "Change the permission mode of a native teammate.", func(p *api.ModeParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.ModeParams) (api.ModeChange, error) {
				return svc.SetPermissionMode(ctx, team, p.Name, p.Mode)
			}),
		on(serve, "live.delegate", "Let the lead coordinate only, or work itself as well.", func(p *api.DelegateParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.DelegateParams) (api.Delegation, error) {
				return api.Delegation{Team: team, Delegate: p.Delegate}, svc.SetDelegate(ctx, team, p.Delegate)
			}),
	}
}

func scopeOfAll(p *api.AllParams) *api.Scope { return &p.Scope }

func scopeOfRequest(p *api.RequestParams) *api.Scope { return &p.Scope }

func resolvePlan(approve bool) func(context.Context, *teams.Service, string, api.RequestParams) (api.Plan, error) {
	return func(ctx context.Context, svc *teams.Service, team string, p api.RequestParams) (api.Plan, error) {
		return svc.ResolvePlan(ctx, team, p.ID, approve, p.Text)
	}
}

func answerPermission(allow bool) func(context.Context, *teams.Service, string, api.RequestParams) (api.Permission, error) {
	return func(ctx context.Context, svc *teams.Service, team string, p api.RequestParams) (api.Permission, error) {
		return svc.AnswerPermission(ctx, team, p.ID, allow, p.Text)
	}
}
