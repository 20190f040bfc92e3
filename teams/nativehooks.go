package teams

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
	"github.com/leadlight-dev/leadlight/panes"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// A native teammate asks the hooks of its own settings. Those of the team file reach
// it as settings that it is started with, by which it asks us: so that they run where
// they are to run, and do not object for ever.

// settingsRecord is where the settings are, and settingsBefore where those for clients
// that refuse a file which names TaskCreated.
const (
	settingsRecord = "launch/.settings.json"
	settingsBefore = "launch/.settings-before.json"
)

// askedIn is how much longer than the hooks themselves a client waits for us.
const askedIn = 15 * time.Second

// writeSettings gives a native member the settings by which it asks the hooks of the team
// file, if there are any.
func (g *gate) writeSettings(ctx context.Context, t store.Team, n *resolvedMember) error {
	if n.record.Kind != profiles.Native || len(n.profile.JoinArgs) == 0 {
		return nil
	}
	all, err := g.keptHooks(ctx, t)
	if err != nil || len(all) == 0 {
		return err
	}
	record, events := settingsRecord, hooks.Events()
	if len(hooks.Of(all, hooks.TaskCreated)) > 0 && !g.client(ctx, n.record.Dir, n.record.Argv[0]).TaskCreated {
		record, events = settingsBefore, slices.DeleteFunc(events, func(e string) bool { return e == hooks.TaskCreated })
		g.notice(fmt.Sprintf("the client of %s does not know the hook %s, which is not asked for the tasks that it makes", n.spec.Name, hooks.TaskCreated))
	}
	settings := hooks.SettingsOf(all, events, shell.Line(g.panes.Executable(), "hook"), askedIn)
	err = panes.Own[hooks.Settings]{Name: record}.Edit(ctx, g.panes.Records(), t.Name, "write settings", func(now *hooks.Settings) (bool, error) {
		*now = settings
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("write the settings of %s: %w", n.spec.Name, err)
	}
	n.record.Settings = filepath.Join(g.base, panes.OwnPath(t.Name, record))
	return nil
}

// AskKept asks the hooks of the team file, for a caller that runs under a client which
// asks those of its own settings itself. It returns "" if they agree, else their
// feedback. After hooks.MaxObjections to the same thing the lead is told, and who was
// kept from going idle may. A child of the caller's agent (in.AgentID) is no teammate: it
// is not asked whether it may rest, and its objections are counted by themselves.
func (g *gate) AskKept(ctx context.Context, team string, in hooks.Input) (feedback string, err error) {
	t, err := g.get(ctx, team)
	if err != nil {
		return "", err
	}
	kept, err := g.keptHooks(ctx, t)
	if err != nil && in.HookEventName != hooks.TeammateIdle { // who may not rest would ask for ever
		return fault.Of(err).Message, nil
	}
	all := hooks.Of(kept, in.HookEventName)
	if store.SameName(strings.TrimSuffix(in.AgentID, "@"+t.Name), g.caller.Name) {
		in.AgentID = "" // the teammate itself
	}
	child := in.AgentID != ""
	if err != nil || len(all) == 0 || child && in.HookEventName == hooks.TeammateIdle {
		return "", err
	}
	answer, in, err := g.askHooks(ctx, t, all, in)
	if err != nil {
		return "", err
	}
	idle := in.HookEventName == hooks.TeammateIdle
	n, err := g.countKept(ctx, t.Name, in.HookEventName+" "+cmp.Or(in.TaskID, g.caller.Name)+in.AgentID, answer.Objects(), idle)
	if err != nil || !answer.Objects() {
		return "", err
	}
	feedback = answer.Feedback(in)
	if n < hooks.MaxObjections {
		return feedback, nil
	}
	if n == hooks.MaxObjections {
		text := fmt.Sprintf("%s was refused %d times. %s", g.caller.Name, n, feedback)
		if err := g.tellOfObjections(ctx, t, text, "a hook stops "+g.caller.Name); err != nil {
			return "", err
		}
	}
	if idle {
		return "", nil
	}
	return fmt.Sprintf("%s\nThat was objection %d: stop trying, the lead knows.", feedback, n), nil
}

// countKept counts objections in a row to one thing; an agreement ends the row, and so
// does the last objection if the thing then happens.
func (g *gate) countKept(ctx context.Context, team, what string, objects, ends bool) (n int, err error) {
	err = objectionsRecord().Edit(ctx, g.panes.Records(), team, "count objections", func(all *map[string]int) (bool, error) {
		before := (*all)[what]
		if n = 0; objects {
			n = before + 1
		}
		if n == 0 || ends && n >= hooks.MaxObjections {
			delete(*all, what)
			return before != 0, nil
		}
		if *all == nil {
			*all = map[string]int{}
		}
		(*all)[what] = n
		return true, nil
	})
	if err != nil {
		return n, fmt.Errorf("count the objections in team %s: %w", team, err)
	}
	return n, nil
}
