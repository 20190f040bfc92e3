package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/tail"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/spf13/cobra"
)

type runShowOptions struct {
	ID, SVG  string
	Timeline bool
}

func runShowCommand(a *app, run func(context.Context, *app, runShowOptions) error) *cobra.Command {
	var o runShowOptions
	c := command(a, "run show", run, &o, optional(&o.ID), completeRuns(a))
	c.Flags().BoolVar(&o.Timeline, "timeline", false, "draw who worked when")
	c.Flags().Var(given(&o.SVG), "svg", "write that picture to `FILE`")
	_ = c.MarkFlagFilename("svg", "svg")
	return c
}

// reportOf is all of the run that is named, or of the newest.
func reportOf(ctx context.Context, a *app, id string) (api.RunReport, error) {
	if id == "" {
		r, err := theRun(ctx, a, id)
		if err != nil {
			return api.RunReport{}, err
		}
		id = r.ID
	}
	return ask[api.RunReport](ctx, a, "teamRun:report", api.IDParams{ID: id})
}

func runRunShow(ctx context.Context, a *app, o runShowOptions) error {
	report, err := reportOf(ctx, a, o.ID)
	if err != nil {
		return err
	}
	o.SVG = a.fromHome(o.SVG)
	line := timelineOf(report, time.Now().UnixMilli())
	if o.SVG != "" {
		if err := files.CheckFolderOf("the picture", o.SVG); err != nil {
			return err
		}
		var b bytes.Buffer
		line.svg(&b)
		if err := os.WriteFile(o.SVG, b.Bytes(), 0o644); err != nil {
			return fault.New(fault.Of(err).Code, "write the picture: %w", err)
		}
		a.say("the timeline is in %s", o.SVG)
	}
	return a.answer(reportShown(report), nil, func(w io.Writer) {
		if o.Timeline {
			line.text(w, width(a.out.w), a.colors(a.out.w))
			return
		}
		a.showRun(w, report)
	})
}

// statusColor is how the status of a run or an item looks.
func statusColor(status string) string {
	switch status {
	case api.RunRunning, api.RunCompleted, api.ItemInProgress, api.ItemDone:
		return "green"
	case api.RunPaused, api.ItemBlocked:
		return "yellow"
	case api.RunFailed: // an item's, too
		return "red"
	}
	return ""
}

// showRun prints a run for people.
func (a *app) showRun(w io.Writer, r api.RunReport) {
	colors := a.colors(w)
	fmt.Fprintf(w, "run %s of team %s: %s\n", r.Run.ID, oneLine(r.Team.Name), paint(r.Run.Status, statusColor(r.Run.Status), colors))
	if r.Run.Error == r.Run.Summary {
		r.Run.Error = "" // one of the two is enough
	}
	fields(w, 10, [][2]string{
		{"started", clock(r.Run.StartedAt)}, {"took", took(r.Run.StartedAt, r.Run.CompletedAt)}, {"summary", r.Run.Summary},
		{"error", r.Run.Error}, {"live team", r.LiveTeam}, {"usage", usageShown(r.Usage)},
	})
	if len(r.Items) > 0 {
		fmt.Fprintln(w)
		itemTable(r.Items, r.Tasks).write(w, width(a.out.w), colors)
	}
	if len(r.Members) > 0 {
		fmt.Fprintln(w)
		t := &table{head: []string{"TEAMMATE", "ROLE", "UP", "WORKED", "ITEMS", "RETRIES"}}
		for _, m := range r.Members {
			t.add(m.Name, m.AgentRoleID, took(m.StartedAt, m.EndedAt), took(0, max(m.BusyMs, 1)), m.Items, m.Retries)
		}
		t.write(w, width(a.out.w), colors)
	}
}

// usageShown is what work has cost, "" where nobody has told.
func usageShown(u *api.Usage) string {
	if u == nil {
		return ""
	}
	return u.String()
}

// itemTable is a checklist. tasks tell who worked on its items, and how long.
func itemTable(items []api.AgentTeamItem, tasks []api.RunTask) *table {
	t := &table{head: []string{"ITEM", "TITLE", "PART OF", "BLOCKED BY", "OWNER", "STATUS", "TOOK", "RESULT"}, less: []string{"TOOK", "PART OF", "BLOCKED BY", "OWNER"}}
	of := map[string]api.RunTask{}
	for _, k := range tasks {
		of[k.ID] = k
	}
	for _, it := range items {
		title, time, owner := it.Title, "", it.OwnerAgentRoleID
		if it.ParentItemID != "" {
			title = "  " + title
		}
		if k, ok := of[it.SourceTaskID]; ok {
			time = took(k.StartedAt, k.CompletedAt)
			if k.Assignee != path.Base(owner) { // one of several of the role
				owner += " (" + k.Assignee + ")"
			}
		}
		t.add(short(it.ID), title, short(it.ParentItemID), strings.Join(mapped(it.BlockedBy, short), ", "), owner, cell{it.Status, statusColor(it.Status)}, time, tail.LastLine(it.ResultSummary))
	}
	return t
}
