package teams

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/signals"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TeamSpec describes a team to be made.
type TeamSpec struct {
	Name        string
	Description string // up to 500 characters; not blank
	Lead        string // the lead's name; store.Lead by default
	AgentType   string // the lead's type
	Cwd         string // default working folder of the teammates
	Mailbox     string // store.MailboxClaude (default) or MailboxMaildir
	LeadProcess bool   // this process leads; false: a team without a lead process
	Once        bool   // nobody uses the name again
	Run         string // id of the run that it works for
	Engine      string // address of the engine that keeps it; "": files
	File        string // the team file it is made from, absolute; "": none
	Assign      string // are ready tasks offered to idle teammates: auto or off; "": as the limits say
}

// maxDescription is the longest description, in characters.
const maxDescription = 500

// CreateTeam makes a team: fault.InvalidName, fault.TeamExists.
func (lc *lifecycle) CreateTeam(ctx context.Context, spec TeamSpec) (api.Team, error) {
	if err := lc.leadOnly("create a team"); err != nil {
		return api.Team{}, err
	}
	if err := spec.check(); err != nil {
		return api.Team{}, err
	}
	spec.Lead = cmp.Or(spec.Lead, store.Lead)
	if spec.Cwd != "" {
		var err error
		if spec.Cwd, err = lc.absolute("the working folder", spec.Cwd); err != nil {
			return api.Team{}, err
		}
	}
	if err := CheckFolder(cmp.Or(spec.Cwd, lc.cwd)); err != nil {
		return api.Team{}, err
	}
	now := time.Now()
	t := store.Team{
		Name: spec.Name, DisplayName: spec.Name, Description: spec.Description, CreatedAt: now,
		LeadAgentID: spec.Lead + "@" + spec.Name, Engine: spec.Engine,
		Ours: store.Ours{Schema: store.Schema, Mailbox: spec.Mailbox, Cwd: spec.Cwd, Once: spec.Once, Run: spec.Run, File: spec.File, Assign: spec.Assign},
		Members: []store.Member{{
			AgentID: spec.Lead + "@" + spec.Name, Name: spec.Lead, AgentType: cmp.Or(spec.AgentType, store.Lead),
			JoinedAt: now, Cwd: cmp.Or(spec.Cwd, lc.cwd),
		}},
	}
	if spec.LeadProcess {
		if err := lc.oneTeam(ctx, spec.Name); err != nil {
			return api.Team{}, err
		}
		p, err := leadProcess(now)
		if err != nil {
			return api.Team{}, fmt.Errorf("create team %s: %w", spec.Name, err)
		}
		t.LeadProcess = p
	}
	if err := lc.refuseLost(ctx, spec.Name); err != nil {
		return api.Team{}, err
	}
	if err := lc.roster.Create(ctx, t); err != nil {
		return api.Team{}, lc.explainExisting(ctx, spec.Name, err)
	}
	return lc.Team(ctx, spec.Name)
}

// refuseLost refuses to make a team in the place of one that lost its roster while members
// of it run: for the new one's roster they would be nobody's.
func (rg *registry) refuseLost(ctx context.Context, name string) error {
	remains, err := rg.roster.Remains(ctx)
	if err != nil {
		return fmt.Errorf("look for what is left of teams: %w", err)
	}
	for _, r := range remains {
		if r.Team == name && r.Kept != "" {
			return rg.refuseUnnamed(ctx, name, nil, "put the config.json of "+r.What+" back; or, if nobody needs them, remove that folder and run leadlight gc, which ends them")
		}
	}
	return nil
}

func (spec TeamSpec) check() error {
	if err := store.CheckNewTeam(spec.Name); err != nil {
		return err
	}
	if n := len([]rune(spec.Description)); n > maxDescription {
		return fault.New(fault.InvalidArgument, "team %s: the description has %d characters", spec.Name, n).WithHint("use at most %d characters", maxDescription)
	}
	if spec.Description != "" && store.Blank(spec.Description) {
		return fault.New(fault.InvalidArgument, "team %s: the description is blank", spec.Name).WithHint("say what the team is for, or leave the description out")
	}
	if spec.Lead != "" && spec.Lead != store.Lead {
		if _, err := store.CheckMember(spec.Lead); err != nil {
			return err
		}
	}
	switch spec.Mailbox {
	case "", store.MailboxClaude, store.MailboxMaildir:
		return nil
	}
	return fault.New(fault.InvalidArgument, "%q is not a mailbox layout", spec.Mailbox).
		WithHint("the layouts are %s and %s", store.MailboxClaude, store.MailboxMaildir)
}

// leadProcess is the proof of this process as a lead, in the form Claude Code
// writes.
func leadProcess(now time.Time) (*store.LeadProcess, error) {
	self, err := signals.Self()
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &store.LeadProcess{
		PID: self.PID, PIDSpace: host + "#" + self.Namespace, ClaimedAt: now,
		ProcStart: strconv.FormatUint(self.Start, 10),
	}, nil
}

// leadAlive says whether the process that leads t runs.
func leadAlive(t store.Team) signals.Liveness {
	p := t.LeadProcess
	if p == nil || p.PID <= 0 {
		return signals.Unknown
	}
	self, err := signals.Self()
	if err != nil {
		return signals.Unknown
	}
	if host, _ := os.Hostname(); p.PIDSpace != "" && p.PIDSpace != host+"#"+self.Namespace {
		return signals.Unknown
	}
	start, err := strconv.ParseUint(p.ProcStart, 10, 64)
	if err != nil {
		return signals.Unknown
	}
	self.PID, self.Start = p.PID, start
	return self.Probe()
}

// explainExisting says of a team that is already there whose it is and the ways on.
func (rg *registry) explainExisting(ctx context.Context, name string, err error) error {
	if fault.CodeOf(err) != fault.TeamExists {
		return fmt.Errorf("create team %s: %w", name, err)
	}
	t, getErr := rg.roster.Get(ctx, name)
	if getErr != nil {
		return fault.New(fault.TeamExists, "team %s exists, but its roster cannot be read: %w", name, getErr).
			WithHint("mend or remove the file, or choose another name")
	}
	return fault.New(fault.TeamExists, "team %s exists: %s", name, describeLead(t)).
		WithHint("%s; or choose another name", rg.waysOn(t))
}

// waysOn says what can be done with a team that is there.
func (rg *registry) waysOn(t store.Team) string {
	team := shell.Line(t.Name)
	ways := fmt.Sprintf("leadlight spawn NAME -t %s adds to it", team)
	if rg.ownTeam(t, "delete") == nil {
		ways = fmt.Sprintf("leadlight down %s ends and deletes it, %s", team, ways)
	}
	if leadAlive(t) == signals.Gone || (!t.LedByUs() && t.LeadProcess == nil) {
		ways += fmt.Sprintf(", leadlight team takeover %s makes you its lead", team)
	}
	return ways
}

// describeLead says in one line who leads a team and since when.
func describeLead(t store.Team) string {
	lead := "made by leadlight"
	if !t.LedByUs() {
		lead = "made by Claude Code"
	}
	if t.LeadSessionID != "" {
		lead += ", session " + store.Shown(t.LeadSessionID)
	}
	if t.LeadProcess != nil {
		lead += fmt.Sprintf(", lead process %d is %s", t.LeadProcess.PID, leadAlive(t))
	}
	if !t.CreatedAt.IsZero() {
		lead += ", " + age(t.CreatedAt) + " old"
	}
	return lead
}

func age(t time.Time) string { return max(0, time.Since(t)).Round(time.Second).String() }

// Teams lists the teams, the unreadable ones with the reason.
func (rg *registry) Teams(ctx context.Context) ([]api.TeamSummary, error) {
	names, err := rg.roster.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list teams: %w", err)
	}
	out := make([]api.TeamSummary, 0, len(names))
	for _, name := range names {
		t, err := rg.roster.Get(ctx, name)
		if err != nil {
			if fault.CodeOf(err) != fault.TeamNotFound {
				out = append(out, api.TeamSummary{Name: name, Error: fault.Of(err).Message})
			}
			continue
		}
		out = append(out, api.TeamSummary{
			Name: t.Name, Description: t.Description, CreatedAt: api.At(t.CreatedAt),
			Teammates: len(t.Teammates()), LedBy: ledBy(t), Path: t.Path,
		})
	}
	return out, nil
}

func ledBy(t store.Team) string {
	if t.LedByUs() {
		return "leadlight"
	}
	return "claude"
}

// Team returns one team, its members as observed now, the lead among them.
func (ob *observer) Team(ctx context.Context, name string) (api.Team, error) {
	t, err := ob.get(ctx, name)
	if err != nil {
		return api.Team{}, err
	}
	return shownTeam(t, ob.withTasks(ctx, t.Name, ob.observe(ctx, t, t.Members))), nil
}

// TeamWith is Team for one who knows the tasks.
func (ob *observer) TeamWith(ctx context.Context, name string, tasks []api.Task) (api.Team, error) {
	t, err := ob.get(ctx, name)
	if err != nil {
		return api.Team{}, err
	}
	return shownTeam(t, working(ob.observe(ctx, t, t.Members), tasks)), nil
}

func shownTeam(t store.Team, members []api.Member) api.Team {
	return api.Team{
		Name: t.Name, Description: t.Description, CreatedAt: api.At(t.CreatedAt), LeadAgentID: t.LeadAgentID,
		Metadata: t.Metadata, Path: t.Path, Mailbox: cmp.Or(t.Ours.Mailbox, store.MailboxClaude), LedBy: ledBy(t), Engine: t.Engine, File: t.Ours.File, Warnings: append(t.Warnings, summary(rosterOddities(t))...),
		Members: members,
	}
}

// PickTeam returns the team that is meant: the explicit one, or the only one. Where there
// are several, it is the one that was made from the team file here, which has that name;
// here may be nil.
func (rg *registry) PickTeam(ctx context.Context, explicit string, here func() (name, file string)) (string, error) {
	if explicit != "" {
		return explicit, store.CheckTeam(explicit)
	}
	names, err := rg.roster.List(ctx)
	switch {
	case err != nil:
		return "", fmt.Errorf("list teams: %w", err)
	case len(names) == 0:
		return "", fault.New(fault.TeamNotFound, "there is no team in %s", rg.base).WithHint("leadlight team create makes one, leadlight up starts the one of a leadlight.yaml")
	case len(names) > 1:
		if here != nil {
			name, file := here()
			if _, _, err := rg.OfFile(ctx, name, file); err == nil && slices.Contains(names, name) {
				return name, nil
			}
		}
		return "", fault.New(fault.InvalidArgument, "there are several teams: %s", strings.Join(names, ", ")).WithHint("name one with --team, or set LEADLIGHT_TEAM")
	}
	return names[0], nil
}

// leadName is the name of the lead's mailbox.
func leadName(t store.Team) string {
	for _, m := range t.Members {
		if t.IsLead(m) && !m.Unsafe {
			return m.Name
		}
	}
	return store.Lead
}
