package observe

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// What a result says. The client reports many failures without the error flag:
// as success:false, or as nothing but a sentence. And it reports success where
// nothing was done. So a result is judged by all it says.

// refusalOpenings are the openings of sentences that report a failure, in lower
// case. They count only where the result has neither a success field nor a status.
var refusalOpenings = []string{
	"<tool_use_error>", "error:", "error ", "failed", "cannot ", "can't ", "could not ", "unable ", "no such ",
	"task not found", "team not found", "already leading", "permission denied",
	"taskcompleted hook", "taskcreated hook", "hook feedback", "blocked by hook", "pretooluse:", "inputvalidationerror", "invalid ",
	"the user doesn't want", "[request interrupted", "claude requested permission", "permission to use", "tool result missing", "api error",
	"only the ", "tmux: ", "no space ",
}

// refused tells whether the tool did nothing, and in which words it said so.
func (r Result) refused() (string, bool) {
	success := r.Fields["success"]
	switch {
	case r.IsError:
	case !rawjson.IsNull(success):
		if flagged(success) {
			return "", false
		}
	case !rawjson.IsNull(r.Fields["ok"]) && !flagged(r.Fields["ok"]), r.failure() != "":
	case slices.Contains([]string{"error", "failed", "denied", "rejected"}, r.field("status")):
	case r.field("status") != "": // "completed": the text is what a subagent answered
		return "", false
	case opensLikeRefusal(r.Text), opensLikeRefusal(scalar(r.Structured)):
	default:
		return "", false
	}
	return r.words(), true
}

// failure is what a result says in a field of its own about an error.
func (r Result) failure() string {
	if !flagged(r.Fields["error"]) { // 0: there was none
		return ""
	}
	return cmp.Or(r.field("error"), scalar(r.object("error")["message"]))
}

func opensLikeRefusal(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	head, _, _ := strings.Cut(text, ":")
	return strings.HasSuffix(head, " blocked by hook") || slices.ContainsFunc(refusalOpenings, func(opening string) bool { return strings.HasPrefix(text, opening) })
}

// words returns the sentence of a result, at most a few hundred bytes of it.
func (r Result) words() string {
	words := cmp.Or(r.field("message"), r.failure(), r.Text, scalar(r.Structured))
	words = strings.TrimSpace(strings.NewReplacer("<tool_use_error>", "", "</tool_use_error>", "").Replace(words))
	const most = 500
	if len(words) > most {
		words = strings.ToValidUTF8(words[:most], "") + "…"
	}
	return words
}

// field returns the first of the named scalar fields that is there.
func (r Result) field(names ...string) string {
	for _, name := range names {
		if s := scalar(r.Fields[name]); s != "" {
			return s
		}
	}
	return ""
}

// object returns the fields of a nested object.
func (r Result) object(name string) map[string]json.RawMessage { return fields(r.Fields[name]) }

// line returns what follows "name: " at the start of one of the text's lines.
func (r Result) line(name string) string {
	for l := range strings.Lines(r.Text) {
		if value, ok := strings.CutPrefix(l, name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// taskID returns the id of the task that was created, or "".
func (r Result) taskID() string {
	if id := cmp.Or(scalar(r.object("task")["id"]), r.field("taskId", "task_id", "id")); id != "" {
		return id
	}
	for _, mark := range []string{"ask #", "#"} {
		if _, rest, ok := strings.Cut(r.Text, mark); ok && digits(rest) != "" {
			return digits(rest)
		}
	}
	if text := strings.TrimSpace(r.Text); digits(text) == text {
		return text
	}
	return ""
}

// digits returns the digits s begins with.
func digits(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		return s
	}
	return s[:end]
}

// changed tells whether an update that removes a task did it: a result that says which fields
// were changed names one. Other fields that it does not name are as asked already.
func (r Result) changed(names ...string) bool {
	list := items(r.Fields["updatedFields"])
	return list == nil || slices.ContainsFunc(list, func(raw json.RawMessage) bool { return slices.Contains(names, scalar(raw)) })
}

// spawned returns the team a spawn's result names. It is not ok if no teammate
// was started: a plain subagent ran, or nothing did.
func (c Correlated) spawned() (team string, ok bool) {
	status := c.Result.field("status")
	if status != "" && status != "teammate_spawned" {
		return "", false
	}
	_, ofAgent, _ := strings.Cut(c.agentID(), "@")
	team = cmp.Or(c.Result.field("team_name"), c.Result.line("team_name"), ofAgent)
	if team == "" && c.ToolName == "Task" {
		team = scalar(c.input()["team_name"]) // older clients: what was asked for is what was done
	}
	return team, team != ""
}

func (c Correlated) agentID() string {
	return cmp.Or(c.Result.field("agent_id", "teammate_id", "agentId"), c.Result.line("agent_id"))
}

// deletes tells whether a TeamDelete that was not refused ended the team called name: it
// did, unless the result names another team or says that there was nothing to do.
func (c Correlated) deletes(name string) bool {
	if team := c.Result.field("team_name"); team != "" {
		return sameTeam(team, name)
	}
	said := c.Result.field("message") + " " + plainText(c.Result)
	if _, rest, quoted := strings.Cut(said, `team "`); quoted {
		other, _, _ := strings.Cut(rest, `"`)
		return sameTeam(other, name)
	}
	said = strings.ToLower(said)
	return !slices.ContainsFunc([]string{"nothing to", "no team", " still ", "active member"}, func(words string) bool { return strings.Contains(said, words) })
}

// plainText is a result's text if that is a sentence, not JSON.
func plainText(r Result) string {
	if isObject(json.RawMessage(strings.TrimSpace(r.Text))) {
		return ""
	}
	return r.Text
}

// sameTeam compares names the way the client makes a folder of them.
func sameTeam(a, b string) bool { return folder(a) == folder(b) }

func folder(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			return c
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '-'
	}, name)
}

// implied tells whether name is that of a session's implicit team: session- and
// the first eight hex digits of the session's id.
func implied(name string) bool {
	rest, ok := strings.CutPrefix(name, "session-")
	return ok && len(rest) == 8 && strings.Trim(rest, "0123456789abcdef") == ""
}
