package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

type sendIn struct {
	Type      string `json:"type" jsonschema:"what kind of message it is, which says what else it needs"`
	TeamName  string `json:"team_name,omitempty" jsonschema:"message, broadcast, shutdown_request: the team"`
	Recipient string `json:"recipient,omitempty" jsonschema:"message, shutdown_request: name of the member"`
	Content   string `json:"content,omitempty" jsonschema:"message, broadcast: the text; shutdown_request: why it shall end"`
	Summary   string `json:"summary,omitempty" jsonschema:"message, broadcast: the text in a few words"`
	RequestID string `json:"request_id,omitempty" jsonschema:"the answers: id of the request"`
	Approve   *bool  `json:"approve,omitempty" jsonschema:"the answers: true to agree, false to refuse"`
	Feedback  string `json:"feedback,omitempty" jsonschema:"the answers: what is to be changed, or why it is refused"`
}

type sendOut struct {
	Success     bool       `json:"success"`
	Type        string     `json:"type,omitempty" jsonschema:"shutdown_approved or shutdown_rejected: what the answer to a shutdown_request is"`
	Sent        []api.Sent `json:"sent,omitempty" jsonschema:"one for each inbox"`
	RequestID   string     `json:"requestId,omitempty"`
	Outcome     string     `json:"outcome,omitempty" jsonschema:"how a teammate ended: approved, exited, terminated, killed, pane-killed"`
	Leftovers   []string   `json:"leftovers,omitempty" jsonschema:"what was left alone on purpose, and why"`
	PaneID      string     `json:"paneId,omitempty"`
	BackendType string     `json:"backendType,omitempty"`
}

// Types of SendMessage.
const (
	plainMessage     = "message"
	broadcast        = "broadcast"
	shutdownResponse = "shutdown_response"
)

func (in sendIn) named() string { return in.TeamName }

// messageType is one type of SendMessage: what it needs, and what it does.
type messageType struct {
	name  string
	needs []string
	send  func(context.Context, *call, sendIn) (sendOut, string, error)
}

func leadTypes(s *Server) []messageType {
	return append(mateTypes(s),
		messageType{store.ShutdownRequest, []string{"team_name", "recipient", "content"}, s.shutDown},
		messageType{store.PlanResponse, []string{"request_id", "approve"}, forTeam(s, s.answerPlan)},
		messageType{store.PermissionResponse, []string{"request_id", "approve"}, forTeam(s, s.answerPermission)},
	)
}

func mateTypes(s *Server) []messageType {
	return []messageType{
		{plainMessage, []string{"team_name", "recipient", "content", "summary"}, s.sendPlain},
		{broadcast, []string{"team_name", "content", "summary"}, s.sendAll},
		{shutdownResponse, []string{"request_id", "approve"}, forTeam(s, s.answerShutdown)},
	}
}

// sendMessage is the tool for messages of some types.
func sendMessage(s *Server, types []messageType) tool {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.name
	}
	run := func(ctx context.Context, c *call, in sendIn) (sendOut, string, error) {
		i := slices.Index(names, in.Type)
		if i < 0 {
			return sendOut{}, "", fault.New(fault.InvalidType, "%q is not a type of message", store.Shown(in.Type)).
				WithHint("the types are: %s", strings.Join(names, ", "))
		}
		if missing := in.missing(types[i].needs); missing != "" {
			return sendOut{}, "", fault.New(fault.InvalidArgument, "a %s needs the parameter %s", in.Type, missing).
				WithHint("a %s takes %s", in.Type, strings.Join(types[i].needs, ", "))
		}
		return types[i].send(ctx, c, in)
	}
	about := "Send a message to a teammate or to the lead (message), to every live member (broadcast: each has to read it, so use it sparingly), or answer a request."
	if slices.Contains(names, store.ShutdownRequest) {
		about += " A shutdown_request asks a teammate to end, waits for its answer, and ends it if it gives none; it is refused with REJECTED."
	}
	return define("SendMessage", about, run, map[string][]string{"type": names})
}

// missing names the first of the needed parameters that is not given.
func (in sendIn) missing(needs []string) string {
	given := map[string]bool{
		"team_name": in.TeamName != "", "recipient": in.Recipient != "", "content": !store.Blank(in.Content), "summary": !store.Blank(in.Summary),
		"request_id": in.RequestID != "", "approve": in.Approve != nil,
	}
	for _, name := range needs {
		if !given[name] {
			return name
		}
	}
	return ""
}

func (s *Server) sendPlain(ctx context.Context, _ *call, in sendIn) (sendOut, string, error) {
	if in.Recipient == "*" {
		return sendOut{}, "", fault.New(fault.RecipientNotFound, "team %s has no member \"*\"", in.TeamName).WithHint("to write to every live member, use type broadcast")
	}
	sent, err := s.svc.Send(ctx, in.TeamName, teams.SendSpec{To: in.Recipient, Text: in.Content, Summary: in.Summary})
	return sendOut{Success: err == nil, Sent: []api.Sent{sent}}, "Sent to " + in.Recipient + ".", err
}

func (s *Server) sendAll(ctx context.Context, _ *call, in sendIn) (sendOut, string, error) {
	sent, err := s.svc.Broadcast(ctx, in.TeamName, in.Content, in.Summary)
	names := make([]string, len(sent))
	for i, m := range sent {
		names[i] = m.To
	}
	text := "Nobody else is there."
	if len(names) > 0 {
		text = fmt.Sprintf("Sent to %d members: %s.", len(sent), strings.Join(names, ", "))
	}
	return sendOut{Success: err == nil, Sent: sent}, text, err
}

// shutDown walks the ladder with one teammate.
func (s *Server) shutDown(ctx context.Context, c *call, in sendIn) (sendOut, string, error) {
	before, err := s.o.Roster.Get(ctx, in.TeamName) // it may stand there no longer afterwards
	if err != nil && fault.CodeOf(err) != fault.TeamNotFound {
		return sendOut{}, "", err
	}
	e, err := s.svc.Stop(ctx, in.TeamName, []string{in.Recipient}, teams.StopOptions{
		Reason: in.Content, Progress: func(name, what string) { c.progress(ctx, name+": "+what) },
	})
	if err == nil {
		err = teams.Verdict(e)
	}
	if err != nil || len(e.Members) == 0 {
		return sendOut{}, "", err
	}
	m := e.Members[0]
	if m.Outcome == api.AlreadyStopped {
		return sendOut{}, "", fault.New(fault.RecipientInactive, "teammate %s had ended already", m.Name).
			WithHint("nothing is left to be done with it")
	}
	out := sendOut{Success: true, RequestID: m.RequestID, Outcome: m.Outcome, Leftovers: m.Leftovers}
	if was := before.Member(m.Name); was != nil {
		out.PaneID, out.BackendType = was.TmuxPaneID, was.BackendType
	}
	if m.Outcome == api.Approved {
		out.Type = store.ShutdownApproved
	}
	return out, fmt.Sprintf("%s has ended: %s.", m.Name, m.Outcome), nil
}

// answerShutdown answers, as a teammate, a request to end.
func (s *Server) answerShutdown(ctx context.Context, _ *call, team string, in sendIn) (sendOut, string, error) {
	id, err := s.svc.AnswerShutdown(ctx, team, in.RequestID, *in.Approve, cmp.Or(in.Feedback, in.Content))
	if err != nil {
		return sendOut{}, "", err
	}
	out := sendOut{Success: true, Type: store.ShutdownRejected, RequestID: id}
	if !*in.Approve {
		return out, "You go on. The lead has your answer.", nil
	}
	out.Type = store.ShutdownApproved
	if t, err := s.svc.Team(ctx, team); err == nil {
		for _, m := range t.Members {
			if store.SameName(m.Name, s.o.Caller.Name) {
				out.PaneID, out.BackendType = m.TmuxPaneID, m.BackendType
			}
		}
	}
	return out, "The lead has your answer. End now.", nil
}

// noReason is told where a refusal comes without one, for the other side has to say
// something to its model.
const noReason = "no reason was given"

func (s *Server) answerPlan(ctx context.Context, _ *call, team string, in sendIn) (sendOut, string, error) {
	feedback := in.Feedback
	if !*in.Approve {
		feedback = cmp.Or(strings.TrimSpace(in.Feedback), noReason)
	}
	p, err := s.svc.ResolvePlan(ctx, team, in.RequestID, *in.Approve, feedback)
	return sendOut{Success: err == nil, RequestID: p.ID}, fmt.Sprintf("The plan of %s is %s.", p.From, p.Status), err
}

func (s *Server) answerPermission(ctx context.Context, _ *call, team string, in sendIn) (sendOut, string, error) {
	p, err := s.svc.AnswerPermission(ctx, team, in.RequestID, *in.Approve, in.Feedback)
	return sendOut{Success: err == nil, RequestID: p.ID}, fmt.Sprintf("The request of %s for %s is %s.", p.From, p.Tool, p.Status), err
}

type planIn struct {
	inTeam
	Plan string `json:"plan" jsonschema:"what you are going to do, for the lead to approve"`
	Path string `json:"plan_file_path,omitempty" jsonschema:"the file that holds the plan, if there is one"`
}

type planOut struct {
	Success   bool   `json:"success"`
	RequestID string `json:"requestId"`
}

func (s *Server) submitPlan(ctx context.Context, _ *call, team string, in planIn) (planOut, string, error) {
	p, err := s.svc.SubmitPlan(ctx, team, in.Plan, in.Path)
	return planOut{err == nil, p.ID}, "The lead has your plan. Wait for the answer (WaitForEvents) before you change anything.", err
}
