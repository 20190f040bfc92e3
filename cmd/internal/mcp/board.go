package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/watch"
)

// board is what clients may read and subscribe to: the teams, and of each its
// members, tasks, inboxes and panes.
type board struct {
	s *Server

	mu     sync.Mutex
	subs   map[string]*subscription // by URI
	listed map[string][]string      // URIs that are listed, by team
}

// subscription is one resource that somebody wants to be told about.
type subscription struct {
	of      place
	clients map[*sdk.ServerSession]bool
	seen    *[sha256.Size]byte // at the last look; nil before the first
	release func()             // the watch need not be keen for it any more
}

func newBoard(s *Server) *board {
	return &board{s: s, subs: map[string]*subscription{}, listed: map[string][]string{}}
}

// Kinds of resources below a team; the team itself is "".
const (
	tasksKind = "tasks"
	inboxKind = "inboxes"
	paneKind  = "panes"
)

// place is what a URI names: leadlight://teams, leadlight://teams/TEAM,
// leadlight://teams/TEAM/tasks, leadlight://teams/TEAM/inboxes/NAME and
// leadlight://teams/TEAM/panes/NAME.
type place struct{ team, kind, name string }

const scheme = "leadlight"

func (p place) uri() string {
	u := scheme + "://teams"
	for _, part := range []string{p.team, p.kind, p.name} {
		if part != "" {
			u += "/" + url.PathEscape(part)
		}
	}
	return u
}

// parsePlace reads a URI.
func parsePlace(uri string) (place, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != scheme || u.Host != "teams" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return place{}, false
	}
	if u.EscapedPath() == "" {
		return place{}, true
	}
	var parts []string
	for raw := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		part, err := url.PathUnescape(raw)
		if err != nil || part == "" {
			return place{}, false
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) == 1:
		return place{team: parts[0]}, true
	case len(parts) == 2 && parts[1] == tasksKind:
		return place{team: parts[0], kind: tasksKind}, true
	case len(parts) == 3 && (parts[1] == inboxKind || parts[1] == paneKind):
		return place{parts[0], parts[1], parts[2]}, true
	}
	return place{}, false
}

// offer tells clients what there is to read.
func (b *board) offer() {
	const jsonType = "application/json"
	b.s.sdk.AddResource(&sdk.Resource{URI: place{}.uri(), Name: "teams", Description: "All teams", MIMEType: jsonType}, b.read)
	list := []sdk.ResourceTemplate{
		{URITemplate: scheme + "://teams/{team}", Name: "team", Description: "A team and its members as observed", MIMEType: jsonType},
		{URITemplate: scheme + "://teams/{team}/" + tasksKind, Name: "tasks", Description: "The task list of a team", MIMEType: jsonType},
		{URITemplate: scheme + "://teams/{team}/" + inboxKind + "/{name}", Name: "inbox", Description: "The mail of a member; reading it here does not mark it as read", MIMEType: jsonType},
	}
	if b.s.panesToo() {
		list = append(list, sdk.ResourceTemplate{URITemplate: scheme + "://teams/{team}/" + paneKind + "/{name}", Name: "pane", Description: "What a teammate's pane shows now", MIMEType: "text/plain"})
	}
	for _, t := range list {
		b.s.sdk.AddResourceTemplate(&t, b.read)
	}
}

// panesToo tells whether the caller may look at panes.
func (s *Server) panesToo() bool { return !s.o.Caller.Teammate && !s.o.Delegate }

// read answers the reading of a resource.
func (b *board) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	p, ok := parsePlace(req.Params.URI)
	if !ok || !b.may(p) {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	text, err := b.content(ctx, p)
	if err != nil {
		return nil, problem(req.Params.URI, err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, Text: text}}}, nil
}

// problem is an error as the protocol tells it of resources.
func problem(uri string, err error) error {
	switch fault.CodeOf(err) {
	case fault.TeamNotFound, fault.MemberNotFound, fault.InvalidName:
		return sdk.ResourceNotFoundError(uri)
	}
	return errors.New(told("", err).text())
}

// may tells whether the caller may see a place: a teammate sees no other's inbox, and
// no panes.
func (b *board) may(p place) bool {
	switch p.kind {
	case paneKind:
		return b.s.panesToo()
	case inboxKind:
		return !b.s.o.Caller.Teammate || store.SameName(p.name, b.s.o.Caller.Name)
	}
	return true
}

// content is what a place holds now.
func (b *board) content(ctx context.Context, p place) (string, error) {
	var v any
	var err error
	switch {
	case p.team == "":
		v, err = b.s.svc.Teams(ctx)
	case p.kind == "":
		v, err = b.s.svc.Team(ctx, p.team)
	case p.kind == tasksKind:
		v, _, err = b.s.svc.TaskList(ctx, p.team, teams.TaskFilter{})
	case p.kind == inboxKind:
		if err := b.s.svc.OnlyLead(ctx, p.team, "read its mail"); err != nil {
			return "", err
		}
		v, err = b.s.svc.Inbox(ctx, p.team, p.name, teams.InboxFilter{})
	default:
		err := b.s.svc.OnlyLead(ctx, p.team, "look at its panes")
		if err == nil {
			err = b.s.mayLook(ctx, p.team)
		}
		if err != nil {
			return "", err
		}
		text, err := b.s.svc.Capture(ctx, p.team, p.name, 0, false)
		return teams.Quoted(text), err
	}
	if err != nil {
		return "", err
	}
	raw, err := json.MarshalIndent(v, "", "  ")
	return string(raw), err
}

// fingerprint is the same for two looks at a place that do not differ in what matters:
// when somebody was last active is no news. Only a pane is looked at for it.
func (b *board) fingerprint(ctx context.Context, p place, v watch.View) [sha256.Size]byte {
	var what any
	switch p.kind {
	case "":
		members := slices.Clone(v.Whole.Members)
		for i := range members {
			members[i].LastActivityAt, members[i].Reason = nil, ""
		}
		v.Whole.Members = members
		what = v.Whole
	case tasksKind:
		what = v.Tasks
	case inboxKind:
		name := p.name
		if store.SameName(name, store.Lead) {
			name = v.Lead
		}
		for owner, box := range v.Boxes {
			if store.SameName(owner, name) {
				what = box
			}
		}
	case paneKind:
		text, err := b.content(ctx, p)
		what = []string{text, string(fault.CodeOf(err))}
	}
	raw, err := json.Marshal(what)
	if err != nil {
		b.s.o.Log.Warn("look for changes", "uri", p.uri(), "error", err)
	}
	return sha256.Sum256(raw)
}

// subscribe notes that a client wants to be told of changes. They count from the look
// on that is taken before it returns.
func (b *board) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	p, ok := parsePlace(req.Params.URI)
	if !ok || !b.may(p) || p.team == "" {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	if _, err := b.s.team(ctx, p.team); err != nil {
		return problem(req.Params.URI, err)
	}
	t := b.s.watch.get(p.team)
	b.mu.Lock()
	sub := b.subs[req.Params.URI]
	known := sub != nil
	if !known {
		sub = &subscription{of: p, clients: map[*sdk.ServerSession]bool{}, release: func() {}}
		if t != nil {
			sub.release = t.await()
		}
		b.subs[req.Params.URI] = sub
	}
	sub.clients[req.Session] = true
	b.mu.Unlock()
	if !known && t != nil {
		if err := t.Look(t.ctx); err != nil {
			b.s.o.Log.Warn("look at a team", "team", p.team, "error", err)
		}
	}
	return nil
}

func (b *board) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if sub := b.subs[req.Params.URI]; sub != nil {
		delete(sub.clients, req.Session)
		b.tidy()
	}
	return nil
}

// tidy drops subscriptions of clients that have gone; the lock is held.
func (b *board) tidy() {
	there := slices.Collect(b.s.sdk.Sessions())
	for uri, sub := range b.subs {
		for c := range sub.clients {
			if !slices.Contains(there, c) {
				delete(sub.clients, c)
			}
		}
		if len(sub.clients) == 0 {
			sub.release()
			delete(b.subs, uri)
		}
	}
}

// publish tells, after a look at a team, the subscribers of what has changed, and
// lists what there is to read.
func (b *board) publish(ctx context.Context, team string, v watch.View) {
	b.list(team, v.Members, v.Lead)
	b.mu.Lock()
	b.tidy()
	wanted := map[string]place{}
	for uri, sub := range b.subs {
		if sub.of.team == team {
			wanted[uri] = sub.of
		}
	}
	b.mu.Unlock()
	for uri, p := range wanted {
		seen := b.fingerprint(ctx, p, v)
		b.mu.Lock()
		changed := false
		if sub := b.subs[uri]; sub != nil {
			changed = sub.seen != nil && *sub.seen != seen
			sub.seen = &seen
		}
		b.mu.Unlock()
		if changed {
			_ = b.s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
}

// list lists the resources of a team, or, with no lead, removes them.
func (b *board) list(team string, members []api.Member, lead string) {
	var want []*sdk.Resource
	add := func(p place, name, mime string) {
		if b.may(p) {
			want = append(want, &sdk.Resource{URI: p.uri(), Name: name, MIMEType: mime})
		}
	}
	if lead != "" {
		add(place{team: team}, "team "+team, "application/json")
		add(place{team: team, kind: tasksKind}, "tasks of "+team, "application/json")
		add(place{team, inboxKind, lead}, "mail of "+lead, "application/json")
		for _, m := range members {
			add(place{team, inboxKind, m.Name}, "mail of "+m.Name, "application/json")
			add(place{team, paneKind, m.Name}, fmt.Sprintf("pane of %s", m.Name), "text/plain")
		}
	}
	var uris []string
	for _, r := range want {
		uris = append(uris, r.URI)
	}
	b.mu.Lock()
	before := b.listed[team]
	b.listed[team] = uris
	b.mu.Unlock()
	for _, r := range want {
		if !slices.Contains(before, r.URI) {
			b.s.sdk.AddResource(r, b.read)
		}
	}
	gone := slices.DeleteFunc(slices.Clone(before), func(u string) bool { return slices.Contains(uris, u) })
	if len(gone) > 0 {
		b.s.sdk.RemoveResources(gone...)
	}
}
