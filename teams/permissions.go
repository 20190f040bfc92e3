package teams

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// Permissions lists the requests of native teammates to use a tool, oldest first;
// without all, those that wait for an answer.
func (in *incoming) Permissions(ctx context.Context, team string, all bool) ([]api.Permission, error) {
	t, r, err := in.requestsOf(ctx, team)
	return slices.DeleteFunc(append([]api.Permission{}, r.Permissions...), func(p api.Permission) bool { return !all && !awaited(t, p.From, p.Status) }), err
}

// AnswerPermission answers a request, as the lead: fault.NotLead,
// fault.RequestNotFound, and fault.Rejected for one that was answered before. The
// reason of a refusal reaches the teammate's model.
func (ap *approvals) AnswerPermission(ctx context.Context, team, id string, allow bool, reason string) (api.Permission, error) {
	if err := ap.leadOnly("answer requests for permission"); err != nil {
		return api.Permission{}, err
	}
	t, a, err := ap.resolve(ctx, team, false, id, allow, reason)
	if err != nil {
		return api.Permission{}, err
	}
	p := *a.permission
	return p, ap.reply(ctx, t, a, permissionAnswer(p, allow, reason))
}

// permissionAnswer is the frame that clients of every version take.
func permissionAnswer(p api.Permission, allow bool, reason string) store.Frame {
	if p.Host != "" {
		return store.Frame{Type: store.SandboxResponse, RequestID: p.ID, Host: p.Host, Allow: &allow, Timestamp: store.FormatTime(time.Now())}
	}
	f := store.Frame{Type: store.PermissionResponse, RequestID: p.ID, Subtype: store.PermissionError, Error: cmp.Or(reason, "the lead has denied it")}
	if allow {
		f.Subtype, f.Error = store.PermissionSuccess, ""
		if json.Valid(p.Input) {
			f.Response = append(append([]byte(`{"updated_input":`), p.Input...), `,"permission_updates":[]}`...)
		}
	}
	return f
}

// PermissionModes are the modes that Claude Code knows.
func PermissionModes() []string {
	return []string{"default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"}
}

// SetPermissionMode changes the permission mode of a teammate after its spawn: by a
// request, if its client takes one, else by a restart in which it goes on with its
// conversation, else fault.Unsupported.
func (ap *approvals) SetPermissionMode(ctx context.Context, team, name, mode string) (api.ModeChange, error) {
	out := api.ModeChange{Name: name, Mode: mode}
	if err := ap.leadOnly("change the permissions of others"); err != nil {
		return out, err
	}
	if !slices.Contains(PermissionModes(), mode) {
		return out, fault.New(fault.InvalidArgument, "%q is not a permission mode", store.Shown(mode)).
			WithHint("the modes are: %s", strings.Join(PermissionModes(), ", "))
	}
	t, m, seen, err := ap.member(ctx, team, name)
	if err != nil {
		return out, err
	}
	out.Name = m.Name
	switch {
	case t.IsLead(m):
		return out, fault.New(fault.InvalidArgument, "%s is the lead, whose mode is its own", m.Name)
	case ofItsLead(t, m):
		return out, fault.New(fault.NotLead, "teammate %s was not started by leadlight", m.Name).WithHint("its own lead changes its mode")
	}
	rec, err := ap.panes.Records().Launch(ctx, t.Name, m.Name)
	if err != nil {
		return out, noModes(m, "how it was started is not known any more")
	}
	if rec.Kind == profiles.Native && len(rec.Argv) > 0 && seen.Live() && ap.client(ctx, rec.Dir, rec.Argv[0]).TakesModes {
		f := store.Frame{Type: store.ModeSetRequest, Mode: mode, From: store.Lead}
		if _, err := ap.post(ctx, t, m.Name, store.Message{From: store.Lead, Text: f.Text(), Timestamp: time.Now()}); err != nil {
			return out, fmt.Errorf("ask %s to change its mode: %w", m.Name, err)
		}
		out.How = "asked"
		ap.keepMode(ctx, t, m, mode)
		return out, nil
	}
	if rec, err = ap.buildModeCommand(t, m, rec, mode); err != nil {
		return out, err
	}
	out.How = "restarted"
	_, err = ap.restart(ctx, t.Name, m.Name, &rec, nil)
	return out, err
}

// keepMode writes down the mode that a client was asked to change to, for when it is started
// again; where that cannot be, the client is asked again by whoever wants it.
func (ap *approvals) keepMode(ctx context.Context, t store.Team, m store.Member, mode string) {
	release, err := ap.lockMember(ctx, t.Name, m.Name, "change a mode")
	if err != nil {
		return
	}
	defer release()
	rec, err := ap.launched(ctx, t, m)
	if err == nil {
		rec, err = ap.buildModeCommand(t, m, rec, mode)
	}
	if err == nil {
		err = ap.panes.Records().WriteLaunch(ctx, rec)
	}
	if err != nil {
		ap.log.Warn("keep a permission mode", "teammate", m.Name, "error", err)
	}
}

// client asks a client for its version, and says what that one does; one that does not
// answer is taken to do nothing.
func (c *common) client(ctx context.Context, dir, program string) profiles.Client {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	version := exec.CommandContext(ctx, program, "--version")
	version.Dir, version.Env = dir, c.environ
	said, err := oneshot.Output(version)
	if err != nil {
		return profiles.Client{}
	}
	client, _, _ := profiles.ClientOf(string(said))
	return client
}
