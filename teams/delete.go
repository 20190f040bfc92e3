package teams

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// DeleteOptions say how a team is deleted.
type DeleteOptions struct {
	Backup string // path of a .tar.gz that is written and read back first; "": none
	Force  bool   // also when a member could not be observed
}

// DeleteTeam removes a team with its mail and tasks. It refuses while a member
// lives (fault.ActiveMembers, with the names) and then changes nothing. A ghost
// does not block. A damaged roster is not deleted: what it holds is not known. Of a team
// whose folder is a link the link is removed, and what it leads to stays.
func (rm *remover) DeleteTeam(ctx context.Context, name string, o DeleteOptions) error {
	if err := rm.leadOnly("delete a team"); err != nil {
		return err
	}
	t, err := rm.get(ctx, name)
	linked := fault.CodeOf(err) == fault.PermissionDenied && o.Backup == "" && rm.isLink(name)
	if linked {
		t.Name, err = name, nil
	}
	if err != nil {
		return err
	}
	release, err := rm.panes.Guard(ctx, t.Name, "delete the team")
	if err != nil {
		return fmt.Errorf("delete team %s: %w", t.Name, err)
	}
	defer release()
	if !linked {
		return rm.deleteGuarded(ctx, t.Name, o)
	}
	if err := rm.refuseUnnamed(ctx, name, nil, "put its folder in the place of the link, then leadlight down "+shell.Line(name)); err != nil {
		return err
	}
	return rm.roster.Delete(ctx, name)
}

// isLink tells whether the folder of a team is a link.
func (rg *registry) isLink(team string) bool {
	info, err := os.Lstat(filepath.Join(rg.base, "teams", team))
	return err == nil && store.CheckTeam(team) == nil && info.Mode().Type() == os.ModeSymlink
}

// deleteGuarded is DeleteTeam for one who keeps others from adding to the team.
func (rm *remover) deleteGuarded(ctx context.Context, name string, o DeleteOptions) error {
	t, err := rm.get(ctx, name)
	if err != nil {
		return err
	}
	if err := rm.ownTeam(t, "delete"); err != nil {
		return err
	}
	seen := rm.observe(ctx, t, t.Teammates())
	if err := rm.refuseActive(t, seen, o.Force); err != nil {
		return err
	}
	if err := rm.refuseUnnamed(ctx, t.Name, t.Members, "mend the team's config.json (leadlight doctor names it), then leadlight down "+shell.Line(t.Name)); err != nil {
		return err
	}
	if o.Backup != "" {
		if t.Engine != "" {
			return fault.New(fault.Unsupported, "team %s is on the engine %s, whose content no backup of files holds", t.Name, t.Engine).WithHint("nats stream backup keeps what is on the engine")
		}
		if err := rm.backup(ctx, t.Name, o.Backup); err != nil {
			return fmt.Errorf("back team %s up: %w", t.Name, err)
		}
	}
	for i, m := range t.Teammates() {
		if m.Leadlight == nil || m.Unsafe || seen[i].State == api.StateUnknown || rm.elsewhere(m) && (!rm.routed(m) || m.Leadlight.State == api.StateStopped) {
			continue // not ours, or not observed: nothing of it is ended
		}
		if rm.elsewhere(m) { // it has failed, and its pane may be there to be read
			ends, err := rm.Stop(ctx, t.Name, []string{m.Name}, StopOptions{})
			if err == nil {
				err = Verdict(ends)
			}
			if err != nil && !o.Force {
				return fmt.Errorf("end what is left of %s: %w", m.Name, err)
			}
			continue
		}
		obs := rm.observed(ctx, t.Name, m)
		if e := rm.panes.End(ctx, rm.target(t, m, obs), rm.limits.Term, rm.limits.Kill); e.Outcome == api.UnprovenStop && !o.Force {
			return fault.New(fault.Unproven, "%s is not proved to be gone: %s", m.Name, e.Reason).
				WithHint("leadlight team delete %s --force deletes the files all the same", shell.Line(t.Name))
		}
	}
	rm.panes.TidyRun(ctx)
	rm.removeWorktrees(ctx, t.Name)
	if err := rm.roster.Delete(ctx, t.Name); err != nil {
		return fmt.Errorf("delete team %s: %w", t.Name, err)
	}
	return nil
}

// goingLook is how often it is looked whether a host that has written its end down is gone.
const goingLook = 20 * time.Millisecond

// refuseUnnamed refuses while a host of the team runs that its roster does not name: the
// roster was damaged, and without the team's files nobody would find that host again. One that
// has written its end down is about to go, and another lead's roster has forgotten it: it is
// waited for.
func (rg *registry) refuseUnnamed(ctx context.Context, team string, members []store.Member, instead string) error {
	var named, living []string
	for _, m := range members {
		named = append(named, m.Name)
	}
	running := func(o panes.Owner) bool {
		rec, err := rg.panes.Records().Host(ctx, o.Team, o.Agent)
		return err != nil || rec.Ended == nil
	}
	limit := time.Now().Add(rg.limits.Term)
	found, err := rg.panes.Unnamed(ctx, team, named)
	for err == nil && len(found) > 0 && !slices.ContainsFunc(found, running) && time.Now().Before(limit) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(goingLook):
		}
		found, err = rg.panes.Unnamed(ctx, team, named)
	}
	if err != nil {
		return fmt.Errorf("look for hosts of team %s: %w", team, err)
	}
	for _, o := range found {
		living = append(living, store.Shown(o.Agent))
	}
	if len(living) == 0 {
		return nil
	}
	return fault.New(fault.ActiveMembers, "team %s has live members that no roster names: %s", team, strings.Join(living, ", ")).
		WithHint("%s", instead)
}

func (rm *remover) refuseActive(t store.Team, seen []api.Member, force bool) error {
	var active, unseen []string
	way := "leadlight down " + shell.Line(t.Name) + " stops them first"
	without := fmt.Sprintf("leadlight team delete %s --force deletes the files all the same and ends nothing", shell.Line(t.Name))
	for _, m := range seen {
		entry := t.Member(m.Name)
		switch {
		case m.State == api.StateUnknown:
			if len(unseen) == 0 && entry != nil && entry.Leadlight != nil && entry.Leadlight.Host != "" {
				without = "leadlight stop " + store.Shown(m.Name) + " ends it if it proves to be ours; " + without
			}
			unseen = append(unseen, store.Shown(m.Name)+" ("+m.Reason+")")
		case m.Live():
			active = append(active, store.Shown(m.Name)+" ("+m.State+")")
			if entry != nil && (ofItsLead(t, *entry) || rm.elsewhere(*entry) && !rm.routed(*entry)) {
				way = store.Shown(m.Name) + ": " + rm.howToEnd(t, *entry)
			}
		}
	}
	if len(active) > 0 {
		return fault.New(fault.ActiveMembers, "team %s has live members: %s", t.Name, strings.Join(active, ", ")).WithHint("%s", way)
	}
	if len(unseen) > 0 && !force {
		return fault.New(fault.ActiveMembers, "team %s has members that could not be observed: %s", t.Name, strings.Join(unseen, ", ")).WithHint("%s", without)
	}
	return nil
}

// Down stops every teammate that leadlight started and then, unless keep is set,
// deletes the team. If one does not end, or the team's own lead runs, it stays.
func (rm *remover) Down(ctx context.Context, team string, o StopOptions, keep bool) (api.Endings, error) {
	t, err := rm.get(ctx, team)
	was := err == nil
	if was {
		defer rm.panes.NoteDown(t.Name)()
	}
	for tries := 1; ; tries++ {
		out, err := rm.Stop(ctx, team, nil, o)
		if err == nil && !keep && (out.OK || unwrittenOnly(out)) {
			err = rm.DeleteTeam(ctx, team, DeleteOptions{})
			if unwrittenOnly(out) && fault.CodeOf(err) != fault.ActiveMembers {
				return deletedAll(out, err), nil
			}
		}
		if was && !keep && fault.CodeOf(err) == fault.TeamNotFound { // somebody else was faster
			out.OK = true
			return out, nil
		}
		if tries == downTries || fault.CodeOf(err) != fault.ActiveMembers {
			return out, err
		}
	}
}

// unwrittenOnly tells whether all have ended, and only that could not be written down.
func unwrittenOnly(e api.Endings) bool {
	return !e.OK && !slices.ContainsFunc(e.Members, func(m api.Ending) bool {
		return m.Outcome == api.RejectedStop || m.Outcome == api.UnprovenStop
	})
}

// deletedAll is what became of those whose ends could not be written down, after their team
// was deleted all the same: on a full disk that needs no room. If it was not, they are told of.
func deletedAll(e api.Endings, err error) api.Endings {
	if e.OK = err == nil; e.OK {
		for i := range e.Members {
			e.Members[i].Code, e.Members[i].Reason = "", ""
		}
	}
	return e
}

// downTries is how often down begins again because a teammate was started meanwhile, as a
// run may do until it sees that its team is taken down.
const downTries = 3

// Downer is who has begun to take a team down last; zero for nobody.
type Downer = panes.Downer

// DownBy returns who has begun to take a team down last.
func (rg *registry) DownBy(team string) Downer { return rg.panes.DownBy(team) }

// TakenDown tells which other process has begun to take a team down since the one before,
// whatever the clock says.
func (rg *registry) TakenDown(team string, before Downer) (pid int, yes bool) {
	by := rg.panes.DownBy(team)
	return by.PID, by != before && by.PID != 0 && by.PID != os.Getpid()
}
