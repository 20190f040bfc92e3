package teammate

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// How a failed agent is started again: after a pause that doubles, so often in a row;
// one that ran for a while starts the count anew.
const (
	restartPause = time.Second
	maxRestarts  = 5
	steady       = time.Minute
)

// waitRestart waits for the next start of an agent that has failed, if its policy allows
// one more. One that is ended meanwhile is stopped: e becomes that.
func (m *teammate) waitRestart(ctx context.Context, e *panes.ExitRecord, again int) bool {
	if m.launch.Restart != teams.RestartOnFailure || e.State != api.StateFailed || m.closing() {
		return false
	}
	if again >= maxRestarts {
		m.print("%s %s, %d times in a row: it is not started again", m.o.Agent, e.Reason, again+1)
		return false
	}
	m.host.Settle() // who starts it does not wait until it lasts
	pause := restartPause << again
	m.print("%s %s; it is started again in %s", m.o.Agent, e.Reason, pause)
	for left := pause; left > 0 && !m.closing() && ctx.Err() == nil; left -= time.Second {
		m.show(api.StateWaiting, "", fmt.Sprintf("%s, starts again in %s (%d of %d)", e.Reason, left, again+1, maxRestarts))
		select {
		case <-ctx.Done():
		case <-m.host.Closing():
		case <-time.After(time.Second):
		}
	}
	if m.closing() {
		e.State, e.Reason, e.Tail = api.StateStopped, m.host.Cause(), nil
	}
	return !m.closing() && ctx.Err() == nil
}

// resumeLimit is within what time of its start a program fails that does not find its
// conversation. One that says why may take longer, as on a busy machine.
const resumeLimit = 10 * time.Second

// sessionRefused are words by which agents refuse a conversation.
var sessionRefused = sync.OnceValue(func() *regexp.Regexp {
	const it = `(conversation|session|thread|rollout|chat)s?`
	return regexp.MustCompile(`(?i)\b(no|unknown|invalid|missing) (\w+ ){0,2}` + it + `\b` +
		`|\b(cannot|can't|could not|couldn't|unable to|failed to|error) (\w+ ){0,3}?(find|load|open|read|restore|resum\w+|continue) (\w+ ){0,3}` + it + `\b` +
		`|\b` + it + `\b.{0,120}(not found|n.t exist|n.t be (found|loaded|opened|resumed)|\bin use|no longer|expired|corrupt(ed)?|deleted)\b`)
})

// noConversation tells whether an agent that was to go on with its conversation ended
// because it could not: it failed at once, or said so, whatever status it ended with.
func noConversation(e panes.ExitRecord, tail string, lived time.Duration) bool {
	says := e.Signal == "" && lived < steady && sessionRefused().MatchString(tail)
	return says || e.State == api.StateFailed && lived < resumeLimit
}

// startNewConversation says that an agent cannot go on with its conversation: there may
// be none yet, or it is gone.
func (m *teammate) startNewConversation(ctx context.Context, e panes.ExitRecord) {
	m.newSession(ctx)
	m.tellNewConversation(ctx, e.Reason)
}

func (m *teammate) tellNewConversation(ctx context.Context, why string) {
	text := fmt.Sprintf("%s cannot go on with its conversation (%s) and starts a new one.", m.o.Agent, why)
	m.print("%s", text)
	if err := m.o.Service.TellLead(ctx, m.o.Team, text, m.o.Agent+" starts a new conversation"); err != nil {
		m.o.Log.Warn("tell the lead", "error", err)
	}
}

// newSession gives the next conversation an id of its own, and records it: an agent may
// refuse one that it has seen.
func (m *teammate) newSession(ctx context.Context) {
	if m.launch.Session == "" {
		return
	}
	m.setSession(ctx, m.profile().BeginSession(m.launch.Kind, uuid.NewString()))
}

// noteSession records the id of its conversation that an agent has shown in the end. One
// that shows none, or did not end by itself, cannot be told from others of its folder: what
// stands on its screen may be another's. The next start begins anew.
func (m *teammate) noteSession(ctx context.Context, exit host.Exit) {
	if m.launch.Kind == profiles.ACP {
		if m.opened != "" {
			m.launch = m.launch.WithSession(m.opened)
		}
		return
	}
	p := m.profile()
	if p.SessionShown == "" || m.launch.Session == "" {
		return
	}
	id := profiles.NoSession
	if exit.Code == 0 && exit.Signal == "" {
		id = cmp.Or(p.ShownSession(m.host.Tail(sessionLines)), id)
	}
	m.setSession(ctx, id)
}

// sessionLines is how many lines an agent may print after the id of its conversation.
const sessionLines = 40

// profile is the one that it was started by.
func (m *teammate) profile() profiles.Profile {
	if m.launch.Origin == nil {
		return profiles.Profile{}
	}
	return *m.launch.Origin
}

func (m *teammate) setSession(ctx context.Context, id string) {
	if id == m.launch.Session {
		return
	}
	m.launch = m.launch.WithSession(id)
	if err := m.o.Panes.Records().WriteLaunch(ctx, m.launch); err != nil {
		m.o.Log.Warn("record the new conversation", "error", err)
	}
}

// refresh reads how the teammate is run from now on: whoever has approved its plan, or asked
// for another permission mode, has written it down.
func (m *teammate) refresh(ctx context.Context) {
	now, err := m.o.Panes.Records().Launch(ctx, m.o.Team, m.o.Agent)
	if err == nil && now.Host == m.launch.Host {
		m.launch = now
	}
}
