package profiles

// The two profiles that run whatever they are given.
const (
	Exec  = "exec"
	Shell = "shell"
)

// Claude is the profile of Claude Code as a member that reads the team's files.
const Claude = "claude"

// taskPrompt is what an agent that works off tasks is told; the task comes on its
// standard input.
const taskPrompt = "Standard input holds one task as JSON. Carry out what its subject and description ask, here in this folder, " +
	"with regard to its messages, which your team has sent you, and end with a short report of what you did and found. If it cannot be done, say why."

// builtin is the table of the known agents. The flags are those of each program's own
// --help in the version that docs/agents.md names; how the screens look is recorded in
// panes/screen/testdata. Of aider only the documentation was read
// (aider.chat/docs/config/options.html and /docs/usage/commands.html).
func builtin() []Profile {
	return []Profile{
		claudeNative(), claudeInteractive(), claudeWorker(),
		codex(), codexWorker(), gemini(), geminiWorker(), opencode(), opencodeWorker(),
		qwen(), qwenWorker(), copilot(), copilotWorker(), aider(),
		{Name: Exec, Kind: Plain, Summary: "runs the command after -- as it is"},
		{Name: Shell, Kind: Worker, Summary: "a worker: runs one command per task with sh -c"},
	}
}

func aider() Profile {
	return Profile{
		Name: "aider", Kind: Interactive, Summary: "aider at its prompt", Command: []string{"aider"},
		Models: []string{"*"}, ModelArgs: []string{"--model", "{model}"},
		PlanArgs: []string{"--chat-mode", "ask"}, ModeArgs: map[string][]string{ModeBypass: {"--yes-always"}},
		PromptProtocol: PromptProtocol{
			Quit: "/exit", Ready: []string{`^[a-z ]*>(\s|$)`}, Asking: []string{`\(Y\)es/\(N\)o`},
		},
	}
}
