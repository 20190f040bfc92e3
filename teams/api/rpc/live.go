package rpc

import (
	"context"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// Live is the verbs of the command line, one method each, named as the verb is. A
// path must be absolute: the daemon is not where the caller is.
type Live struct{ c *Client }

// Live returns the verbs.
func (c *Client) Live() Live { return Live{c} }

// Takeover is live.takeover: lead a team whose lead is proved to be gone.
func (l Live) Takeover(ctx context.Context, p api.TakeoverParams) (api.Takeover, error) {
	return Do[api.Takeover](ctx, l.c, "live.takeover", p)
}

// Doctor is live.doctor: look for what may be wrong, as the daemon sees it.
func (l Live) Doctor(ctx context.Context, p api.DoctorParams) (api.Checkup, error) {
	return Do[api.Checkup](ctx, l.c, "live.doctor", p)
}

// GC is live.gc: remove what belongs to no living team.
func (l Live) GC(ctx context.Context, p api.GCParams) ([]api.Orphan, error) {
	return Do[[]api.Orphan](ctx, l.c, "live.gc", p)
}

// TeamCreate is live.team.create: create a team.
func (l Live) TeamCreate(ctx context.Context, p api.TeamCreateParams) (api.Team, error) {
	return Do[api.Team](ctx, l.c, "live.team.create", p)
}

// TeamLs is live.team.ls: list the teams.
func (l Live) TeamLs(ctx context.Context) ([]api.TeamSummary, error) {
	return Do[[]api.TeamSummary](ctx, l.c, "live.team.ls", nil)
}

// TeamShow is live.team.show: show a team, its members as observed now.
func (l Live) TeamShow(ctx context.Context, p api.Scope) (api.Team, error) {
	return Do[api.Team](ctx, l.c, "live.team.show", p)
}

// TeamDelete is live.team.delete: delete a team that has no live teammate.
func (l Live) TeamDelete(ctx context.Context, p api.TeamDeleteParams) error {
	return l.c.Call(ctx, "live.team.delete", p, nil)
}

// Down is live.down: shut every teammate down, then delete the team.
func (l Live) Down(ctx context.Context, p api.StopParams) (api.Endings, error) {
	return Do[api.Endings](ctx, l.c, "live.down", p)
}

// Spawn is live.spawn: start a teammate in a pane of its own.
func (l Live) Spawn(ctx context.Context, p api.SpawnParams) (api.Member, error) {
	return Do[api.Member](ctx, l.c, "live.spawn", p)
}

// Ps is live.ps: list the teammates, each as observed now.
func (l Live) Ps(ctx context.Context, p api.PsParams) ([]api.Member, error) {
	return Do[[]api.Member](ctx, l.c, "live.ps", p)
}

// Stop is live.stop: end teammates, with proof; the outcomes say how, "ok" whether all ended.
func (l Live) Stop(ctx context.Context, p api.StopParams) (api.Endings, error) {
	return Do[api.Endings](ctx, l.c, "live.stop", p)
}

// Restart is live.restart: start a teammate again.
func (l Live) Restart(ctx context.Context, p api.NameParams) (api.Member, error) {
	return Do[api.Member](ctx, l.c, "live.restart", p)
}

// ShutdownApprove is live.shutdown.approve: agree to a shutdown, as the teammate that was asked.
func (l Live) ShutdownApprove(ctx context.Context, p api.AnswerParams) (api.Answered, error) {
	return Do[api.Answered](ctx, l.c, "live.shutdown.approve", p)
}

// ShutdownRefuse is live.shutdown.refuse: refuse a shutdown, as the teammate that was asked.
func (l Live) ShutdownRefuse(ctx context.Context, p api.AnswerParams) (api.Answered, error) {
	return Do[api.Answered](ctx, l.c, "live.shutdown.refuse", p)
}

// Capture is live.capture: the text that a teammate's pane shows.
func (l Live) Capture(ctx context.Context, p api.CaptureParams) (api.Text, error) {
	return Do[api.Text](ctx, l.c, "live.capture", p)
}

// Logs is live.logs: the last lines of a teammate's transcript; 1000 if it is not said how many.
func (l Live) Logs(ctx context.Context, p api.CaptureParams) (api.Text, error) {
	return Do[api.Text](ctx, l.c, "live.logs", p)
}

// Focus is live.focus: take the person's terminal to a teammate's pane.
func (l Live) Focus(ctx context.Context, p api.NameParams) error {
	return l.c.Call(ctx, "live.focus", p, nil)
}

// Attach is live.attach: the command that shows a teammate's pane in a terminal.
func (l Live) Attach(ctx context.Context, p api.AttachParams) (api.Attachment, error) {
	return Do[api.Attachment](ctx, l.c, "live.attach", p)
}

// Send is live.send: send a message to a member.
func (l Live) Send(ctx context.Context, p api.SendParams) (api.Sent, error) {
	return Do[api.Sent](ctx, l.c, "live.send", p)
}

// Broadcast is live.broadcast: send a message to every live member.
func (l Live) Broadcast(ctx context.Context, p api.SendParams) ([]api.Sent, error) {
	return Do[[]api.Sent](ctx, l.c, "live.broadcast", p)
}

// Inbox is live.inbox: read an inbox.
func (l Live) Inbox(ctx context.Context, p api.InboxParams) ([]api.Message, error) {
	return Do[[]api.Message](ctx, l.c, "live.inbox", p)
}

// InboxRead is live.inbox.read: mark messages as read.
func (l Live) InboxRead(ctx context.Context, p api.InboxReadParams) error {
	return l.c.Call(ctx, "live.inbox.read", p, nil)
}

// InboxPrune is live.inbox.prune: move the read messages of an inbox into the archive.
func (l Live) InboxPrune(ctx context.Context, p api.InboxParams) (api.Count, error) {
	return Do[api.Count](ctx, l.c, "live.inbox.prune", p)
}

// TaskAdd is live.task.add: add a task.
func (l Live) TaskAdd(ctx context.Context, p api.TaskAddParams) (api.Task, error) {
	return Do[api.Task](ctx, l.c, "live.task.add", p)
}

// TaskLs is live.task.ls: list the tasks.
func (l Live) TaskLs(ctx context.Context, p api.TaskListParams) ([]api.Task, error) {
	return Do[[]api.Task](ctx, l.c, "live.task.ls", p)
}

// TaskShow is live.task.show: show a task.
func (l Live) TaskShow(ctx context.Context, p api.TaskParams) (api.Task, error) {
	return Do[api.Task](ctx, l.c, "live.task.show", p)
}

// TaskClaim is live.task.claim: take a task, or the next one that is ready.
func (l Live) TaskClaim(ctx context.Context, p api.TaskClaimParams) (api.Task, error) {
	return Do[api.Task](ctx, l.c, "live.task.claim", p)
}

// TaskUpdate is live.task.update: change a task.
func (l Live) TaskUpdate(ctx context.Context, p api.TaskUpdateParams) (api.Task, error) {
	return Do[api.Task](ctx, l.c, "live.task.update", p)
}

// TaskDone is live.task.done: complete a task; text is its result.
func (l Live) TaskDone(ctx context.Context, p api.TaskParams) (api.Task, error) {
	return Do[api.Task](ctx, l.c, "live.task.done", p)
}

// TaskFail is live.task.fail: mark a task as failed; text says why.
func (l Live) TaskFail(ctx context.Context, p api.TaskParams) (api.Task, error) {
	return Do[api.Task](ctx, l.c, "live.task.fail", p)
}

// TaskRelease is live.task.release: give a task free.
func (l Live) TaskRelease(ctx context.Context, p api.TaskParams) (api.Task, error) {
	return Do[api.Task](ctx, l.c, "live.task.release", p)
}

// TaskRm is live.task.rm: remove a task.
func (l Live) TaskRm(ctx context.Context, p api.TaskParams) error {
	return l.c.Call(ctx, "live.task.rm", p, nil)
}

// PlanSubmit is live.plan.submit: hand in a plan, as a teammate.
func (l Live) PlanSubmit(ctx context.Context, p api.PlanSubmitParams) (api.Plan, error) {
	return Do[api.Plan](ctx, l.c, "live.plan.submit", p)
}

// PlanLs is live.plan.ls: list the plans that wait for an answer.
func (l Live) PlanLs(ctx context.Context, p api.AllParams) ([]api.Plan, error) {
	return Do[[]api.Plan](ctx, l.c, "live.plan.ls", p)
}

// PlanShow is live.plan.show: show a plan.
func (l Live) PlanShow(ctx context.Context, p api.RequestParams) (api.Plan, error) {
	return Do[api.Plan](ctx, l.c, "live.plan.show", p)
}

// PlanApprove is live.plan.approve: approve a plan, as the lead; text is for its author.
func (l Live) PlanApprove(ctx context.Context, p api.RequestParams) (api.Plan, error) {
	return Do[api.Plan](ctx, l.c, "live.plan.approve", p)
}

// PlanReject is live.plan.reject: reject a plan, as the lead; text says what is to be changed.
func (l Live) PlanReject(ctx context.Context, p api.RequestParams) (api.Plan, error) {
	return Do[api.Plan](ctx, l.c, "live.plan.reject", p)
}

// PermissionLs is live.permission.ls: list the requests for permission that wait for an answer.
func (l Live) PermissionLs(ctx context.Context, p api.AllParams) ([]api.Permission, error) {
	return Do[[]api.Permission](ctx, l.c, "live.permission.ls", p)
}

// PermissionAllow is live.permission.allow: allow what was asked for, this once.
func (l Live) PermissionAllow(ctx context.Context, p api.RequestParams) (api.Permission, error) {
	return Do[api.Permission](ctx, l.c, "live.permission.allow", p)
}

// PermissionDeny is live.permission.deny: deny what was asked for; text reaches the teammate's agent.
func (l Live) PermissionDeny(ctx context.Context, p api.RequestParams) (api.Permission, error) {
	return Do[api.Permission](ctx, l.c, "live.permission.deny", p)
}

// PermissionMode is live.permission.mode: change the permission mode of a native teammate.
func (l Live) PermissionMode(ctx context.Context, p api.ModeParams) (api.ModeChange, error) {
	return Do[api.ModeChange](ctx, l.c, "live.permission.mode", p)
}

// Delegate is live.delegate: let the lead coordinate only, or work itself as well.
func (l Live) Delegate(ctx context.Context, p api.DelegateParams) (api.Delegation, error) {
	return Do[api.Delegation](ctx, l.c, "live.delegate", p)
}
