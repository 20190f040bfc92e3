package teams

import (
	"fmt"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// InWords says the text of a message to a person, or to an agent that knows no
// frames: a structured one in words, any other as it stands, with envelopes quoted.
func InWords(text string) string { return Quoted(inWords(text)) }

func inWords(text string) string {
	f, ok := store.ParseFrame(text)
	if !ok || len(f.Requests()) > 1 {
		return text
	}
	request := " (request " + f.RequestID + ")"
	switch f.Type {
	case store.IdleNotification:
		return idleInWords(f) + lastTask(f) + below(f.Result)
	case store.TaskAssignment:
		return fmt.Sprintf("task %s is yours: %s", f.TaskID, f.Subject) + below(f.Description)
	case store.ShutdownRequest:
		return "asks you to shut down" + because(f.Reason) + request
	case store.ShutdownApproved:
		return "agrees to shut down" + request
	case store.ShutdownRejected:
		return "refuses to shut down" + because(f.Reason) + request
	}
	if f.RequestID == "" && f.Type != store.ModeSetRequest {
		return text // it only looks like one
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
	case store.SandboxRequest:
		if f.HostPattern != nil {
			return "asks for permission to reach " + f.HostPattern.Host + request
		}
	case store.SandboxResponse:
		return map[bool]string{true: "gives", false: "denies"}[f.Allow != nil && *f.Allow] + " permission to reach " + f.Host + request
	case store.ModeSetRequest:
		return "asks for the permission mode " + f.Mode
	}
	return text
}

// idleInWords says why an idle teammate does nothing, and what it says of it. A
// reason that is not known is said as it stands.
func idleInWords(f store.Frame) string {
	does := "does nothing (" + f.IdleReason + ")"
	switch f.IdleReason {
	case "", IdleAvailable, IdleDone:
		does = "has nothing to do"
	case IdleWaiting:
		does = "waits for an answer"
	}
	return does + because(f.Summary)
}

// below is more text on a line of its own.
func below(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + text
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
