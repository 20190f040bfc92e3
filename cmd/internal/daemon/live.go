package daemon

import (
	"context"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// Serve gives the verbs in a caller's name, "" for the lead.
type Serve func(as string) (*teams.Service, error)

// Look gives what only the composition knows and doctor reports.
type Look func(context.Context) teams.Facts

// LiveMethods are the verbs of the command line, for programs.
func LiveMethods(serve Serve, look Look) []rpc.Method {
	all := careMethods(serve, look)
	for _, part := range []func(Serve) []rpc.Method{teamMethods, memberMethods, paneMethods, mailMethods, taskMethods, changeMethods, requestMethods} {
		all = append(all, part(serve)...)
	}
	return all
}

// on is a method on a team: it finds the Service and the team.
func on[P, R any](serve Serve, name, about string, scope func(*P) *api.Scope, f func(context.Context, *teams.Service, string, P) (R, error)) rpc.Method {
	return rpc.Func(name, about, func(ctx context.Context, p P) (none R, err error) {
		s := scope(&p)
		svc, err := serve(s.As)
		if err != nil {
			return none, err
		}
		team, err := svc.PickTeam(ctx, s.Team, nil)
		if err != nil {
			return none, err
		}
		return f(ctx, svc, team, p)
	})
}

func teamMethods(serve Serve) []rpc.Method {
	return []rpc.Method{
		rpc.Func("live.team.create", "Create a team.", func(ctx context.Context, p api.TeamCreateParams) (api.Team, error) {
			svc, err := serve("")
			if err != nil {
				return api.Team{}, err
			}
			return svc.CreateTeam(ctx, teams.TeamSpec{
				Name: p.Name, Description: p.Description, Lead: p.Lead, AgentType: p.AgentType, Cwd: p.Cwd, Mailbox: p.Mailbox})
		}),
		rpc.Func("live.team.ls", "List the teams.", func(ctx context.Context, _ rpc.Nothing) ([]api.TeamSummary, error) {
			svc, err := serve("")
			if err != nil {
				return nil, err
			}
			return full(svc.Teams(ctx))
		}),
		on(serve, "live.team.show", "Show a team, its members as observed now.", func(p *api.Scope) *api.Scope { return p },
			func(ctx context.Context, svc *teams.Service, team string, _ api.Scope) (api.Team, error) {
				return svc.Team(ctx, team)
			}),
		on(serve, "live.team.delete", "Delete a team that has no live teammate.", func(p *api.TeamDeleteParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.TeamDeleteParams) (rpc.Nothing, error) {
				return rpc.Nothing{}, svc.DeleteTeam(ctx, team, teams.DeleteOptions{Force: p.Force, Backup: p.Backup})
			}),
		on(serve, "live.down", "Shut every teammate down, then delete the team.", func(p *api.StopParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.StopParams) (api.Endings, error) {
				return svc.Down(ctx, team, stopOptions(p), p.Keep)
			}),
	}
}

// full is a list that is [] in JSON when it is empty.
func full[T any](list []T, err error) ([]T, error) {
	if list == nil {
		list = []T{}
	}
	return list, err
}

func stopOptions(p api.StopParams) teams.StopOptions {
	return teams.StopOptions{Ask: ms(p.TimeoutMs), Reason: p.Reason, Force: p.Force}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func memberMethods(serve Serve) []rpc.Method {
	return []rpc.Method{
		on(serve, "live.spawn", "Start a teammate in a pane of its own.", func(p *api.SpawnParams) *api.Scope { return &p.Scope }, spawn),
		on(serve, "live.ps", "List the teammates, each as observed now.", func(p *api.PsParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.PsParams) ([]api.Member, error) {
				list, _, err := svc.Members(ctx, team, p.All)
				return full(list, err)
			}),
		on(serve, "live.stop", "End teammates, with proof; the outcomes say how, \"ok\" whether all ended.", func(p *api.StopParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.StopParams) (api.Endings, error) {
				return svc.Stop(ctx, team, p.Names, stopOptions(p))
			}),
		on(serve, "live.restart", "Start a teammate again.", func(p *api.NameParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.NameParams) (api.Member, error) {
				return svc.Restart(ctx, team, p.Name)
			}),
		on(serve, "live.shutdown.approve", "Agree to a shutdown, as the teammate that was asked.", func(p *api.AnswerParams) *api.Scope { return &p.Scope }, answer(true)),
		on(serve, "live.shutdown.refuse", "Refuse a shutdown, as the teammate that was asked.", func(p *api.AnswerParams) *api.Scope { return &p.Scope }, answer(false)),
	}
}

func answer(yes bool) func(context.Context, *teams.Service, string, api.AnswerParams) (api.Answered, error) {
	return func(ctx context.Context, svc *teams.Service, team string, p api.AnswerParams) (api.Answered, error) {
		id, err := svc.AnswerShutdown(ctx, team, p.RequestID, yes, p.Reason)
		return api.Answered{RequestID: id}, err
	}
}

func spawn(ctx context.Context, svc *teams.Service, team string, p api.SpawnParams) (api.Member, error) {
	r := svc.Spawn(ctx, team, []teams.SpawnSpec{{
		Name: p.Name, Profile: p.Agent, Command: p.Command, Kind: p.Kind, Model: p.Model, AgentType: p.AgentType, Prompt: p.Prompt, Cwd: p.Cwd,
		Color: p.Color, Env: p.Env, Placement: backend.Place(p.Placement), Restart: p.Restart, PlanMode: p.PlanMode, Ready: ms(p.ReadyTimeoutMs),
	}})[0]
	if r.Err == nil && r.Member.State == api.StateFailed {
		return r.Member, fault.New(fault.SpawnFailed, "teammate %s of team %s: %s", p.Name, team, r.Member.Reason)
	}
	return r.Member, r.Err
}

func mailMethods(serve Serve) []rpc.Method {
	return []rpc.Method{
		on(serve, "live.send", "Send a message to a member.", func(p *api.SendParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.SendParams) (api.Sent, error) {
				return svc.Send(ctx, team, teams.SendSpec{To: p.To, Text: p.Text, Summary: p.Summary, Type: p.Type})
			}),
		on(serve, "live.broadcast", "Send a message to every live member.", func(p *api.SendParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.SendParams) ([]api.Sent, error) {
				return full(svc.Broadcast(ctx, team, p.Text, p.Summary))
			}),
		on(serve, "live.inbox", "Read an inbox.", func(p *api.InboxParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.InboxParams) ([]api.Message, error) {
				return full(svc.Inbox(ctx, team, p.Name, teams.InboxFilter{Unread: p.Unread, From: p.From, Since: ms(p.SinceMs)}))
			}),
		on(serve, "live.inbox.read", "Mark messages as read.", func(p *api.InboxReadParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.InboxReadParams) (rpc.Nothing, error) {
				return rpc.Nothing{}, svc.MarkRead(ctx, team, p.Name, p.IDs)
			}),
		on(serve, "live.inbox.prune", "Move the read messages of an inbox into the archive.", func(p *api.InboxParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.InboxParams) (api.Count, error) {
				n, err := svc.PruneInbox(ctx, team, p.Name)
				return api.Count{Count: n}, err
			}),
	}
}
