package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

// Name is what clients are to call the server: the names of its tools in Claude
// Code begin with it.
const Name = "leadlight"

// MaxFrame is the longest line that is read from a client: the largest prompt,
// however it is escaped, and some room.
const MaxFrame = 6*store.MaxPrompt + 1<<20

// Options say what a server is for.
type Options struct {
	watch.Source
	// Hosts hints that something may have happened to the hosts of a team.
	Hosts func(ctx context.Context, team string) (<-chan struct{}, error)

	Caller  teams.Caller // of Service; a teammate's tools if it is one, else the lead's
	Team    string       // the team that is meant where none is named; "": the only one
	Version string

	Enabled  bool // the tools are offered at all
	Delegate bool // the lead coordinates only

	// Complete fills what a Task leaves open: profile, model, layout.
	Complete func(*teams.SpawnSpec)
	// ShutDown: when the last client has gone, the teammates of the team that this
	// process leads are shut down. The team stays.
	ShutDown bool
}

// Server serves the tools and resources.
type Server struct {
	o     Options
	svc   *teams.Service
	sdk   *sdk.Server
	watch *watcher
	board *board

	life context.Context // ends when the serving shall

	mu        sync.Mutex
	own       api.Team            // the team that was made here
	positions map[position]uint64 // how far each client has seen the events of each team
}

// New returns a server. It watches nothing before Stdio or HTTP runs it.
func New(o Options) *Server {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Complete == nil {
		o.Complete = func(*teams.SpawnSpec) {}
	}
	s := &Server{o: o, svc: o.Service, life: context.Background(), positions: map[position]uint64{}}
	s.watch = newWatcher(o)
	s.board = newBoard(s)
	options := &sdk.ServerOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
	}
	if o.Enabled {
		options.Instructions = s.instructions()
		options.SubscribeHandler, options.UnsubscribeHandler = s.board.subscribe, s.board.unsubscribe
	}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: Name, Title: "leadlight", Version: cmp.Or(o.Version, "0")}, options)
	if !o.Enabled {
		return s
	}
	for _, t := range s.tools() {
		s.sdk.AddTool(t.declare(), s.handler(t))
	}
	s.board.offer()
	s.sdk.AddReceivingMiddleware(s.listed)
	return s
}

// tools are those of the role, in delegate mode only those that coordinate.
func (s *Server) tools() []tool {
	all := leadTools(s)
	if s.o.Caller.Teammate {
		all = mateTools(s)
	}
	if s.o.Delegate {
		all = slices.DeleteFunc(all, func(t tool) bool { return !t.coordinates })
	}
	return all
}

func (s *Server) instructions() string {
	if s.o.Caller.Teammate {
		return "You are " + s.o.Caller.Name + ", a teammate. Read your mail with ReadInbox, take work with TaskClaim, say how it ended with TaskUpdate, " +
			"and write to " + store.Lead + " or others with SendMessage. When there is nothing to do, WaitForEvents. " +
			"A shutdown_request is answered with SendMessage, type shutdown_response."
	}
	return "You lead a team of agents, each in a terminal pane of its own. Make it with TeamCreate, describe the work with TaskCreate, start teammates with Task, " +
		"and WaitForEvents instead of asking again and again; ReadInbox has what they write to you. A plan_approval_request is answered with SendMessage, type " +
		"plan_approval_response. At the end send each a shutdown_request and TeamDelete the team."
}

// Stdio serves one client over a pair of streams, until it goes or ctx ends.
func (s *Server) Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.run(ctx, func(ctx context.Context) error {
		err := s.sdk.Run(ctx, newLines(in, out, MaxFrame))
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
}

// run serves, watching what it is asked about, and leaves in order.
func (s *Server) run(ctx context.Context, serve func(context.Context) error) error {
	wctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.life = ctx
	s.watch.begin(wctx, s.board.publish)
	err := serve(ctx)
	stop()
	s.watch.end()
	s.leave(context.WithoutCancel(ctx))
	return err
}

// leave ends, if it is so set, the teammates of the team that was led here.
func (s *Server) leave(ctx context.Context) {
	led := s.led()
	if led.Name == "" || !s.o.ShutDown {
		return
	}
	if err := s.endTeam(ctx, led); err != nil {
		s.o.Log.Warn("shut the team down", "team", led.Name, "error", err)
	}
}

// endTeam ends the teammates of a team, but not of another one that has got its name
// since.
func (s *Server) endTeam(ctx context.Context, led api.Team) error {
	if err := s.stands(ctx, led); err != nil {
		return err
	}
	e, err := s.svc.Down(ctx, led.Name, teams.StopOptions{Reason: "the lead has gone", Force: true}, true)
	if err != nil {
		return err
	}
	return teams.Verdict(e)
}

// stands makes sure that a team is still the one that was made here.
func (s *Server) stands(ctx context.Context, led api.Team) error {
	now, err := s.o.Roster.Get(ctx, led.Name)
	if err != nil {
		return err
	}
	if at := api.At(now.CreatedAt); at == nil || led.CreatedAt == nil || at.String() != led.CreatedAt.String() {
		return fault.New(fault.Unproven, "team %s was made anew by somebody else", led.Name).
			WithHint("give its team_name if that one is meant")
	}
	return nil
}

// team is the team that is meant: the one named, the one led here, the one set, the
// only one. From then on it is watched.
func (s *Server) team(ctx context.Context, named string) (string, error) {
	if named == "" {
		led := s.led()
		if led.Name != "" {
			if err := s.stands(ctx, led); err != nil {
				return "", err
			}
		}
		named = cmp.Or(led.Name, s.o.Team)
	}
	name, err := s.svc.PickTeam(ctx, named, nil)
	if err != nil {
		return "", err
	}
	return name, s.watch.start(ctx, name)
}

// lead notes the team that was made here; an empty one, that it is gone.
func (s *Server) lead(team api.Team) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = team
}

// led is the team that was made here, and is not gone.
func (s *Server) led() api.Team {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}

// me is the name under which the caller stands in a team.
func (s *Server) me(t api.Team) string {
	if s.o.Caller.Teammate {
		return s.o.Caller.Name
	}
	for _, m := range t.Members {
		if m.AgentID == t.LeadAgentID {
			return m.Name
		}
	}
	return store.Lead
}
