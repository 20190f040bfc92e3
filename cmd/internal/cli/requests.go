package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

// Kinds of requests.
const (
	planRequest       = "plan"
	permissionRequest = "permission"
	dialogRequest     = "dialog"
	shutdownRequest   = "shutdown"
)

// request is what waits for an answer (requests, approve, deny).
type request struct {
	ID         string    `json:"id"`
	Kind       string    `json:"kind"` // plan, permission, dialog or shutdown
	From       string    `json:"from"`
	Status     string    `json:"status"`
	Text       string    `json:"text"`
	Answer     string    `json:"answer,omitempty"` // the command that answers a dialog
	Reason     string    `json:"reason,omitempty"` // what was answered
	AskedAt    *api.Time `json:"askedAt,omitempty"`
	ResolvedAt *api.Time `json:"resolvedAt,omitempty"`
}

type requestsOptions struct {
	All    bool
	Format string
}

func requestsCommand(a *app, run func(context.Context, *app, requestsOptions) error) *cobra.Command {
	o := requestsOptions{Format: "table"}
	c := command(a, "requests", run, &o, takes(0, 0), noFiles)
	c.Flags().BoolVar(&o.All, "all", false, "show answered requests too")
	c.Flags().Var(choice(&o.Format, []string{"table", "tmux"}), "format", "`table|tmux`; tmux is how many there are, for a status bar")
	return c
}

func runRequests(ctx context.Context, a *app, svc *teams.Service, team string, o requestsOptions) error {
	list, err := a.requests(ctx, svc, team, o.All)
	return a.answer(list, err, func(w io.Writer) {
		if o.Format == "tmux" {
			fmt.Fprintln(w, requestCount(len(list)))
			return
		}
		t := &table{head: []string{"ID", "KIND", "FROM", "STATUS", "SINCE", "WHAT"}, less: []string{"SINCE", "STATUS"}, none: "no requests"}
		for _, r := range list {
			text := r.Text
			if r.Answer != "" {
				text += "  (answer: " + r.Answer + ")"
			}
			t.add(r.ID, r.Kind, r.From, cell{r.Status, requestColor(r.Status)}, since(r.AskedAt), text)
		}
		a.table(w, t)
	})
}

// requestCount is how many requests wait, for tmux's status bar; "" if none does.
func requestCount(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("#[fg=yellow]requests: %d#[default]", n)
}

func requestColor(status string) string {
	return map[string]string{api.RequestOpen: "yellow", api.RequestApproved: "green", api.RequestRejected: "red", api.RequestReplaced: "dim"}[status]
}

// requests are those that the caller may answer.
func (a *app) requests(ctx context.Context, svc *teams.Service, team string, all bool) ([]request, error) {
	who, err := a.who()
	if err != nil {
		return nil, err
	}
	if who.Teammate {
		return ownShutdown(ctx, svc, team)
	}
	plans, err := svc.Plans(ctx, team, all)
	if err != nil {
		return nil, err
	}
	permissions, err := svc.Permissions(ctx, team, all)
	if err != nil {
		return nil, err
	}
	out := append(mapped(plans, planShown), mapped(permissions, permissionShown)...)
	members, _, err := svc.Members(ctx, team, false)
	if err != nil {
		return nil, err
	}
	return append(out, a.dialogs(members, out)...), nil
}

// dialogs are what teammates ask on their screens. Who waits for a permission asks the same
// there.
func (a *app) dialogs(members []api.Member, others []request) (out []request) {
	for _, m := range members {
		asks := slices.ContainsFunc(others, func(r request) bool {
			return store.SameName(r.From, m.Name) && r.Kind == permissionRequest && r.Status == api.RequestOpen
		})
		if m.AtDialog && !asks {
			out = append(out, request{ID: dialogRequest + ":" + m.Name, Kind: dialogRequest, From: m.Name, Status: api.RequestOpen, Text: m.Reason,
				Answer: a.forTeam("leadlight keys " + m.Name + " KEY…"), AskedAt: m.LastActivityAt})
		}
	}
	return out
}

// ownShutdown is the request to shut down that waits for the teammate who asks.
func ownShutdown(ctx context.Context, svc *teams.Service, team string) ([]request, error) {
	f, asked, err := svc.Asked(ctx, team)
	if err != nil || !asked {
		return []request{}, err
	}
	return []request{{ID: f.RequestID, Kind: shutdownRequest, From: store.Lead, Status: api.RequestOpen, Text: f.Reason}}, nil
}

func planShown(p api.Plan) request {
	return request{ID: p.ID, Kind: planRequest, From: p.From, Status: p.Status, Text: p.Plan, Reason: p.Feedback, AskedAt: p.SubmittedAt, ResolvedAt: p.ResolvedAt}
}

func permissionShown(p api.Permission) request {
	return request{ID: p.ID, Kind: permissionRequest, From: p.From, Status: p.Status, Reason: p.Reason, AskedAt: p.RequestedAt, ResolvedAt: p.ResolvedAt,
		Text: strings.Join(filled(p.Tool, p.Description, string(p.Input), p.Host), "  ")}
}

// answerOptions are those of approve and deny.
type answerOptions struct {
	IDs     []string
	Approve bool
	Text    string // feedback or reason
}

func approveCommand(a *app, run func(context.Context, *app, answerOptions) error) *cobra.Command {
	o := answerOptions{Approve: true}
	c := command(a, "approve", run, &o, several(0, &o.IDs), completeRequests(a))
	c.Flags().StringVar(&o.Text, "feedback", "", "`TEXT` for the author of a plan")
	return c
}

func denyCommand(a *app, run func(context.Context, *app, answerOptions) error) *cobra.Command {
	var o answerOptions
	c := command(a, "deny", run, &o, several(0, &o.IDs), completeRequests(a))
	c.Flags().StringVar(&o.Text, "reason", "", "`TEXT` that says why")
	return c
}

func runAnswer(ctx context.Context, a *app, o answerOptions) error {
	text, err := checkText(o.Text, "reason", store.MaxMessage)
	if err != nil {
		return err
	}
	who, err := a.who()
	switch {
	case err != nil:
		return err
	case len(o.IDs) == 0 && !who.Teammate:
		return usage("%s needs the ID of a request", map[bool]string{true: "leadlight approve", false: "leadlight deny"}[o.Approve]).WithHint("leadlight requests lists them")
	}
	svc, team, err := a.serve(ctx)
	if err != nil {
		return err
	}
	if who.Teammate {
		return a.answerShutdown(ctx, svc, team, o, text)
	}
	chosen, err := a.requestsNamed(ctx, svc, team, o.IDs)
	if err != nil {
		return err
	}
	var done []request
	for _, r := range chosen {
		r, err = resolve(ctx, svc.WithProgress(a.progress), team, r, o.Approve, text)
		if err != nil {
			break
		}
		done = append(done, r)
		a.say("%s %s of %s is %s", r.Kind, r.ID, r.From, r.Status)
	}
	switch {
	case len(done) == 0:
		return err
	case len(chosen) == 1:
		return a.answer(done[0], nil, func(io.Writer) {})
	}
	return errors.Join(a.answer(done, nil, func(io.Writer) {}), err)
}

// requestsNamed are the requests with the ids, each once: all are known before the first is
// answered.
func (a *app) requestsNamed(ctx context.Context, svc *teams.Service, team string, ids []string) (chosen []request, err error) {
	all, err := a.requests(ctx, svc, team, true)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		r, err := requestOf(all, team, id)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(chosen, func(c request) bool { return c.ID == r.ID && c.From == r.From }) {
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

// answerShutdown answers, as a teammate, its own request to shut down: the newest if none is
// named.
func (a *app) answerShutdown(ctx context.Context, svc *teams.Service, team string, o answerOptions, text string) error {
	if len(o.IDs) > 1 {
		return usage("a teammate has one request to answer, not %d", len(o.IDs))
	}
	id := first(o.IDs)
	own, err := ownShutdown(ctx, svc, team)
	if err != nil {
		return err
	}
	if r, err := requestOf(own, team, id); err == nil {
		id = r.ID
	}
	if _, err := svc.Plan(ctx, team, id); err == nil {
		return fault.New(fault.NotLead, "a teammate does not answer plans").WithHint("the lead does: leadlight approve %s", id)
	}
	if id, err = svc.AnswerShutdown(ctx, team, id, o.Approve, text); err != nil {
		return err
	}
	r := request{ID: id, Kind: shutdownRequest, From: store.Lead, Status: map[bool]string{true: api.RequestApproved, false: api.RequestRejected}[o.Approve], Reason: text}
	return a.answer(r, nil, func(io.Writer) { a.say("request %s is %s", r.ID, r.Status) })
}

// requestOf finds the request whose ID is, or begins with, id: an open one first.
func requestOf(list []request, team, id string) (request, error) {
	var found []request
	for _, r := range list {
		if r.ID == id {
			return r, nil
		}
		if id != "" && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	if open := slices.DeleteFunc(slices.Clone(found), func(r request) bool { return r.Status != api.RequestOpen }); len(open) > 0 {
		found = open
	}
	switch len(found) {
	case 0:
		return request{}, fault.New(fault.RequestNotFound, "team %s has no request %q", team, store.Shown(id)).WithHint("leadlight requests lists the open ones")
	case 1:
		return found[0], nil
	}
	ids := mapped(found, func(r request) string { return r.ID })
	return request{}, usage("%q begins the IDs of %d requests: %s", store.Shown(id), len(ids), strings.Join(ids, ", ")).WithHint("give more of the ID")
}

// resolve answers one request.
func resolve(ctx context.Context, svc *teams.Service, team string, r request, approve bool, text string) (request, error) {
	switch r.Kind {
	case planRequest:
		if !approve && store.Blank(text) {
			text = "The lead gives no reason. Ask what to change."
		}
		p, err := svc.ResolvePlan(ctx, team, r.ID, approve, text)
		return planShown(p), err
	case permissionRequest:
		p, err := svc.AnswerPermission(ctx, team, r.ID, approve, text)
		return permissionShown(p), err
	}
	return r, fault.New(fault.Unsupported, "a dialog of %s is answered with keys", r.From).
		WithHint("leadlight capture %s shows it; leadlight keys %s Enter presses a key", r.From, r.From)
}

// completeRequests offers the open requests.
func completeRequests(a *app) words {
	return a.offerOf(func(ctx context.Context, built *composition, team string) []string {
		list, _ := a.requests(ctx, built.service, team, false)
		return mapped(list, func(r request) string {
			return r.ID + "\t" + store.Shown(oneLine(fmt.Sprintf("%s of %s: %s", r.Kind, r.From, r.Text)))
		})
	})
}
