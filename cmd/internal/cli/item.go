package cli

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
)

func itemCommand(a *app) *cobra.Command {
	return group("run item", itemAddCommand(a, runItemAdd), itemListCommand(a, runItemList), itemUpdateCommand(a, runItemUpdate),
		itemMoveCommand(a, byLead("move an item", runItemMove)), only(a, "run item rm", byLead("delete an item", runItemRemove), one, noFiles))
}

// ofRun adds the flag that names a run.
func ofRun(a *app, c *cobra.Command, run *string) {
	c.Flags().Var(given(run), "run", "`ID` of the run, if not the newest")
	_ = c.RegisterFlagCompletionFunc("run", completeRuns(a))
}

// The options of add, update and mv are the parameters of the API as they are written: ids may
// be cut short, and roles are names.

func itemAddCommand(a *app, run func(context.Context, *app, api.ItemParams) error) *cobra.Command {
	var o api.ItemParams
	c := command(a, "run item add", run, &o, one(&o.Title), noFiles)
	f := c.Flags()
	f.StringVarP(&o.Description, "description", "d", "", "`TEXT` of the whole item; - is standard input")
	f.StringVar(&o.OwnerAgentRoleID, "owner", "", "`ROLE` that carries it out: a member of the team, a profile, or lead")
	f.Var(given(&o.ParentItemID), "parent", "`ID` of the item that it is a part of")
	f.Var(givenList(&o.BlockedBy), "blocked-by", "`ID,…` of the items that come before")
	ofRun(a, c, &o.TeamRunID)
	return c
}

// theRun is the run that is named, or the newest.
func theRun(ctx context.Context, a *app, id string) (api.AgentTeamRun, error) {
	if id != "" {
		return ask[api.AgentTeamRun](ctx, a, "teamRun:get", api.IDParams{ID: id})
	}
	list, err := ask[[]api.AgentTeamRun](ctx, a, "teamRun:list", api.RunsParams{Limit: 1})
	if err == nil && len(list) == 0 {
		err = fault.New(fault.RunNotFound, "there is no run yet").WithHint("leadlight run create leadlight.yaml begins one")
	}
	return append(list, api.AgentTeamRun{})[0], err
}

// itemID completes the beginning of an item's id.
func itemID(ctx context.Context, a *app, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	it, err := ask[api.AgentTeamItem](ctx, a, "teamItem:get", api.IDParams{ID: id})
	return it.ID, err
}

// roleNamed is the role that somebody means: a member of the team with an id, by its name or
// the whole of its role, or any.
func roleNamed(ctx context.Context, a *app, team, name string) (string, error) {
	if name == "" || name == store.Lead {
		return map[string]string{store.Lead: api.LeadRole}[name], nil
	}
	members, err := ask[[]api.AgentTeamMember](ctx, a, "teamMember:list", api.TeamIDParams{TeamID: team})
	if err != nil {
		return "", err
	}
	names := []string{api.LeadRole}
	for _, m := range members {
		own := path.Base(m.AgentRoleID) // of TEAM/MEMBER
		if store.SameName(own, name) {
			return m.AgentRoleID, nil
		}
		names = append(names, own)
	}
	list, err := ask[[]api.AgentRole](ctx, a, "agentRole:list", nil)
	if err != nil {
		return "", err
	}
	for _, r := range list {
		if r.ID == name {
			return name, nil
		}
		if !strings.Contains(r.ID, "/") && !slices.Contains(names, r.ID) {
			names = append(names, r.ID)
		}
	}
	return "", fault.New(fault.ProfileNotFound, "there is no role %q", name).WithHint("the roles are %s", strings.Join(names, ", "))
}

func runItemAdd(ctx context.Context, a *app, p api.ItemParams) (err error) {
	if p.Description, err = a.text(p.Description, "description", store.MaxMessage); err != nil {
		return err
	}
	r, err := theRun(ctx, a, p.TeamRunID)
	if err != nil {
		return err
	}
	p.TeamRunID = r.ID
	if p.OwnerAgentRoleID, err = roleNamed(ctx, a, r.TeamID, p.OwnerAgentRoleID); err != nil {
		return err
	}
	if p.ParentItemID, err = itemID(ctx, a, p.ParentItemID); err != nil {
		return err
	}
	return a.item(ctx, "teamItem:create", p)
}

// item answers with the item that a method returns.
func (a *app) item(ctx context.Context, method string, params any) error {
	it, err := ask[api.AgentTeamItem](ctx, a, method, params)
	return a.answer(itemShown(it), err, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", short(it.ID), it.Status) })
}

func itemListCommand(a *app, run func(context.Context, *app, string) error) *cobra.Command {
	var of string
	c := command(a, "run item ls", run, &of, takes(0, 0), noFiles)
	ofRun(a, c, &of)
	return c
}

func runItemList(ctx context.Context, a *app, run string) error {
	report, err := reportOf(ctx, a, run)
	return a.answer(mapped(report.Items, itemShown), err, func(w io.Writer) { a.table(w, itemTable(report.Items, report.Tasks)) })
}

func itemUpdateCommand(a *app, run func(context.Context, *app, api.ItemChange) error) *cobra.Command {
	var o api.ItemChange
	c := command(a, "run item update", run, &o, one(&o.ID), noFiles)
	f := c.Flags()
	f.Var(maybe(&o.Title), "title", "`TEXT` of the title")
	f.VarP(maybe(&o.Description), "description", "d", "`TEXT` of the whole item; - is standard input")
	f.Var(maybe(&o.OwnerAgentRoleID), "owner", "`ROLE` that carries it out; empty: nobody")
	words := []string{api.ItemTodo, api.ItemInProgress, api.ItemBlocked, api.ItemDone, api.ItemFailed}
	f.Var(maybeChoice(&o.Status, words), "status", "`STATUS`: todo, in_progress, blocked, done, failed")
	f.Var(maybe(&o.ResultSummary), "result", "`TEXT` that says what came of it")
	return c
}

func runItemUpdate(ctx context.Context, a *app, p api.ItemChange) error {
	if p == (api.ItemChange{ID: p.ID}) {
		return usage("nothing to change").WithHint("leadlight run item update --help shows what can be changed")
	}
	if err := a.maybeText(p.Description, "description"); err != nil {
		return err
	}
	it, err := ask[api.AgentTeamItem](ctx, a, "teamItem:get", api.IDParams{ID: p.ID})
	if err != nil {
		return err
	}
	if err := a.ownItem(ctx, it); err != nil {
		return err
	}
	p.ID = it.ID
	if p.OwnerAgentRoleID != nil {
		r, _ := ask[api.AgentTeamRun](ctx, a, "teamRun:get", api.IDParams{ID: it.TeamRunID}) // that it is gone, the next call says
		if *p.OwnerAgentRoleID, err = roleNamed(ctx, a, r.TeamID, *p.OwnerAgentRoleID); err != nil {
			return err
		}
	}
	return a.item(ctx, "teamItem:update", p)
}

// ownItem refuses a teammate an item that it does not work on: those are the lead's.
func (a *app) ownItem(ctx context.Context, it api.AgentTeamItem) error {
	who, err := a.who()
	if err != nil || !who.Teammate {
		return err
	}
	report, err := reportOf(ctx, a, it.TeamRunID)
	if err != nil {
		return err
	}
	mine := func(t api.RunTask) bool { return t.ID == it.SourceTaskID && store.SameName(t.Assignee, who.Name) }
	if a.settings.Team.V == report.LiveTeam && slices.ContainsFunc(report.Tasks, mine) {
		return nil
	}
	return fault.New(fault.NotLead, "teammate %s cannot change %q: it is not its own item", who.Name, oneLine(it.Title)).WithHint("ask the lead: leadlight send team-lead TEXT")
}

func itemMoveCommand(a *app, run func(context.Context, *app, api.ItemMove) error) *cobra.Command {
	var o api.ItemMove
	args := func(c *cobra.Command, args []string) error {
		if err := one(&o.ID)(c, args); err != nil {
			return err
		}
		if (o.BeforeID == "") == (o.AfterID == "") && o.ParentItemID == nil {
			return usage("leadlight run item mv takes --before ID, --after ID or --parent ID")
		}
		return nil
	}
	c := command(a, "run item mv", run, &o, args, noFiles)
	c.Flags().Var(given(&o.BeforeID), "before", "put it before the item `ID`")
	c.Flags().Var(given(&o.AfterID), "after", "put it after the item `ID`")
	c.Flags().Var(maybe(&o.ParentItemID), "parent", "make it a part of the item `ID`; empty: of none")
	return c
}

func runItemMove(ctx context.Context, a *app, p api.ItemMove) (err error) {
	ids := []*string{&p.ID, &p.BeforeID, &p.AfterID}
	if p.ParentItemID != nil {
		ids = append(ids, p.ParentItemID)
	}
	for _, id := range ids {
		if *id, err = itemID(ctx, a, *id); err != nil {
			return err
		}
	}
	return a.item(ctx, "teamItem:move", p)
}

func runItemRemove(ctx context.Context, a *app, id string) error {
	id, err := itemID(ctx, a, id)
	if err != nil {
		return err
	}
	_, err = ask[rpc.Nothing](ctx, a, "teamItem:delete", api.IDParams{ID: id})
	return a.answer(removedTask{id, true}, err, func(io.Writer) { a.say("item %s is removed", short(id)) })
}
