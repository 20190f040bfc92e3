package cli

import (
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// inWords says what a message means to a person: a structured one in words, any
// other as it stands. --json shows all of them as they stand.
func inWords(m api.Message) string {
	f, ok := store.ParseFrame(m.Text)
	if !ok {
		return m.Text
	}
	request := " (request " + f.RequestID + ")"
	switch f.Type {
	case store.IdleNotification:
		return "has nothing to do" + lastTask(f)
	case store.TaskAssignment:
		return fmt.Sprintf("task %s is yours: %s", f.TaskID, f.Subject)
	case store.ShutdownRequest:
		return "asks you to shut down" + because(f.Reason) + request
	case store.ShutdownApproved:
		return "agrees to shut down" + request
	case store.ShutdownRejected:
		return "refuses to shut down" + because(f.Reason) + request
	}
	if f.RequestID == "" && f.Type != store.ModeSetRequest {
		return m.Text // it only looks like one
	}
	switch f.Type {
	case store.PlanRequest:
		return "asks you to approve a plan" + request + "\n" + f.PlanContent
	case store.PlanResponse:
		if f.Approved != nil && *f.Approved {
			return "approves the plan" + because(f.Feedback) + request
		}
		return "does not approve the plan" + because(f.Feedback) + request
	case store.PermissionRequest:
		return "asks for permission to use " + f.ToolName + because(f.Description) + request
	case store.PermissionResponse:
		if f.Subtype == store.PermissionSuccess {
			return "gives permission" + request
		}
		return "denies permission" + because(f.Error) + request
	case store.ModeSetRequest:
		return "asks for the permission mode " + f.Mode
	}
	return m.Text
}

// lastTask says what an idle teammate did last.
func lastTask(f store.Frame) string {
	switch {
	case f.CompletedTaskID == "":
		return ""
	case f.CompletedStatus == "failed":
		return fmt.Sprintf("; task %s failed%s", f.CompletedTaskID, because(f.FailureReason))
	}
	return fmt.Sprintf("; task %s is done", f.CompletedTaskID)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
