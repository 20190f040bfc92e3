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
	return group("run item", itemAddCommand(a, runItemAdd), itemListCommand(a, byDaemon(runItemList)), itemUpdateCommand(a, runItemUpdate),
		itemMoveCommand(a, runItemMove), only(a, "run item rm", byLead("delete an item", byDaemon(runItemRemove)), one, noFiles))
}

type itemOptions struct {
	Run, ID, Title, Description, Owner, Parent, Status, Result, Before, After string
	BlockedBy                                                                 []string
	Given                                                                     func(string) bool
}

func (o *itemOptions) runFlag(a *app, c *cobra.Command) {
	c.Flags().Var(given(&o.Run), "run", "`ID` of the run, if not the newest")
	_ = c.RegisterFlagCompletionFunc("run", completeRuns(a))
}

func itemAddCommand(a *app, run func(context.Context, *app, itemOptions) error) *cobra.Command {
	var o itemOptions
	c := command(a, "run item add", run, &o, one(&o.Title), noFiles)
	f := c.Flags()
	f.StringVarP(&o.Description, "description", "d", "", "`TEXT` of the whole item; - is standard input")
	f.StringVar(&o.Owner, "owner", "", "`ROLE` that carries it out: a member of the team, a profile, or lead")
	f.Var(given(&o.Parent), "parent", "`ID` of the item that it is a part of")
	f.Var(givenList(&o.BlockedBy), "blocked-by", "`ID,…` of the items that come before")
	o.runFlag(a, c)
	return c
}

// theRun is the run that is named, or the newest.
func theRun(ctx context.Context, c *rpc.Client, id string) (api.AgentTeamRun, error) {
	if id != "" {
		return rpc.Do[api.AgentTeamRun](ctx, c, "teamRun:get", api.IDParams{ID: id})
	}
	list, err := rpc.Do[[]api.AgentTeamRun](ctx, c, "teamRun:list", api.RunsParams{Limit: 1})
	if err == nil && len(list) == 0 {
		err = fault.New(fault.RunNotFound, "there is no run yet").WithHint("leadlight run create leadlight.yaml begins one")
	}
	return append(list, api.AgentTeamRun{})[0], err
}

// itemID completes the beginning of an item's id.
func itemID(ctx context.Context, c *rpc.Client, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	it, err := rpc.Do[api.AgentTeamItem](ctx, c, "teamItem:get", api.IDParams{ID: id})
	return it.ID, err
}

// roleNamed is the role that somebody means: a member of the run's team, by its name or
// the whole of its role, or any.
func roleNamed(ctx context.Context, c *rpc.Client, r api.AgentTeamRun, name string) (string, error) {
	if name == "" || name == store.Lead {
		return map[string]string{store.Lead: api.LeadRole}[name], nil
	}
	members, err := rpc.Do[[]api.AgentTeamMember](ctx, c, "teamMember:list", api.TeamIDParams{TeamID: r.TeamID})
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
	list, err := rpc.Do[[]api.AgentRole](ctx, c, "agentRole:list", nil)
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

func runItemAdd(ctx context.Context, a *app, o itemOptions) error {
	text, err := a.text(o.Description, "description", store.MaxMessage)
	if err != nil {
		return err
	}
	c, err := a.daemon(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := theRun(ctx, c, o.Run)
	if err != nil {
		return err
	}
	p := api.ItemParams{TeamRunID: r.ID, Title: o.Title, Description: text, BlockedBy: o.BlockedBy}
	if p.OwnerAgentRoleID, err = roleNamed(ctx, c, r, o.Owner); err != nil {
		return err
	}
	if p.ParentItemID, err = itemID(ctx, c, o.Parent); err != nil {
		return err
	}
	return a.item(rpc.Do[api.AgentTeamItem](ctx, c, "teamItem:create", p))
}

// item answers with an item.
func (a *app) item(it api.AgentTeamItem, err error) error {
	if err != nil {
		return err
	}
	return a.answer(itemShown(it), func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", short(it.ID), it.Status) })
}

func itemListCommand(a *app, run func(context.Context, *app, itemOptions) error) *cobra.Command {
	var o itemOptions
	c := command(a, "run item ls", run, &o, takes(0, 0), noFiles)
	o.runFlag(a, c)
	return c
}

func runItemList(ctx context.Context, a *app, c *rpc.Client, o itemOptions) error {
	r, err := theRun(ctx, c, o.Run)
	if err != nil {
		return err
	}
	report, err := rpc.Do[api.RunReport](ctx, c, "teamRun:report", api.IDParams{ID: r.ID})
	if err != nil {
		return err
	}
	return a.answer(mapped(report.Items, itemShown), func(w io.Writer) { a.table(w, itemTable(report.Items, report.Tasks)) })
}

func itemUpdateCommand(a *app, run func(context.Context, *app, itemOptions) error) *cobra.Command {
	var o itemOptions
	c := command(a, "run item update", run, &o, one(&o.ID), noFiles)
	f := c.Flags()
	o.Given = f.Changed
	f.StringVar(&o.Title, "title", "", "`TEXT` of the title")
	f.StringVarP(&o.Description, "description", "d", "", "`TEXT` of the whole item; - is standard input")
	f.StringVar(&o.Owner, "owner", "", "`ROLE` that carries it out; empty: nobody")
	words := []string{api.ItemTodo, api.ItemInProgress, api.ItemBlocked, api.ItemDone, api.ItemFailed}
	f.Var(choice(&o.Status, words), "status", "`STATUS`: todo, in_progress, blocked, done, failed")
	f.StringVar(&o.Result, "result", "", "`TEXT` that says what came of it")
	return c
}

func runItemUpdate(ctx context.Context, a *app, o itemOptions) error {
	text, err := a.text(o.Description, "description", store.MaxMessage)
	if err != nil {
		return err
	}
	p := api.ItemChange{}
	for flag, f := range map[string]struct {
		to   **string
		from string
	}{"title": {&p.Title, o.Title}, "description": {&p.Description, text}, "owner": {&p.OwnerAgentRoleID, o.Owner}, "status": {&p.Status, o.Status}, "result": {&p.ResultSummary, o.Result}} {
		if o.Given(flag) {
			*f.to = &f.from
		}
	}
	if p == (api.ItemChange{}) {
		return usage("nothing to change").WithHint("leadlight run item update --help shows what can be changed")
	}
	c, err := a.daemon(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	it, err := rpc.Do[api.AgentTeamItem](ctx, c, "teamItem:get", api.IDParams{ID: o.ID})
	if err != nil {
		return err
	}
	if err := a.ownItem(ctx, c, it); err != nil {
		return err
	}
	p.ID = it.ID
	if p.OwnerAgentRoleID != nil {
		owner, err := roleNamed(ctx, c, api.AgentTeamRun{TeamID: teamOf(ctx, c, it)}, o.Owner)
		if err != nil {
			return err
		}
		p.OwnerAgentRoleID = &owner
	}
	return a.item(rpc.Do[api.AgentTeamItem](ctx, c, "teamItem:update", p))
}

// ownItem refuses a teammate an item that it does not work on: those are the lead's.
func (a *app) ownItem(ctx context.Context, c *rpc.Client, it api.AgentTeamItem) error {
	s, err := a.set(nil)
	if err != nil {
		return err
	}
	who, err := a.caller(s)
	if err != nil || !who.Teammate {
		return err
	}
	report, err := rpc.Do[api.RunReport](ctx, c, "teamRun:report", api.IDParams{ID: it.TeamRunID})
	if err != nil {
		return err
	}
	mine := func(t api.RunTask) bool { return t.ID == it.SourceTaskID && store.SameName(t.Assignee, who.Name) }
	if s.Team.V == report.LiveTeam && slices.ContainsFunc(report.Tasks, mine) {
		return nil
	}
	return fault.New(fault.NotLead, "teammate %s cannot change %q: it is not its own item", who.Name, oneLine(it.Title)).WithHint("ask the lead: leadlight send team-lead TEXT")
}

// teamOf is the id of the team of an item's run; "" if the run is gone, which the
// next call says.
func teamOf(ctx context.Context, c *rpc.Client, it api.AgentTeamItem) string {
	r, _ := rpc.Do[api.AgentTeamRun](ctx, c, "teamRun:get", api.IDParams{ID: it.TeamRunID})
	return r.TeamID
}

func itemMoveCommand(a *app, run func(context.Context, *app, itemOptions) error) *cobra.Command {
	var o itemOptions
	c := command(a, "run item mv", run, &o, one(&o.ID), noFiles)
	o.Given = c.Flags().Changed
	c.Flags().Var(given(&o.Before), "before", "put it before the item `ID`")
	c.Flags().Var(given(&o.After), "after", "put it after the item `ID`")
	c.Flags().StringVar(&o.Parent, "parent", "", "make it a part of the item `ID`; empty: of none")
	return c
}

func runItemMove(ctx context.Context, a *app, o itemOptions) error {
	if (o.Before == "") == (o.After == "") && !o.Given("parent") {
		return usage("leadlight run item mv takes --before ID, --after ID or --parent ID")
	}
	if err := a.leadOnly("move an item"); err != nil {
		return err
	}
	c, err := a.daemon(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	p := api.ItemMove{}
	var parent string
	for _, id := range []struct {
		to   *string
		from string
	}{{&p.ID, o.ID}, {&p.BeforeID, o.Before}, {&p.AfterID, o.After}, {&parent, o.Parent}} {
		if *id.to, err = itemID(ctx, c, id.from); err != nil {
			return err
		}
	}
	if o.Given("parent") {
		p.ParentItemID = &parent
	}
	return a.item(rpc.Do[api.AgentTeamItem](ctx, c, "teamItem:move", p))
}

func runItemRemove(ctx context.Context, a *app, c *rpc.Client, id string) error {
	id, err := itemID(ctx, c, id)
	if err != nil {
		return err
	}
	if err := c.Call(ctx, "teamItem:delete", api.IDParams{ID: id}, nil); err != nil {
		return err
	}
	return a.answer(removedTask{id, true}, func(io.Writer) { a.say("item %s is removed", short(id)) })
}
