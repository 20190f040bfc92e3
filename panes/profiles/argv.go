package profiles

import (
	"regexp"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Ask is what one spawn wants of a profile. What is empty is not asked for.
type Ask struct {
	Command            []string // in place of the profile's own, taken as it is
	Agent, Team, Color string
	Kind               string // as which kind it is run
	Type               string // of agent
	Model              string
	Parent             string // id of the session that leads
	Session            string // id for the conversation that begins
	Mode               string // permission mode of the lead
	Plan               bool   // must have a plan approved first
	Settings           string // a file with more settings, for a native agent
}

// Words lists what is replaced in a profile's arguments, and by what.
func Words() [][2]string {
	return [][2]string{
		{"{agent}", "the teammate's name"}, {"{team}", "the team's name"}, {"{color}", "the teammate's colour"},
		{"{type}", "what --agent-type says"}, {"{model}", "what --model says"},
		{"{parent}", "the id of the lead's session"}, {"{session}", "an id for the conversation that begins"},
	}
}

func (a Ask) replacer() *strings.Replacer {
	return strings.NewReplacer("{agent}", a.Agent, "{team}", a.Team, "{color}", a.Color,
		"{type}", a.Type, "{model}", a.Model, "{parent}", a.Parent, "{session}", a.Session)
}

// Argv returns the command line that starts the agent, and the one that goes on
// with the conversation which the first began; nil if the agent cannot. It is
// fault.Unsupported to ask for a plan where there are no arguments for it.
//
// The order is: the command, who it is, plan mode, type, permissions, model, the
// conversation. An agent that plans gets no permissions: to plan means to have
// none.
func (p Profile) Argv(a Ask) (start, resume []string, err error) {
	if a.Plan && (len(p.PlanArgs) == 0 || a.Kind == Worker || a.Kind == ACP) {
		return nil, nil, fault.New(fault.Unsupported, "the profile %s has no plan mode", p.Name).
			WithHint("leave plan mode out, or give the profile planArgs (leadlight help agents)")
	}
	words := a.replacer()
	command := a.Command
	if len(command) == 0 {
		command = replaced(words, p.Command)
	}
	if a.Kind == ACP {
		return p.acpArgv(a, words)
	}
	if len(command) == 0 {
		return nil, nil, nil
	}
	var options []string
	for _, part := range []struct {
		asked bool
		args  []string
	}{
		{a.Kind == Native, p.JoinArgs}, {a.Plan, p.PlanArgs}, {a.Type != "", p.TypeArgs},
		{!a.Plan, p.ModeArgs[a.Mode]}, {a.Model != "", p.ModelArgs},
	} {
		if part.asked {
			options = append(options, part.args...)
		}
	}
	if a.Kind == Native && a.Settings != "" {
		options = append(options, Settings, a.Settings)
	}
	if !p.Resumes() || a.Kind == Worker { // it never goes on: each start begins another conversation
		return slices.Concat(command, replaced(words, options)), nil, nil
	}
	start = slices.Concat(command, replaced(words, slices.Concat(options, p.SessionArgs)))
	resume = slices.Concat(command, replaced(words, slices.Concat(p.ResumeArgs, options)))
	return start, resume, nil
}

// acpArgv is Argv for an agent that speaks the Agent Client Protocol: what it may do is
// answered when it asks, and its conversation is found by a message.
func (p Profile) acpArgv(a Ask, words *strings.Replacer) (start, resume []string, err error) {
	command := a.Command
	if len(command) == 0 {
		command = replaced(words, p.ACP)
	}
	if len(command) == 0 && p.Kind == ACP {
		command = replaced(words, p.Command)
	}
	if len(command) == 0 {
		return nil, nil, fault.New(fault.Unsupported, "the profile %s has no command with which its agent speaks the Agent Client Protocol", p.Name).
			WithHint("leave --kind out, or give the profile an acp command (leadlight help agents)")
	}
	if a.Model != "" && len(a.Command) == 0 && !strings.HasPrefix(command[len(command)-1], "-") {
		return nil, nil, fault.New(fault.Unsupported, "%s takes no model", strings.Join(command, " ")).
			WithHint("say it in the settings of %s itself", command[0])
	}
	if a.Model != "" {
		command = slices.Concat(command, replaced(words, p.ModelArgs))
	}
	return command, command, nil
}

func replaced(words *strings.Replacer, args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = words.Replace(arg)
	}
	return out
}

// NoSession stands for the id of a conversation that an agent has not shown yet.
const NoSession = "{session}"

// BeginSession is the id under which a conversation begins: own, or none yet where the
// agent gives it one itself.
func (p Profile) BeginSession(kind, own string) string {
	if p.SessionShown != "" || kind == ACP {
		return NoSession
	}
	return own
}

// ShownSession is the id of its conversation that an agent shows in its last output, ""
// if it shows none.
func (p Profile) ShownSession(output string) string {
	re, err := regexp.Compile(p.SessionShown)
	if p.SessionShown == "" || err != nil {
		return ""
	}
	found := re.FindAllStringSubmatch(output, -1)
	if len(found) == 0 || len(found[0]) < 2 {
		return ""
	}
	return found[len(found)-1][1]
}

// Resumes tells whether it can go on with its own conversation: ResumeArgs say which.
// Without its id they would find the newest one of the folder, which may be another's.
func (p Profile) Resumes() bool {
	return slices.ContainsFunc(p.ResumeArgs, func(s string) bool { return strings.Contains(s, NoSession) })
}

// UnknownWord returns the first {word} in an argument that nothing replaces, or "".
func UnknownWord(arg string) string {
	for rest := arg; ; {
		_, after, found := strings.Cut(rest, "{")
		name, after, closed := strings.Cut(after, "}")
		if !found || !closed {
			return ""
		}
		word := "{" + name + "}"
		known := slices.ContainsFunc(Words(), func(w [2]string) bool { return w[0] == word })
		letters := name != "" && !strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
		if letters && !known {
			return word
		}
		rest = after
	}
}
