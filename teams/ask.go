package teams

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// AskPermission asks the lead, in the name of the caller, whether a tool may be used. The
// answer comes by mail; see PermissionAnswer.
func (in *incoming) AskPermission(ctx context.Context, team string, p api.Permission) (id string, err error) {
	t, m, err := in.find(ctx, team, in.caller.Name)
	if err != nil {
		return "", err
	}
	now := time.Now()
	p.From, p.Status, p.RequestedAt = m.Name, api.RequestOpen, api.At(now)
	err = in.editRequests(ctx, t.Name, func(r *requests) (bool, error) {
		for at := now; p.ID == "" || r.permission("", p.ID) != nil; at = at.Add(time.Millisecond) {
			p.ID = store.NewRequestID("permission", m.AgentID, at)
		}
		r.Permissions = append(r.Permissions, p)
		return true, nil
	})
	if err != nil {
		return "", err
	}
	f := store.Frame{Type: store.PermissionRequest, RequestID: p.ID, AgentID: m.Name, ToolName: p.Tool, ToolUseID: p.ToolUseID, Description: p.Description, Input: p.Input}
	if _, err := in.post(ctx, t, leadName(t), store.Message{From: m.Name, Text: f.Text(), Timestamp: now}); err != nil {
		return "", fmt.Errorf("the lead could not be asked: %w", err)
	}
	return p.ID, nil
}

// PermissionAnswer is the lead's newest answer to a request of the caller, if one has come.
// It is then marked as read.
func (in *incoming) PermissionAnswer(ctx context.Context, team, id string) (allowed, answered bool, reason string, err error) {
	t, m, err := in.find(ctx, team, in.caller.Name)
	if err != nil {
		return false, false, "", err
	}
	msgs, err := in.mail.List(ctx, t.Name, m.Name)
	if err != nil {
		return false, false, "", fmt.Errorf("read the inbox of %s: %w", m.Name, err)
	}
	for _, msg := range slices.Backward(msgs) {
		f, ok := store.ParseFrame(msg.Text)
		if ok && f.Type == store.PermissionResponse && f.RequestID == id && fromLead(t, msg) {
			return f.Subtype == store.PermissionSuccess, true, f.Error, in.mail.MarkRead(ctx, t.Name, m.Name, []string{msg.ID})
		}
	}
	return false, false, "", nil
}

// PermissionSettled notes that a request of the caller was answered at its pane.
func (in *incoming) PermissionSettled(ctx context.Context, team, id string, allowed bool) error {
	t, m, err := in.find(ctx, team, in.caller.Name)
	if err != nil {
		return err
	}
	return in.editRequests(ctx, t.Name, func(r *requests) (bool, error) {
		found := r.permission(m.Name, id)
		if found == nil || found.Status != api.RequestOpen {
			return false, fault.New(fault.RequestNotFound, "no request %q is open", store.Shown(id))
		}
		found.Status, found.ResolvedAt = decided(allowed), api.At(time.Now())
		return true, nil
	})
}
