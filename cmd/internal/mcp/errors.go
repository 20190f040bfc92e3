package mcp

import (
	"cmp"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// failure is the result of a call that failed.
type failure struct {
	Success bool      `json:"success"` // false
	Error   complaint `json:"error"`
}

// complaint is how one error is told.
type complaint struct {
	Code    string `json:"code" jsonschema:"what kind of failure it is"`
	Message string `json:"message" jsonschema:"what went wrong, and where"`
	Hint    string `json:"hint,omitempty" jsonschema:"what to do next"`
	Cause   string `json:"cause,omitempty" jsonschema:"leadlight's own code, where it says more"`
}

func (e complaint) text() string {
	text := e.Code + ": " + e.Message
	if e.Hint != "" {
		text += "\nhint: " + e.Hint
	}
	return text
}

// row says how a fault is told by a tool, "" being any. What is empty stays as the
// fault has it; the hint also stays unless it is about the command line.
type row struct {
	tool string
	from fault.Code
	to   fault.Code
	hint string
}

// rows is the table of how faults are told. The first that fits holds. The codes of
// the tools TeamCreate, Task, SendMessage and TeamDelete are those of Claude Code's
// description of its tools; that one calls every failure to get a pane TMUX_ERROR.
func rows() []row {
	return []row{
		{"Task", fault.BackendUnavailable, fault.TmuxError, "see that tmux is there and runs, or ask for the backend headless, which needs no terminal"},
		{"Task", fault.NoSpace, fault.TmuxError, "end a teammate with a shutdown_request, or let the terminal window be larger"},
		{"Task", fault.InvalidArgument, "", "change what the message names; subagent_type claude-interactive runs Claude Code where its home is another folder"},
		{"SendMessage", fault.MemberNotFound, fault.RecipientNotFound, "TeamStatus names the members"},
		{"", fault.InvalidArgument, "", "the description of each parameter says what it takes"},
		{"", fault.TeamExists, "", "choose another name, or TeamDelete the team that is there"},
		{"", fault.InvalidName, "", "a team: 3 to 64 lower-case letters and digits in words joined by -; a teammate: letters, digits, _ and -"},
		{"", fault.TeamNotFound, "", "TeamStatus without a team_name lists the teams there are, TeamCreate makes one"},
		{"", fault.DuplicateName, "", "choose another name, or end that one first: SendMessage, type shutdown_request"},
		{"", fault.InvalidModel, "", "name a model that the agent knows (for Claude Code haiku, sonnet or opus), or default"},
		{"", fault.TmuxError, "", "see that tmux runs"},
		{"", fault.RecipientNotFound, "", "TeamStatus names the members"},
		{"", fault.RecipientInactive, "", "it has ended and reads nothing any more; Task with the same name starts it anew"},
		{"", fault.InvalidType, "", "use one of the types that the tool lists"},
		{"", fault.ActiveMembers, "", "send each of them a shutdown_request first, and TeamDelete again when they have ended"},
		{"", fault.PermissionDenied, "", "check who owns that folder, and its permissions"},
		{"", fault.MemberNotFound, "", "TeamStatus names the members"},
		{"", fault.TaskNotFound, "", "TaskList lists the tasks with their ids"},
		{"", fault.NoTaskReady, "", "WaitForEvents tells when there is more to do"},
		{"", fault.TaskClaimed, "", "take another task: TaskClaim without a taskId"},
		{"", fault.TaskBlocked, "", "WaitForEvents tells when the tasks before it are completed"},
		{"", fault.PlanNotFound, "", "the request_id stands in the plan_approval_request; TeamStatus lists the open ones"},
		{"", fault.RequestNotFound, "", "the request_id stands in the message that asks; ReadInbox shows it"},
		{"", fault.NotLead, "", "ask the lead: SendMessage to team-lead"},
		{"", fault.LimitReached, "", "end what is no longer needed first"},
		{"", fault.SpawnFailed, "", "CapturePane shows what it wrote, if its pane is still there"},
		{"SendMessage", fault.Rejected, "", "it goes on as it was: write to it about that, and ask again later"},
		{"", fault.Rejected, "", "the message says what is in the way; change that first"},
		{"", fault.Unproven, "", "nothing is done to what is not proved to be yours: TeamStatus shows what can be seen, and a person has to decide the rest"},
		{"", fault.ProgramNotFound, "", "choose another subagent_type, or ask the person at the terminal to install that program"},
		{"", fault.ProfileNotFound, "", "subagent_type is general-purpose, or the name of an agent that is set up here"},
		{"", fault.Unsupported, "", "do without it: that cannot be done here"},
		{"", fault.CorruptFile, "", "nothing was changed: a person has to mend that file"},
		{"", fault.VersionTooNew, "", "nothing was changed: a newer version of this program has written that file"},
		{"", fault.LockTimeout, "", "somebody else is writing there: try again"},
		{"", fault.Timeout, "", "TeamStatus shows how far it has come; try again"},
		{"", fault.BackendUnavailable, "", "see that the terminal which holds that pane runs"},
		{"", fault.EngineUnavailable, "", "nothing was changed: the engine that holds this team does not answer; try again, then tell the person at the terminal"},
		{"", fault.NoSpace, "", "end a teammate first, or let the terminal window be larger"},
		{"", fault.DiskFull, "", "a person has to make room on the disk first"},
		{"", fault.Failed, "", "try again; if it fails once more, tell the person at the terminal"},
	}
}

// told is an error as a tool tells it.
func told(tool string, err error) complaint {
	f := fault.Of(err)
	e := complaint{Code: string(f.Code), Message: oneLine(f.Message), Hint: oneLine(f.Hint)}
	for _, r := range rows() {
		if r.from != f.Code || r.tool != "" && r.tool != tool {
			continue
		}
		if e.Code = string(cmp.Or(r.to, f.Code)); r.to != "" {
			e.Cause = string(f.Code)
		}
		if f.Hint == "" || ofCommandLine(f.Hint) {
			e.Hint = r.hint
		}
		break
	}
	return e
}

// maxWords is the longest message or hint, in bytes: what was sent may be in it.
const maxWords = 2000

func oneLine(s string) string {
	if len(s) <= maxWords {
		return s
	}
	return strings.ToValidUTF8(s[:maxWords], "") + "…"
}

// ofCommandLine tells a hint that speaks of the command line, which a model may not
// have.
func ofCommandLine(hint string) bool {
	return strings.Contains(hint, "leadlight ") || strings.Contains(hint, "--") || strings.Contains(hint, "standard input")
}
