package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/leadlight-dev/leadlight/teams"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one tool: what is said of it, and what it does.
type tool struct {
	name, about string
	coordinates bool // it is offered in delegate mode
	anyLead     bool // it is not only for the process that leads the team
	readOnly    bool
	destroys    bool
	in          *jsonschema.Schema
	out         *jsonschema.Schema
	run         func(context.Context, *call, json.RawMessage) (result any, text string, err error)
}

// call is one call of a tool.
type call struct {
	req *sdk.CallToolRequest

	mu   sync.Mutex
	step float64
}

// define makes a tool of a function: its input and its result are structs, of which
// the schemas are made. words restricts text parameters to what is listed, for the
// model to know; the function itself judges them.
func define[In, Out any](name, about string, run func(context.Context, *call, In) (Out, string, error), words map[string][]string) tool {
	t := tool{name: name, about: about, coordinates: true, in: inputSchema[In](words), out: outputSchema[Out]()}
	t.run = func(ctx context.Context, c *call, raw json.RawMessage) (any, string, error) {
		var in In
		if err := decode(t.in, raw, &in); err != nil {
			return nil, "", err
		}
		return run(ctx, c, in)
	}
	return t
}

// inTeam is what the parameters of most tools begin with.
type inTeam struct {
	TeamName string `json:"team_name,omitempty" jsonschema:"the team; left out: yours"`
}

func (in inTeam) named() string { return in.TeamName }

// forTeam is run for the team that its parameters mean.
func forTeam[In interface{ named() string }, Out any](s *Server, run func(context.Context, *call, string, In) (Out, string, error)) func(context.Context, *call, In) (Out, string, error) {
	return func(ctx context.Context, c *call, in In) (out Out, text string, err error) {
		team, err := s.team(ctx, in.named())
		if err != nil {
			return out, "", err
		}
		return run(ctx, c, team, in)
	}
}

func (t tool) work() tool       { t.coordinates = false; return t }
func (t tool) forAnyLead() tool { t.anyLead = true; return t }
func (t tool) readsOnly() tool  { t.readOnly = true; return t }
func (t tool) ends() tool       { t.destroys = true; return t }

func (t tool) declare() *sdk.Tool {
	return &sdk.Tool{
		Name: t.name, Description: t.about, InputSchema: t.in, OutputSchema: t.out,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.readOnly, DestructiveHint: &t.destroys, OpenWorldHint: new(false)},
	}
}

// handler answers calls of a tool. What fails is an answer, too: only then the model
// gets to read it.
func (s *Server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.life, cancel)() // the SDK waits for calls that run
		var result any
		var text string
		err := s.mayLead(ctx, t, req.Params.Arguments)
		if err == nil {
			result, text, err = t.run(ctx, &call{req: req}, req.Params.Arguments)
		}
		if err != nil {
			e := told(t.name, err)
			result, text = failure{Error: e}, e.text()
		}
		raw, merr := json.Marshal(result)
		if merr != nil {
			return nil, merr
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.TextContent{Text: teams.Quoted(text)}}, StructuredContent: json.RawMessage(raw), IsError: err != nil,
		}, nil
	}
}

// progress tells the client, if it wants to know, what happens. It may be called
// concurrently.
func (c *call) progress(ctx context.Context, what string) {
	token := c.req.Params.GetProgressToken()
	if token == nil || c.req.Session == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step++
	// One that cannot be told has gone, and its call is cancelled.
	_ = c.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: c.step, Message: what})
}

// mayLead refuses to a second lead what is for the process that leads the team.
func (s *Server) mayLead(ctx context.Context, t tool, raw json.RawMessage) error {
	if s.o.Caller.Teammate || t.anyLead {
		return nil
	}
	var in inTeam
	if json.Unmarshal(raw, &in) != nil {
		return nil // the tool says what is wrong with its parameters
	}
	team, err := s.svc.PickTeam(ctx, cmp.Or(in.TeamName, s.led().Name, s.o.Team), nil)
	if err != nil {
		return nil // as above, with better words
	}
	return s.svc.OnlyLead(ctx, team, t.name)
}

// listed hides from the list of tools those that a lead in delegate mode does not use,
// however the mode was turned on.
func (s *Server) listed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		if err != nil || s.o.Caller.Teammate || !strings.HasSuffix(method, "/list") || !s.delegates(ctx) {
			return res, err
		}
		switch list := res.(type) {
		case *sdk.ListToolsResult:
			work := map[string]bool{}
			for _, t := range leadTools(s) {
				work[t.name] = !t.coordinates
			}
			list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *sdk.Tool) bool { return work[t.Name] })
		case *sdk.ListResourcesResult:
			list.Resources = slices.DeleteFunc(slices.Clone(list.Resources), func(r *sdk.Resource) bool { return strings.Contains(r.URI, "/"+paneKind+"/") })
		case *sdk.ListResourceTemplatesResult:
			list.ResourceTemplates = slices.DeleteFunc(slices.Clone(list.ResourceTemplates), func(r *sdk.ResourceTemplate) bool { return strings.Contains(r.URITemplate, "/"+paneKind+"/") })
		}
		return res, nil
	}
}

// delegates tells whether the team that is meant where none is named is in delegate mode.
func (s *Server) delegates(ctx context.Context) bool {
	team, err := s.svc.PickTeam(ctx, cmp.Or(s.led().Name, s.o.Team), nil)
	if err != nil {
		return false
	}
	on, err := s.svc.Delegate(ctx, team)
	return err == nil && on
}
