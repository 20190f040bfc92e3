package teams

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/worktree"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// SpawnSpec describes a teammate to be started.
type SpawnSpec struct {
	Name      string
	Profile   string   // "": exec when there is a command, else the default profile
	Command   []string // what to run, for profiles that run what they are given
	Kind      string   // "": the profile's
	Model     string
	AgentType string
	Prompt    string // first message
	Cwd       string // "": the team's, else the lead's
	Color     string // "": the least used
	Env       []string
	Run       string // worker: the line for tasks that bring none
	RunTask   bool   // worker: obeys metadata.run of any task
	Restart   string // "", RestartNever or RestartOnFailure
	PlanMode  bool
	Worktree  *string // a git worktree of its own: on this branch, "" one of its own; nil: none
	Placement backend.Place
	Layout    panes.Layout
	Ready     time.Duration
	After     string // behind which member it stands in the roster; "": behind all

	again    *panes.LaunchRecord // a restart: as recorded; the mail stays, the prompt is not sent again
	replaced *store.Replaced     // how often in a row nobody has asked for the restart
}

// Spawned is what became of a SpawnSpec.
type Spawned struct {
	Member api.Member
	Err    error // nothing is left of it, if not nil
}

// pendingMember is one teammate on its way.
type pendingMember struct {
	spec     SpawnSpec
	kind     string
	profile  profiles.Profile
	argv     []string
	resume   []string // argv that goes on with its conversation; nil: it begins anew
	mode     string   // permission mode that it inherits
	settings string   // file with more settings, for a native agent
	dir      string
	host     string
	color    string
	old      *store.Member // whose place it takes
	tree     *worktree.Tree
	member   store.Member // its entry, as last written
	joined   bool         // it stands in the roster
	err      error
}

// Spawn starts teammates, all at once: the roster first, then the first message,
// then the panes. It returns one result for each spec, in order; what failed is
// undone and does not keep the others from starting.
func (s *Service) Spawn(ctx context.Context, team string, specs []SpawnSpec) []Spawned {
	news := make([]pendingMember, len(specs))
	err := s.leadOnly("start teammates")
	var t store.Team
	if err == nil {
		t, err = s.get(ctx, team)
	}
	mode := ""
	if err == nil {
		mode = s.leadMode(t)
	}
	for i := range specs {
		news[i] = pendingMember{spec: specs[i], host: uuid.NewString(), mode: mode, err: err}
		if err == nil {
			s.resolve(t, &news[i])
		}
		if news[i].err == nil && news[i].spec.again == nil {
			news[i].err = s.writeSettings(ctx, t, &news[i])
		}
	}
	if err == nil {
		defer s.lockPending(ctx, t, news)()
		order := s.register(ctx, t, news)
		s.addWorktrees(ctx, t, news)
		s.sendPrompt(ctx, t, news)
		s.launch(ctx, t, order, news)
	}
	out := make([]Spawned, len(news))
	for i, n := range news {
		out[i].Err = n.err
		if n.err == nil {
			seen := context.WithoutCancel(ctx) // it runs: whoever is interrupted now has to be told
			out[i].Member = s.observeOne(seen, t, n.member)
			out[i].Member.Unread, out[i].Member.OldestUnreadAt = unread(seen, t.Name, n.spec.Name, s.mail.List)
		}
	}
	return out
}

// register writes the pending members into the roster: the intent before the act. It
// reads the roster again: who was waited for has changed it. No team is deleted meanwhile.
// It returns the order in which the members stand there.
func (s *Service) register(ctx context.Context, t store.Team, news []pendingMember) (order []string) {
	t, err := s.get(ctx, t.Name)
	if err != nil {
		failPending(news, err)
		return nil
	}
	gone := s.whoRuns(ctx, t)
	release, err := s.panes.Guard(ctx, t.Name, "start teammates")
	if err != nil {
		failPending(news, err)
		return nil
	}
	defer release()
	s.settle(ctx, t, news, func(now *store.Team) error {
		for i := range news {
			n := &news[i]
			if n.err != nil {
				continue
			}
			n.err = s.join(now, n, gone)
		}
		order = nil // the change may run more than once
		for _, m := range now.Members {
			order = append(order, m.Name)
		}
		return nil
	})
	for i := range news {
		news[i].joined = news[i].err == nil
	}
	return order
}

// settle updates the roster; if that fails, so do all pending members.
func (s *Service) settle(ctx context.Context, t store.Team, news []pendingMember, change func(*store.Team) error) {
	before := make([]error, len(news))
	for i := range news {
		before[i] = news[i].err
	}
	err := s.roster.Update(ctx, t.Name, func(now *store.Team) error {
		for i := range news {
			news[i].err = before[i] // the change may run more than once
		}
		return change(now)
	})
	if err != nil {
		failPending(news, fmt.Errorf("write the roster of team %s: %w", t.Name, err))
	}
}

// failPending lets all fail that have not failed yet.
func failPending(news []pendingMember, err error) {
	for i := range news {
		if news[i].err == nil {
			news[i].err = err
		}
	}
}

// whoRuns returns the hosts of those members that are proved not to run, by
// name, and how many teammates do run.
func (s *Service) whoRuns(ctx context.Context, t store.Team) presence {
	p := presence{states: map[string]string{}, hosts: map[string]string{}}
	for _, m := range s.observe(ctx, t, t.Teammates()) {
		p.states[m.Name] = m.State
		if m.Live() {
			p.live++
		}
	}
	for _, m := range t.Members {
		if m.Leadlight != nil {
			p.hosts[m.Name] = m.Leadlight.Host
		}
	}
	return p
}

// presence is who was seen running before pending members join.
type presence struct {
	states map[string]string
	hosts  map[string]string
	live   int
}

// join adds one pending member to the roster, in the place of a member of that name
// that has ended.
func (s *Service) join(t *store.Team, n *pendingMember, seen presence) error {
	n.old, n.color = nil, "" // the change may run more than once
	running := seen.live
	for _, m := range t.Members {
		if m.Leadlight != nil && m.Leadlight.Host != seen.hosts[m.Name] {
			running++ // joined since we looked
		}
	}
	if running >= s.limits.MaxTeammates {
		return fault.New(fault.LimitReached, "team %s has %d live teammates, the limit is %d", t.Name, running, s.limits.MaxTeammates).
			WithHint("stop one, or raise lifecycle.maxTeammates")
	}
	old := t.Member(n.spec.Name)
	if old != nil {
		host := ""
		if old.Leadlight != nil {
			host = old.Leadlight.Host
		}
		state, known := seen.states[old.Name]
		gone := known && host == seen.hosts[old.Name] && !(&api.Member{State: state}).Live()
		if !gone {
			return fault.New(fault.DuplicateName, "team %s has a teammate %s already, it is %s", t.Name, n.spec.Name, orDefault(state, api.StateStarting)).
				WithHint("leadlight stop %s ends it; or choose another name", n.spec.Name)
		}
		n.old = ptr(*old)
	}
	n.color = n.spec.Color
	if n.color == "" && old != nil {
		n.color = old.Color
	}
	if n.color == "" {
		n.color = pickColor(n.spec.Name, t.Members)
	}
	entry := s.entry(t, n)
	defer func() { n.member = entry }()
	if old != nil {
		entry.Unknown, entry.Metadata = old.Unknown, old.Metadata
		if n.spec.again != nil && old.Leadlight != nil {
			entry.Leadlight.Restart = old.Leadlight.Restart
		}
		*old = entry
		return nil
	}
	at := 1 + slices.IndexFunc(t.Members, func(m store.Member) bool { return m.Name == n.spec.After })
	if n.spec.After == "" || at == 0 {
		at = len(t.Members)
	}
	t.Members = slices.Insert(t.Members, at, entry)
	return nil
}

func (s *Service) entry(t *store.Team, n *pendingMember) store.Member {
	now := time.Now()
	return store.Member{
		AgentID: n.spec.Name + "@" + t.Name, Name: n.spec.Name, AgentType: n.spec.AgentType, Model: n.spec.Model,
		Prompt: n.spec.Prompt, Color: n.color, PlanModeRequired: n.spec.PlanMode, JoinedAt: now, Cwd: n.dir, IsActive: ptr(true), Mode: n.permissionMode(),
		Leadlight: &store.Bookkeeping{
			Host: n.host, Kind: n.kind, Profile: n.profile.Name, State: api.StateStarting, SpawnedAt: &now,
			Run: n.spec.Run, RunTask: n.spec.RunTask, Restart: n.spec.Restart, Replaced: n.spec.replaced,
			Machine: s.machineOf(*t),
		},
	}
}

// permissionMode is the permission mode that a new entry shows; "" where the profile has
// no way into one.
func (n *pendingMember) permissionMode() string {
	mode, profile := n.mode, n.profile
	if r := n.spec.again; r != nil {
		if mode = r.Mode; r.Origin != nil {
			profile = *r.Origin
		}
	}
	switch {
	case n.spec.PlanMode:
		return profiles.ModePlan
	case n.kind == profiles.Native || profile.CheckMode(mode):
		return mode
	}
	return ""
}

// sendPrompt puts the first message into each pending member's box, which was emptied
// before: a request to its predecessor must not end the new one.
func (s *Service) sendPrompt(ctx context.Context, t store.Team, news []pendingMember) {
	var wg sync.WaitGroup
	for i := range news {
		n := &news[i]
		if n.err != nil || n.spec.again != nil {
			continue
		}
		wg.Go(func() {
			if _, err := s.mail.Archive(ctx, t.Name, n.spec.Name); err != nil {
				n.err = fmt.Errorf("archive the inbox of %s: %w", n.spec.Name, err)
				return
			}
			if n.spec.Prompt == "" {
				return
			}
			if _, err := s.post(ctx, t, n.spec.Name, store.Message{From: store.Lead, Text: n.spec.Prompt, Summary: summaryOf(n.spec.Prompt), Timestamp: time.Now()}); err != nil {
				n.err = fmt.Errorf("write the first message of %s: %w", n.spec.Name, err)
			}
		})
	}
	wg.Wait()
}

// maxSummary is how many characters of a first message are its summary.
const maxSummary = 60

// summaryOf is a first message in a few words: the beginning of its first line.
func summaryOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > maxSummary {
		return string(r[:maxSummary-1]) + "…"
	}
	return line
}
