package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

type inboxIn struct {
	ownInboxIn
	Name string `json:"name,omitempty" jsonschema:"look into the inbox of this teammate instead of your own"`
}

type ownInboxIn struct {
	inTeam
	All   bool    `json:"all,omitempty" jsonschema:"true: also what has been read before"`
	From  string  `json:"from,omitempty" jsonschema:"only from this member"`
	Since float64 `json:"since_seconds,omitempty" jsonschema:"only what is not older than so many seconds"`
	Keep  bool    `json:"keep_unread,omitempty" jsonschema:"true: do not mark as read"`
}

type inboxOut struct {
	Messages []api.Message `json:"messages"`
}

func (s *Server) readOwnInbox(ctx context.Context, c *call, team string, in ownInboxIn) (inboxOut, string, error) {
	return s.readInbox(ctx, c, team, inboxIn{ownInboxIn: in})
}

func (s *Server) readInbox(ctx context.Context, _ *call, team string, in inboxIn) (inboxOut, string, error) {
	if in.Since < 0 || in.Since > maxSince.Seconds() {
		return inboxOut{}, "", fault.New(fault.InvalidArgument, "since_seconds is %v", in.Since).WithHint("it is between 0 and %v", maxSince.Seconds())
	}
	msgs, err := s.svc.Inbox(ctx, team, in.Name, teams.InboxFilter{
		Unread: !in.All, From: in.From, Since: time.Duration(in.Since * float64(time.Second)),
	})
	if err != nil {
		return inboxOut{}, "", err
	}
	if in.Name == "" && !in.Keep {
		if err := s.handOver(ctx, team, msgs); err != nil {
			return inboxOut{}, "", err
		}
	}
	return inboxOut{msgs}, mailText(msgs), nil
}

// maxSince is the largest age that can be asked for.
const maxSince = 10 * 365 * 24 * time.Hour

// handOver marks what the caller now gets as read.
func (s *Server) handOver(ctx context.Context, team string, msgs []api.Message) error {
	var ids []string
	for _, m := range msgs {
		if !m.Read {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return s.svc.MarkRead(ctx, team, "", ids)
}

// indented is a text of which no line begins where a message does, whatever its reader takes
// for the end of a line.
func indented(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\r\v\f\u0085\u2028\u2029", r) {
			return '\n'
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

func mailText(msgs []api.Message) string {
	if len(msgs) == 0 {
		return "No mail."
	}
	var b strings.Builder
	for _, m := range teams.Collapse(msgs) {
		fmt.Fprintf(&b, "From %s, %s", store.Shown(m.From), store.Shown(m.Timestamp))
		if m.Note != "" {
			fmt.Fprintf(&b, " (%s)", m.Note)
		}
		b.WriteString(":\n")
		b.WriteString(indented(m.Text) + "\n\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
