package teams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/internal/lock"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Facts are what only the composition knows and doctor reports.
type Facts struct {
	Version    string
	BaseOrigin string      // where the base directory's value comes from
	Runtime    string      // the run folder
	OtherBases []string    // other config homes on this machine
	Backend    []api.Check // what the backends say about themselves, and what is around them
	Team       string      // the only one to look at; "": all
}

// staleAfter is the age at which a lock folder of Claude Code counts as left
// behind.
const staleAfter = 10 * time.Second

// Doctor looks for what may be wrong, and says what to do about it. It changes
// nothing but for a file that it writes and removes to see whether it can.
func (d *doctor) Doctor(ctx context.Context, f Facts) api.Checkup {
	checks := []api.Check{
		{Name: "version", Status: "ok", Detail: f.Version},
		d.checkBase(f),
		checkRun(f.Runtime),
		checkProcesses(),
		d.checkChoice(ctx),
	}
	checks = append(checks, f.Backend...)
	checks = append(checks, d.checkHomes(f))
	checks = append(checks, d.checkTeams(ctx, f.Team)...)
	if f.Team == "" {
		checks = append(checks, d.checkLeft(ctx)...)
		if c, any := d.checkSettings(); any {
			checks = append(checks, c)
		}
	}
	failed := func(c api.Check) bool { return c.Status == "fail" }
	return api.Checkup{Checks: checks, OK: !slices.ContainsFunc(checks, failed)}
}

func (d *doctor) checkBase(f Facts) api.Check {
	c := api.Check{Name: "base directory", Status: "ok", Detail: d.base + " (" + f.BaseOrigin + ")"}
	err := files.Writable(d.base)
	if err == nil {
		err = lock.Probe(d.base)
	}
	if err != nil {
		e := fault.Of(err)
		c.Status, c.Detail, c.Fix = "fail", c.Detail+": "+e.Message, cmp.Or(e.Hint, "make it writable for you, or name another one with --base-dir")
		return c
	}
	if fi, err := os.Stat(d.base); err == nil && fi.Mode().Perm()&0o022 != 0 {
		c.Status, c.Detail, c.Fix = "warn", c.Detail+": others can write to it ("+fi.Mode().String()+")", "chmod go-w "+shell.Line(d.base)
	}
	return c
}

// Mend does what is safe to do about what Doctor finds, besides what GC does, and says
// what it did: it keeps others from writing to the base directory, and gives the one
// right answer to what is odd in the files of teams.
func (d *doctor) Mend(ctx context.Context) (done []string, err error) {
	if err := d.leadOnly("mend"); err != nil {
		return nil, err
	}
	if fi, err := os.Stat(d.base); err == nil && fi.Mode().Perm()&0o022 != 0 {
		if err := os.Chmod(d.base, fi.Mode().Perm()&^0o022); err != nil {
			return nil, fmt.Errorf("keep others from writing to %s: %w", d.base, err)
		}
		done = append(done, "kept others from writing to "+d.base)
	}
	lines, err := d.mendOddities(ctx)
	return append(done, lines...), err
}

// checkTeamHooks says which hooks are asked about a team.
func (d *doctor) checkTeamHooks(ctx context.Context, t store.Team) (c api.Check, any bool) {
	return checkHooks("hooks of team "+store.Shown(t.Name), func(event string) ([]hooks.Hook, error) { return d.hooksOf(ctx, t, event) })
}

// checkSettings says which hooks the settings have here, and what of them cannot be read,
// whether there is a team or not. Nothing is run, so nobody is asked for trust.
func (d *doctor) checkSettings() (c api.Check, any bool) {
	trust := func(string, []hooks.Hook) bool { return true }
	return checkHooks("hooks in the settings", func(event string) ([]hooks.Hook, error) {
		return hooks.ReadSettings(d.settings(d.cwd), event, trust)
	})
}

// checkHooks says which hooks there are.
func checkHooks(name string, of func(event string) ([]hooks.Hook, error)) (c api.Check, any bool) {
	c = api.Check{Name: name, Status: "ok"}
	var parts []string
	for _, event := range hooks.Events() {
		all, err := of(event)
		if err != nil {
			return failing(name, err, "the record is kept as it is: mend it, or move it away"), true
		}
		for _, h := range all {
			if h.Refusal != "" {
				c.Status, c.Fix = "warn", "the hook refuses every "+event+" until it is changed or removed"
				parts = append(parts, fmt.Sprintf("%s: %s", event, store.Shown(h.Refusal)))
				continue
			}
			parts = append(parts, fmt.Sprintf("%s: %s (at most %s)", event, store.Shown(h.String()), h.Limit()))
		}
	}
	c.Detail = strings.Join(parts, "; ")
	return c, len(parts) > 0
}

// failing is the check that has found an error, with the way out that the error names, else fix.
func failing(name string, err error, fix string) api.Check {
	e := fault.Of(err)
	return api.Check{Name: name, Status: "fail", Detail: e.Message, Fix: cmp.Or(e.Hint, fix)}
}

func checkRun(dir string) api.Check {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return api.Check{Name: "run folder", Status: "ok", Detail: dir + " (made when it is needed)"}
	}
	err := files.MakePrivate(dir)
	if err == nil {
		err = files.Writable(dir)
	}
	if err != nil {
		return failing("run folder", err, "")
	}
	return api.Check{Name: "run folder", Status: "ok", Detail: dir}
}

// checkProcesses looks whether processes can be told apart here.
func checkProcesses() api.Check {
	if _, err := signals.Self(); err != nil {
		return failing("processes", err, "")
	}
	return api.Check{Name: "processes", Status: "ok", Detail: "each can be told from another"}
}

func (d *doctor) checkChoice(ctx context.Context) api.Check {
	c, err := d.panes.Choice(ctx)
	if err != nil {
		return failing("backend", err, "")
	}
	detail := c.Type + ": " + c.Why
	if c.Socket != "" {
		detail += ", " + c.Place() + " " + c.Socket
	}
	return api.Check{Name: "backend", Status: "ok", Detail: detail}
}

// checkHomes warns when teams live in two config homes: whoever looks into the
// other one finds nothing.
func (d *doctor) checkHomes(f Facts) api.Check {
	c := api.Check{Name: "config homes", Status: "ok", Detail: "only " + d.base}
	var others []string
	for _, other := range f.OtherBases {
		if names, err := filepath.Glob(filepath.Join(other, "teams", "*", "config.json")); err == nil && len(names) > 0 && !files.Same(other, d.base) {
			others = append(others, fmt.Sprintf("%s (%d teams)", other, len(names)))
		}
	}
	if len(others) > 0 {
		c.Status, c.Detail = "warn", "teams also live in "+strings.Join(others, ", ")
		c.Fix = "set CLAUDE_CONFIG_DIR or LEADLIGHT_BASE_DIR alike for everybody who works in one team"
	}
	return c
}

// checkTeams looks at every team: whether its files can be read, who is a ghost,
// which locks were left behind.
func (d *doctor) checkTeams(ctx context.Context, only string) []api.Check {
	if only != "" {
		return append(d.checkTeam(ctx, only), d.checkLocks()...)
	}
	names, err := d.roster.List(ctx)
	if err != nil {
		return []api.Check{{Name: "teams", Status: "fail", Detail: err.Error()}}
	}
	if len(names) == 0 {
		return []api.Check{{Name: "teams", Status: "ok", Detail: "there are none"}}
	}
	var out []api.Check
	for _, name := range names {
		out = append(out, d.checkTeam(ctx, name)...)
	}
	return append(out, d.checkLocks()...)
}

func (d *doctor) checkTeam(ctx context.Context, name string) []api.Check {
	label := "team " + store.Shown(name)
	t, err := d.get(ctx, name)
	if err != nil {
		return []api.Check{failing(label, err, "the file is kept as it is: mend it, or move it away")}
	}
	f := &findings{label: label, mends: t.LedByUs()}
	for _, w := range t.Warnings {
		f.add("warn", w, "")
	}
	f.odd(rosterOddities(t))
	d.checkMembers(ctx, t, f)
	list, warnings, err := d.tasks.List(ctx, t.Name)
	if err != nil {
		f.add("fail", fault.Of(err).Message, "")
	}
	for _, w := range warnings {
		f.add("warn", w, "")
	}
	f.odd(taskOddities(t, list))
	if f.all == nil {
		f.add("ok", fmt.Sprintf("%d teammates, %s", len(t.Teammates()), describeLead(t)), "")
	}
	if c, any := d.checkTeamHooks(ctx, t); any {
		f.all = append(f.all, c)
	}
	return f.all
}

// findings are what is found about one team.
type findings struct {
	label string
	mends bool // what has one right answer
	all   []api.Check
}

func (f *findings) add(status, detail, fix string) {
	f.all = append(f.all, api.Check{Name: f.label, Status: status, Detail: detail, Fix: fix})
}

func (f *findings) odd(list []oddity) {
	for _, o := range list {
		f.add("warn", o.what, map[bool]string{true: "leadlight doctor --fix mends it"}[o.mend && f.mends])
	}
}

// checkMembers looks who is a ghost, and whether records and mail can be read.
func (d *doctor) checkMembers(ctx context.Context, t store.Team, f *findings) {
	for _, m := range d.observe(ctx, t, t.Teammates()) {
		if detail, fix := d.worry(t, m); detail != "" {
			f.add("warn", store.Shown(m.Name)+" "+detail+": "+m.Reason, fix)
		}
	}
	for i, m := range t.Members {
		if m.Unsafe || namesakes(t, m.Name)[0] != i {
			continue
		}
		for _, err := range d.recordFaults(ctx, t, m) {
			f.add("warn", fault.Of(err).Message, fault.Of(err).Hint)
		}
		box, err := d.mail.List(ctx, t.Name, m.Name)
		if err != nil {
			f.add("fail", fault.Of(err).Message, "the inbox is kept as it is: mend it, or move it away")
		}
		f.odd(mailOddities(m.Name, box))
	}
}

// worry says what of a teammate as observed is not as its roster says, and the way out; "" for
// nothing.
func (d *doctor) worry(t store.Team, m api.Member) (detail, fix string) {
	ours := t.Member(m.Name).Leadlight
	written := ours != nil && settled(ours.State)
	ghost := !written && (m.State == api.StateLost || (!m.Live() && deref(m.IsActive)))
	switch {
	case m.State == api.StateLost && ours != nil:
		return "is lost", "leadlight restart --lost -t " + shell.Line(t.Name) + " starts it again; leadlight gc only marks it lost and frees its tasks"
	case ghost && ours != nil:
		return "is " + m.State, "leadlight gc marks it " + m.State + " and frees its tasks"
	case ghost:
		return "is a ghost", "its own lead lists it still" + map[bool]string{true: "; leadlight team delete " + shell.Line(t.Name) + " removes the team"}[d.ownTeam(t, "delete") == nil]
	case m.State == api.StateUnknown:
		return "could not be observed", ""
	}
	return "", ""
}

// recordFaults says what of our own records of a member is damaged.
func (d *doctor) recordFaults(ctx context.Context, t store.Team, m store.Member) []error {
	if m.Leadlight == nil || d.elsewhere(m) {
		return nil
	}
	_, host := d.panes.Records().Host(ctx, t.Name, m.Name)
	_, launch := d.panes.Records().Launch(ctx, t.Name, m.Name)
	return slices.DeleteFunc([]error{host, launch}, func(err error) bool { return fault.CodeOf(err) != fault.CorruptFile })
}

// checkLeft says what belongs to no living team, in the words of gc.
func (d *doctor) checkLeft(ctx context.Context) (out []api.Check) {
	found, err := d.orphans(ctx, true)
	locks := 0
	for _, o := range found {
		if o.Usual {
			locks++
			continue
		}
		c := api.Check{Name: "left over", Status: "warn", Detail: o.String()}
		if o.Kept == "" {
			c.Fix = "leadlight gc does it"
		}
		out = append(out, c)
	}
	if err != nil {
		out = append(out, api.Check{Name: "left over", Status: "warn", Detail: "not all could be looked at: " + fault.Of(err).Message})
	}
	if out == nil {
		detail := "nothing"
		if locks > 0 {
			detail = fmt.Sprintf("nothing but lock files of deleted teams (%d), which leadlight gc removes", locks)
		}
		out = []api.Check{{Name: "left over", Status: "ok", Detail: detail}}
	}
	return out
}

// checkLocks finds lock folders that a client left behind when it was killed.
func (d *doctor) checkLocks() []api.Check {
	root, err := os.OpenRoot(d.base)
	if err != nil {
		return nil
	}
	defer root.Close()
	var out []api.Check
	for _, pattern := range []string{"teams/*/*.json.lock", "teams/*/inboxes/*.json.lock", "tasks/*/*.json.lock", "tasks/*/.lock.lock"} {
		found, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			continue
		}
		for _, name := range found {
			fi, err := root.Lstat(name)
			if err != nil || time.Since(fi.ModTime()) < staleAfter {
				continue
			}
			out = append(out, api.Check{
				Name: "locks", Status: "warn", Detail: fmt.Sprintf("%s was left behind %s ago", name, age(fi.ModTime())),
				Fix: "whoever writes next takes it over; nothing needs to be done",
			})
		}
	}
	if out == nil {
		out = []api.Check{{Name: "locks", Status: "ok", Detail: "none is left behind"}}
	}
	return out
}
