package daemon

import (
	"context"
	"strings"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// paneMethods show what a teammate shows.
func paneMethods(serve Serve) []rpc.Method {
	return []rpc.Method{
		on(serve, "live.capture", "The text that a teammate's pane shows.", func(p *api.CaptureParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.CaptureParams) (api.Text, error) {
				text, err := svc.Capture(ctx, team, p.Name, p.Lines, p.ANSI)
				return api.Text{Text: text}, err
			}),
		on(serve, "live.logs", "The last lines of a teammate's transcript; 1000 if it is not said how many.", func(p *api.CaptureParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.CaptureParams) (api.Text, error) {
				if p.Lines <= 0 {
					p.Lines = 1000
				}
				var b strings.Builder
				err := svc.Logs(ctx, team, p.Name, p.Lines, false, &b)
				return api.Text{Text: strings.ToValidUTF8(b.String(), "\uFFFD")}, err
			}),
		on(serve, "live.focus", "Take the person's terminal to a teammate's pane.", func(p *api.NameParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.NameParams) (rpc.Nothing, error) {
				return rpc.Nothing{}, svc.Focus(ctx, team, p.Name)
			}),
		on(serve, "live.attach", "The command that shows a teammate's pane in a terminal.", func(p *api.AttachParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.AttachParams) (api.Attachment, error) {
				argv, err := full(svc.Attach(ctx, team, p.Name))
				return api.Attachment{Argv: argv}, err
			}),
	}
}

// careMethods look after what is there.
func careMethods(serve Serve, look Look) []rpc.Method {
	return []rpc.Method{
		on(serve, "live.takeover", "Lead a team whose lead is proved to be gone.", func(p *api.TakeoverParams) *api.Scope { return &p.Scope },
			func(ctx context.Context, svc *teams.Service, team string, p api.TakeoverParams) (api.Takeover, error) {
				return svc.Takeover(ctx, team, teams.TakeoverSpec{Session: p.Session})
			}),
		rpc.Func("live.doctor", "Look for what may be wrong, as the daemon sees it.", func(ctx context.Context, p api.DoctorParams) (api.Checkup, error) {
			svc, err := serve("")
			if err != nil {
				return api.Checkup{}, err
			}
			if p.Fix {
				_, err := svc.GC(ctx, false)
				if err == nil {
					_, err = svc.Mend()
				}
				if err != nil {
					return api.Checkup{}, err
				}
			}
			facts := look(ctx)
			facts.Team = p.Team
			return svc.Doctor(ctx, facts), nil
		}),
		rpc.Func("live.gc", "Remove what belongs to no living team.", func(ctx context.Context, p api.GCParams) ([]api.Orphan, error) {
			svc, err := serve("")
			if err != nil {
				return nil, err
			}
			return full(svc.GC(ctx, p.DryRun))
		}),
	}
}
