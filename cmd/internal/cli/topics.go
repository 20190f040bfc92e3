package cli

import (
	_ "embed" // for the topic files
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/api/rpc"
)

// A helpTopic is a page of help that is no command's, printed from the tables
// that the code itself goes by.
type helpTopic struct {
	name, short string
	write       func(io.Writer)
}

func topics() []helpTopic {
	return []helpTopic{
		{"environment", "the variables that are read", writeEnvironment},
		{"exit-codes", "exit statuses and error codes", writeExitCodes},
		{"files", "where everything is kept", writeFiles},
		{"team-file", "the keys of leadlight.yaml", writeTeamFile},
		{"agents", "how agents are run", writeAgents},
		{"json", "the fields of the answers with --json", writeJSONTopic},
	}
}

func writeEnvironment(w io.Writer) {
	fmt.Fprintf(w, "A setting is taken from the strongest of: flag, environment, team file, user file, default.\n"+
		"`leadlight doctor -v` shows each with its origin.\n\n")
	for _, v := range config.Variables() {
		if v.Name == "" {
			continue
		}
		doc := v.Doc
		if v.Flag != "" {
			doc += " (--" + v.Flag + ")"
		}
		fmt.Fprintf(w, "  %-22s %s\n", v.Name, doc)
	}
	fmt.Fprintf(w, "\nThe team that is meant is the one of --team or of the command line, else that of LEADLIGHT_TEAM, else the\n"+
		"only one there is, else the one of the leadlight.yaml in this folder.\n")
	fmt.Fprintf(w, "\nA teammate gets the lead's environment without what describes the lead's own terminal and\n"+
		"session, and LEADLIGHT_TEAM, LEADLIGHT_AGENT, LEADLIGHT_BASE_DIR and LEADLIGHT_HOST of its own. A\n"+
		"worker's command also gets LEADLIGHT_TASK, and LEADLIGHT_FEEDBACK after a hook's objection; a teammate\n"+
		"of a run gets LEADLIGHT_RUN, LEADLIGHT_ROLE_GUIDANCE and LEADLIGHT_PERSONALITY.\n")
}

func writeExitCodes(w io.Writer) {
	fmt.Fprintf(w, "Errors end with a code in brackets; with --json they are {\"error\":{\"code\",\"message\",\"hint\"}} on\nstandard error.\n\n")
	fmt.Fprintf(w, "  %-4d %s\n", fault.ExitOK, "done")
	for _, g := range fault.Table() {
		fmt.Fprintf(w, "  %-4d %s\n", g.Exit, g.Meaning)
		line := "      "
		for _, c := range g.Codes {
			if len(line)+len(c) > 96 {
				fmt.Fprintln(w, line)
				line = "      "
			}
			line += " " + string(c)
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "  %-4d %s\n", fault.ExitInterrupted, "interrupted")
}

// filesText is where everything is kept.
//
//go:embed files.txt
var filesText string

func writeFiles(w io.Writer) { io.WriteString(w, filesText) }

func writeTeamFile(w io.Writer) {
	fmt.Fprintf(w, "leadlight up reads %s, or the file it is given. Folders in it are relative to its own.\n"+
		"Unknown keys, wrong types and references to nothing are errors, each with file, line and column.\n", config.TeamFileName)
	for _, s := range config.TeamFileSections() {
		writeSection(w, s)
	}
	fmt.Fprintf(w, "\nThe user's settings have a file of the same form ($XDG_CONFIG_HOME/leadlight/config.yaml):\n")
	writeSection(w, config.UserFileSection())
	fmt.Fprintf(w, "\n`leadlight init --template checks` writes this one:\n\n")
	for line := range strings.Lines(config.Starter) {
		fmt.Fprint(w, strings.TrimRight("  "+line, " \n")+"\n")
	}
}

func writeSection(w io.Writer, s config.Section) {
	fmt.Fprintf(w, "\n%s:\n", s.Title)
	for _, k := range s.Keys {
		fmt.Fprintf(w, "  %-13s %-44s %s\n", k.Name, k.Form, k.Doc)
	}
}

func writeAgents(w io.Writer) {
	fmt.Fprintf(w, "A profile says how one kind of agent is run. With a command after -- the profile is exec; with\n"+
		"neither --agent nor a command it is the setting defaults.agent, else claude.\n\nProfiles:\n")
	set := profiles.NewSet(nil)
	for _, name := range set.Names() {
		fmt.Fprintf(w, "  %-18s %-12s %s\n", name, set[name].Kind, set[name].Summary)
	}
	fmt.Fprintf(w, "\nKinds:\n")
	for _, k := range kindsTable() {
		fmt.Fprintf(w, "  %-12s %s\n", k[0], k[1])
	}
	fmt.Fprintf(w, "\nA worker's command gets its task as JSON on standard input and the id in LEADLIGHT_TASK; exit 0\n"+
		"completes the task, and the end of its standard output becomes the result. Mail that has come since its\n"+
		"last task is the field messages of that JSON, and is then read.\n")
	fmt.Fprintf(w, "\nA team file or the user's settings change these profiles, or add one in ten lines\n(leadlight help team-file shows all keys):\n\n")
	for line := range strings.Lines(config.ProfileExample) {
		fmt.Fprint(w, "  "+line)
	}
	fmt.Fprintf(w, "\nWhere Claude Code leads, started by leadlight claude, a teammate whose type of agent is the name of\n"+
		"a profile, or stands in its agentTypes, runs that agent; every other one is Claude Code itself.\n")
	fmt.Fprintf(w, "\nIn arguments these words are replaced:\n")
	for _, word := range profiles.Words() {
		fmt.Fprintf(w, "  %-12s %s\n", word[0], word[1])
	}
}

func kindsTable() [][2]string {
	return [][2]string{
		{profiles.Native, "speaks the team's files itself and is only supervised"},
		{profiles.Interactive, "a program at a prompt: mail is typed into it"},
		{profiles.ACP, "speaks the Agent Client Protocol: nothing is typed or guessed"},
		{profiles.Worker, "no conversation: one command for each task"},
		{profiles.Plain, "runs and is supervised; mail waits until it is read"},
	}
}

// stateShape is the shape of observe's state, which writes itself.
type stateShape struct {
	Name    any `json:"name"`
	Role    any `json:"role"`
	Members any `json:"members"`
	Tasks   any `json:"tasks"`
	Agents  any `json:"agents"`
}

// jsonAnswer is what verbs answer with --json.
type jsonAnswer struct {
	verbs string
	list  bool
	of    any
}

func jsonAnswers() []jsonAnswer {
	return []jsonAnswer{
		{"team show, team create", false, api.Team{}},
		{"team ls", true, api.TeamSummary{}},
		{"team delete", false, deletedTeam{}},
		{"up", false, upResult{}},
		{"up --dry-run", false, upPlan{}},
		{"  members with --dry-run, each", false, plannedMember{}},
		{"  tasks with --dry-run, each", false, plannedTask{}},
		{"  missing, each, also with --dry-run", false, upMissing{}},
		{"ps", true, api.Member{}},
		{"spawn, restart NAME", false, api.Member{}},
		{"stop, down", false, api.Endings{}},
		{"  members, each", false, api.Ending{}},
		{"capture, logs (a list for several)", false, paneText{}},
		{"attach", false, api.Attachment{}},
		{"backend test", false, backendReport{}},
		{"  cases, each", false, caseReport{}},
		{"requests", true, request{}},
		{"approve, deny (a list for several)", false, request{}},
		{"plan submit, plan show", false, api.Plan{}},
		{"keys", false, pressed{}},
		{"diff (a list without NAME)", false, difference{}},
		{"set", false, changed{}},
		{"team takeover", false, api.Takeover{}},
		{"team delegate", false, api.Delegation{}},
		{"run ls", true, shownRun{}},
		{"run create, pause, resume, cancel", false, shownRun{}},
		{"run show, run create --wait", false, shownReport{}},
		{"  members, each", false, shownRunMember{}},
		{"  tasks, each", false, shownRunTask{}},
		{"run team ls", true, definedTeam{}}, {"run team rm", false, removedDefinition{}},
		{"run item ls", true, shownItem{}},
		{"run item add, update, mv", false, shownItem{}},
		{"send", false, api.Sent{}},
		{"send --all, or to several names", true, api.Sent{}},
		{"inbox", true, api.Message{}},
		{"inbox prune", false, pruned{}},
		{"task add, show, claim, update, done, fail, release", false, api.Task{}},
		{"task ls", true, api.Task{}},
		{"task rm, run item rm", false, removedTask{}},
		{"events, observe, each", false, rpc.EventLine{}},
		{"observe --emit state, each", false, stateShape{}},
		{"daemon status, start", false, api.DaemonStatus{}},
		{"machine ls", true, api.Machine{}},
		{"mcp install", false, mcpInstalled{}},
		{"doctor", false, api.Checkup{}},
		{"  checks, each", false, api.Check{}},
		{"backend ls", true, api.Check{}},
		{"gc", true, api.Orphan{}},
		{"version", false, versionInfo{}},
		{"init", false, written{}},
		{"init --list", true, config.TemplateInfo{}},
		{"errors, on standard error: {\"error\": …}", false, fault.Error{}},
	}
}

func writeJSONTopic(w io.Writer) {
	fmt.Fprintf(w, "One document a verb, one a line with --follow and --watch. Fields are only ever added; what is not\n"+
		"known is absent. Times are RFC 3339 in UTC with milliseconds.\n\n")
	for _, a := range jsonAnswers() {
		list := ""
		if a.list {
			list = " (a list)"
		}
		fmt.Fprintf(w, "  %s%s\n", a.verbs, list)
		line := "     "
		for _, f := range jsonFields(reflect.TypeOf(a.of)) {
			if len(line)+len(f) > 96 {
				fmt.Fprintln(w, line)
				line = "     "
			}
			line += " " + f
		}
		fmt.Fprintln(w, line)
	}
}

// jsonFields lists the JSON names of a struct's fields.
func jsonFields(t reflect.Type) []string {
	var out []string
	for field := range t.Fields() {
		if field.Anonymous {
			out = append(out, jsonFields(field.Type)...)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if slices.Contains(out, name) {
			continue // in the place of an embedded one
		}
		if name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}
