package profiles

import (
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// ask is a spawn that asks for everything but a plan.
func ask() Ask {
	return Ask{
		Agent: "worker-1", Team: "research-team", Color: "blue", Type: "general-purpose", Model: "haiku",
		Parent: "11111111-2222-4333-8444-555555555555", Session: "99999999-2222-4333-8444-555555555555", Mode: ModeBypass,
	}
}

// The command lines that are documented of each agent, whole.
func TestA03_CommandLines(t *testing.T) {
	for _, tc := range []struct {
		profile, model string
		plan           bool
		start, resume  string
	}{
		{"claude", "haiku", false, "claude --agent-id worker-1@research-team --agent-name worker-1 --team-name research-team --agent-color blue" +
			" --parent-session-id 11111111-2222-4333-8444-555555555555 --agent-type general-purpose --dangerously-skip-permissions --model haiku" +
			" --session-id 99999999-2222-4333-8444-555555555555",
			"claude --resume 99999999-2222-4333-8444-555555555555 --agent-id worker-1@research-team --agent-name worker-1 --team-name research-team --agent-color blue" +
				" --parent-session-id 11111111-2222-4333-8444-555555555555 --agent-type general-purpose --dangerously-skip-permissions --model haiku"},
		{"claude", "", true, "claude --agent-id worker-1@research-team --agent-name worker-1 --team-name research-team --agent-color blue" +
			" --parent-session-id 11111111-2222-4333-8444-555555555555 --plan-mode-required --agent-type general-purpose --session-id 99999999-2222-4333-8444-555555555555",
			"claude --resume 99999999-2222-4333-8444-555555555555 --agent-id worker-1@research-team --agent-name worker-1 --team-name research-team --agent-color blue" +
				" --parent-session-id 11111111-2222-4333-8444-555555555555 --plan-mode-required --agent-type general-purpose"},
		{"claude-interactive", "claude-opus-4-6", false,
			"claude --agent general-purpose --dangerously-skip-permissions --model claude-opus-4-6 --session-id 99999999-2222-4333-8444-555555555555",
			"claude --resume 99999999-2222-4333-8444-555555555555 --agent general-purpose --dangerously-skip-permissions --model claude-opus-4-6"},
		{"claude-interactive", "", true,
			"claude --permission-mode plan --agent general-purpose --session-id 99999999-2222-4333-8444-555555555555",
			"claude --resume 99999999-2222-4333-8444-555555555555 --permission-mode plan --agent general-purpose"},
		{"codex", "gpt-5.4", false, "codex --no-daemon --dangerously-bypass-approvals-and-sandbox --model gpt-5.4",
			"codex --no-daemon resume 99999999-2222-4333-8444-555555555555 --dangerously-bypass-approvals-and-sandbox --model gpt-5.4"},
		{"codex", "", true, "codex --no-daemon --sandbox read-only --ask-for-approval on-request",
			"codex --no-daemon resume 99999999-2222-4333-8444-555555555555 --sandbox read-only --ask-for-approval on-request"},
		{"codex-worker", "gpt-5.4", false, "codex exec --json - --dangerously-bypass-approvals-and-sandbox --model gpt-5.4", ""},
		{"gemini", "flash", false, "gemini --approval-mode yolo --model flash --session-id 99999999-2222-4333-8444-555555555555", "gemini --resume 99999999-2222-4333-8444-555555555555 --approval-mode yolo --model flash"},
		{"gemini", "", true, "gemini --approval-mode plan --allowed-tools run_shell_command(leadlight plan),run_shell_command(leadlight send),run_shell_command(leadlight inbox) --session-id 99999999-2222-4333-8444-555555555555", "gemini --resume 99999999-2222-4333-8444-555555555555 --approval-mode plan --allowed-tools run_shell_command(leadlight plan),run_shell_command(leadlight send),run_shell_command(leadlight inbox)"},
		{"qwen", "m", false, "qwen --approval-mode yolo --model m --session-id 99999999-2222-4333-8444-555555555555", "qwen --resume 99999999-2222-4333-8444-555555555555 --approval-mode yolo --model m"},
		{"copilot", "gpt-5.4", false, "copilot --allow-all --mode interactive --model gpt-5.4 --session-id 99999999-2222-4333-8444-555555555555", "copilot --resume=99999999-2222-4333-8444-555555555555 --allow-all --mode interactive --model gpt-5.4"},
		{"copilot", "", true, "copilot --plan --session-id 99999999-2222-4333-8444-555555555555", "copilot --resume=99999999-2222-4333-8444-555555555555 --plan"},
		{"opencode", "anthropic/claude-sonnet-4-5", false, "opencode --auto --model anthropic/claude-sonnet-4-5", "opencode --session 99999999-2222-4333-8444-555555555555 --auto --model anthropic/claude-sonnet-4-5"},
		{"opencode", "", true, "opencode --agent plan", "opencode --session 99999999-2222-4333-8444-555555555555 --agent plan"},
		{"aider", "gpt-4o", false, "aider --yes-always --model gpt-4o", ""},
		{"aider", "", true, "aider --chat-mode ask", ""},
		{"shell", "", false, "", ""},
	} {
		p, err := NewSet(nil).Get(tc.profile)
		if err != nil {
			t.Fatal(err)
		}
		a := ask()
		a.Kind, a.Model, a.Plan = p.Kind, tc.model, tc.plan
		if err := p.CheckModel(a.Model); err != nil {
			t.Errorf("%s: %v", tc.profile, err)
		}
		start, resume, err := p.Argv(a)
		if got := strings.Join(start, " "); err != nil || got != tc.start {
			t.Errorf("%s starts with\n %s (%v), want\n %s", tc.profile, got, err, tc.start)
		}
		if got := strings.Join(resume, " "); got != tc.resume {
			t.Errorf("%s resumes with\n %s, want\n %s", tc.profile, got, tc.resume)
		}
	}
}

func TestWorkersGetTheTaskOnStandardInput(t *testing.T) {
	for name, want := range map[string][]string{
		"claude-worker": {"claude", "-p", taskPrompt, "--output-format", "stream-json", "--verbose"},
		"gemini-worker": {"gemini", "-p", taskPrompt, "--output-format", "stream-json"},
		"codex-worker":  {"codex", "exec", "--json", "-"},
	} {
		p := NewSet(nil)[name]
		start, resume, err := p.Argv(Ask{Kind: Worker})
		if err != nil || !slices.Equal(start, want) || resume != nil {
			t.Errorf("%s: %q, %q, %v", name, start, resume, err)
		}
	}
}

// One that cannot go on begins another conversation each time: an id that was used
// before would be refused.
func TestOnlyWhoGoesOnGetsAnId(t *testing.T) {
	p := NewSet(map[string]Profile{"claude-interactive": {ResumeArgs: []string{}}})["claude-interactive"]
	for _, ask := range []Ask{{Kind: Interactive, Session: "s"}, {Kind: Worker, Session: "s"}} {
		if start, resume, err := p.Argv(ask); err != nil || strings.Join(start, " ") != "claude" || resume != nil {
			t.Errorf("%s: %q, %q, %v", ask.Kind, start, resume, err)
		}
	}
	if start, _, _ := NewSet(nil)["claude-interactive"].Argv(Ask{Kind: Worker, Session: "s"}); strings.Join(start, " ") != "claude" {
		t.Errorf("as a worker: %q", start)
	}
}

func TestACommandOfTheSpawnIsTakenAsItIs(t *testing.T) {
	p := NewSet(nil)[Exec]
	start, _, err := p.Argv(Ask{Command: []string{"awk", "{agent}", "{print}"}, Agent: "bob", Kind: Plain})
	if want := []string{"awk", "{agent}", "{print}"}; err != nil || !slices.Equal(start, want) {
		t.Errorf("%q, %v", start, err)
	}
	p = NewSet(nil)["codex"]
	start, resume, _ := p.Argv(Ask{Command: []string{"/opt/codex", "--oss"}, Kind: Interactive, Model: "gpt-5", Session: "s"})
	if strings.Join(start, " ") != "/opt/codex --oss --model gpt-5" || strings.Join(resume, " ") != "/opt/codex --oss resume s --model gpt-5" {
		t.Errorf("%q, %q", start, resume)
	}
}

func TestCommandsOfTheProtocol(t *testing.T) {
	for name, want := range map[string]string{"gemini": "gemini --acp --model m", "qwen": "qwen --acp --model m", "copilot": "copilot --acp --model m", "opencode": "", "codex": ""} {
		start, resume, err := NewSet(nil)[name].Argv(Ask{Kind: ACP, Session: "s", Mode: ModeBypass, Model: "m"})
		if strings.Join(start, " ") != want || !slices.Equal(start, resume) || (want == "") != (fault.CodeOf(err) == fault.Unsupported) {
			t.Errorf("%s: %q, %q, %v", name, start, resume, err)
		}
	}
	for name, want := range map[string]string{"codex": "codex-acp", "claude-interactive": "claude-agent-acp"} { // their adapters
		if start, _, err := NewSet(nil)[name].Argv(Ask{Kind: ACP}); err != nil || strings.Join(start, " ") != want {
			t.Errorf("%s: %q, %v", name, start, err)
		}
	}
	own := NewSet(map[string]Profile{"mine": {Kind: ACP, Command: []string{"mine", "--stdio"}}})["mine"]
	if start, _, err := own.Argv(Ask{Kind: ACP}); err != nil || strings.Join(start, " ") != "mine --stdio" {
		t.Errorf("a profile of that kind: %q, %v", start, err)
	}
}

func TestPlanModeIsRefusedWhereThereIsNone(t *testing.T) {
	for _, tc := range [][2]string{{Exec, Plain}, {Shell, Worker}, {"claude-worker", Worker}, {"codex-worker", Worker}, {"codex", Worker}, {"gemini", ACP}} {
		_, _, err := NewSet(nil)[tc[0]].Argv(Ask{Kind: tc[1], Plan: true, Command: []string{"x"}})
		if fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%s as %s: %v", tc[0], tc[1], err)
		}
	}
}

// The permissions of the lead, in the words of each agent; the names are those of
// Claude Code.
func TestM15_PermissionsInTheWordsOfEachAgent(t *testing.T) {
	for profile, modes := range map[string]map[string]string{
		"claude": {"": "", ModeDefault: "--permission-mode default", ModeAcceptEdits: "--permission-mode acceptEdits",
			ModeBypass: "--dangerously-skip-permissions", ModeDontAsk: "--permission-mode dontAsk", ModeAuto: "--permission-mode auto", ModePlan: "", "later": ""},
		"codex":    {"": "", ModeDefault: "--sandbox workspace-write --ask-for-approval on-request", ModeAcceptEdits: "--sandbox workspace-write --ask-for-approval on-request", ModeBypass: "--dangerously-bypass-approvals-and-sandbox"},
		"gemini":   {ModeDefault: "--approval-mode default", ModeAcceptEdits: "--approval-mode auto_edit", ModeBypass: "--approval-mode yolo"},
		"opencode": {ModeDefault: "", ModeAcceptEdits: "", ModeBypass: "--auto"},
		"aider":    {ModeDefault: "", ModeAcceptEdits: "", ModeBypass: "--yes-always"},
	} {
		for mode, want := range modes {
			p := NewSet(nil)[profile]
			with, _, _ := p.Argv(Ask{Mode: mode, Kind: Worker})
			if got := strings.Join(with[len(p.Command):], " "); got != want {
				t.Errorf("%s in mode %q: %q, want %q", profile, mode, got, want)
			}
		}
	}
}

func TestModels(t *testing.T) {
	set := NewSet(map[string]Profile{"mine": {Kind: Plain, Models: []string{"a*b*c", "x"}}})
	for profile, models := range map[string]map[string]bool{
		"claude": {"haiku": true, "sonnet": true, "opus": true, "claude-opus-4-6": true, "us.anthropic.claude-sonnet-4-5": true,
			"gpt-4": false, "claude": false, "Opus": false, "": true},
		"codex":    {"gpt-5.4": true, "o3": true, "opus": false},
		"gemini":   {"flash": true, "gemini-2.5-pro": true, "sonnet": false},
		"opencode": {"anthropic/claude-sonnet-4-5": true, "sonnet": false},
		"aider":    {"anything": true, "--yes-always": false},
		"shell":    {"": true, "opus": false},
		"mine":     {"abc": true, "a--b--c": true, "abcb": false, "ab": false, "x": true, "xx": false, "acb": false},
	} {
		p, err := set.Get(profile)
		if err != nil {
			t.Fatal(err)
		}
		for model, ok := range models {
			err := p.CheckModel(model)
			if (err == nil) != ok || (err != nil && fault.CodeOf(err) != fault.InvalidModel) {
				t.Errorf("%s with %q: %v", profile, model, err)
			}
		}
	}
	if err := set["claude"].CheckModel("gpt-4"); !strings.Contains(fault.Of(err).Hint, "haiku, sonnet, opus") {
		t.Errorf("the list is not said: %v", fault.Of(err).Hint)
	}
}

func TestSetOver(t *testing.T) {
	set := NewSet(map[string]Profile{
		"claude": {Command: []string{"/opt/x/claude-work"}, PlanArgs: []string{}},
		"mycli":  {Kind: Interactive, Command: []string{"mycli"}},
		"bare":   {Command: []string{"x"}},
	})
	p, err := set.Get("claude")
	if err != nil || p.Kind != Native || p.Command[0] != "/opt/x/claude-work" || len(p.JoinArgs) == 0 || p.Quit != "/exit" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, _, err := p.Argv(Ask{Kind: Native, Plan: true}); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("an empty list does not take the arguments away: %v", err)
	}
	if p, err := set.Get("mycli"); err != nil || p.Name != "mycli" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := set.Get("bare"); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a profile without a kind: %v", err)
	}
	if _, err := set.Get("claud"); fault.CodeOf(err) != fault.ProfileNotFound {
		t.Errorf("a profile that is not there: %v", err)
	}
	if d := (PromptProtocol{}).WithDefaults(); d.Submit != "enter" || d.Quiet != DefaultQuiet || d.Multiline != Join || d.MaxPaste != DefaultMaxPaste {
		t.Errorf("%+v", d)
	}
}

func TestTheTableIsSound(t *testing.T) {
	for name, p := range NewSet(nil) {
		if p.Name != name || p.Summary == "" || CheckKind(p.Kind) != nil {
			t.Errorf("%+v", p)
		}
		if (p.Kind == Native) != (len(p.JoinArgs) > 0) {
			t.Errorf("%s is of kind %s and joins with %q", name, p.Kind, p.JoinArgs)
		}
		if (len(p.Models) > 0) != (len(p.ModelArgs) > 0) {
			t.Errorf("%s has models and no arguments for them, or the other way round", name)
		}
		lists := [][]string{p.JoinArgs, p.TypeArgs, p.ModelArgs, p.SessionArgs, p.PlanArgs, p.ResumeArgs}
		for _, args := range p.ModeArgs {
			lists = append(lists, args)
		}
		for _, args := range lists {
			for _, arg := range args {
				if w := UnknownWord(arg); w != "" {
					t.Errorf("%s: nothing replaces %s", name, w)
				}
			}
		}
	}
}

// No agent goes on with the newest conversation of its folder, which may be another's: that
// of another team, of another agent, or the person's.
func TestXF19_NoneSharesConversations(t *testing.T) {
	for name, p := range NewSet(nil) {
		if len(p.ResumeArgs) > 0 && (!p.Resumes() || len(p.SessionArgs) == 0 && p.SessionShown == "") {
			t.Errorf("%s finds a conversation that is not its own", name)
		}
	}
	for _, args := range [][]string{{"--continue"}, {"resume", "--last"}, {"--resume", "latest"}} {
		p := Profile{Name: "own", Kind: Interactive, Command: []string{"own"}, SessionArgs: []string{"--session-id", "{session}"}, ResumeArgs: args}
		if start, resume, err := p.Argv(Ask{Kind: Interactive, Session: "id"}); err != nil || resume != nil || len(start) != 1 {
			t.Errorf("%q: it starts by %q and goes on by %q, %v", args, start, resume, err)
		}
	}
}

func TestM15_TheModeOfALead(t *testing.T) {
	for line, want := range map[string]string{
		"claude --permission-mode acceptEdits": "acceptEdits", "/opt/x/claude --model m --permission-mode=plan": "plan",
		"node /lib/node_modules/@anthropic-ai/claude-code/cli.js --dangerously-skip-permissions": "bypassPermissions",
		"claude": "", "claude --permission-mode": "", "claude -p -- --permission-mode plan": "", "bash -c claude": "none", "": "none",
	} {
		mode, ok := ModeOf(strings.Fields(line))
		if !ok {
			mode = "none"
		}
		if mode != want {
			t.Errorf("%s: %q, want %q", line, mode, want)
		}
	}
}

func FuzzUnknownWord(f *testing.F) {
	for _, s := range []string{"", "{agent}@{team}", "{agent", "{}", "{{agnet}}", `{"a":1}`, "}{", "{a}{b}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w := UnknownWord(s)
		if w != "" && !strings.Contains(s, w) {
			t.Errorf("%q is not in %q", w, s)
		}
		if like("*", s) == strings.HasPrefix(s, "-") || (like(s, s) != true && !strings.HasPrefix(s, "-")) {
			t.Errorf("%q is not like itself", s)
		}
	})
}
