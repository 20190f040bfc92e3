package profiles

import "time"

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
	"and end with a short report of what you did and found. If it cannot be done, say why."

// builtin is the table of the agents that are known. Sources: of claude, the
// client's own behaviour (versions 2.1.41 to 2.1.332) and its reference of flags;
// of codex, developers.openai.com/codex/cli/reference and what its approval dialog
// asks; of gemini, geminicli.com/docs/cli/cli-reference and its loading indicator;
// of opencode, opencode.ai/docs/cli and /docs/tui; of aider,
// aider.chat/docs/config/options.html and /docs/usage/commands.html.
func builtin() []Profile {
	return []Profile{
		claudeNative(), claudeInteractive(), claudeWorker(),
		codex(), codexWorker(), gemini(), geminiWorker(), opencode(), aider(),
		{Name: Exec, Kind: Plain, Summary: "runs the command after -- as it is"},
		{Name: Shell, Kind: Worker, Summary: "a worker: runs one command per task with sh -c"},
	}
}

func codexModels() []string { return []string{"gpt-*", "codex-*", "o1*", "o3*", "o4*"} }

// codexModes gives Codex what the lead may do: its sandbox and when it asks.
func codexModes() map[string][]string {
	return map[string][]string{
		ModeAcceptEdits: {"--sandbox", "workspace-write"},
		ModeBypass:      {"--dangerously-bypass-approvals-and-sandbox"},
	}
}

func codex() Profile {
	return Profile{
		Name: "codex", Kind: Interactive, Summary: "OpenAI Codex at its prompt", Command: []string{"codex"},
		Models: codexModels(), ModelArgs: []string{"--model", "{model}"},
		PlanArgs: []string{"--sandbox", "read-only"}, ResumeArgs: []string{"resume", "--last"}, ModeArgs: codexModes(),
		PromptProtocol: PromptProtocol{
			Quit: "/quit", Ready: []string{`^\s*[›▌>](\s|$)`}, Busy: []string{`(?i)\besc to interrupt`},
			Asking: []string{`^\s*Would you like to (run|make|grant)\b`, `(?i)^\s*press enter to (confirm|continue)`},
		},
	}
}

func codexWorker() Profile {
	return Profile{
		Name: "codex-worker", Kind: Worker, Summary: "a worker: codex exec does each task", Command: []string{"codex", "exec", "-"},
		Models: codexModels(), ModelArgs: []string{"--model", "{model}"}, ModeArgs: codexModes(),
	}
}

func geminiModels() []string { return []string{"auto", "pro", "flash", "flash-lite", "gemini-*"} }

func geminiModes() map[string][]string {
	return map[string][]string{
		ModeAcceptEdits: {"--approval-mode", "auto_edit"},
		ModeBypass:      {"--approval-mode", "yolo"},
	}
}

func gemini() Profile {
	return Profile{
		Name: "gemini", Kind: Interactive, Summary: "Gemini CLI at its prompt", Command: []string{"gemini"},
		Models: geminiModels(), ModelArgs: []string{"--model", "{model}"},
		PlanArgs: []string{"--approval-mode", "plan"}, ResumeArgs: []string{"--resume", "latest"}, ModeArgs: geminiModes(),
		PromptProtocol: PromptProtocol{
			Quit: "/quit", Ready: []string{`Type your message`}, Busy: []string{`\(esc to cancel, \d`},
			Asking: []string{`(?i)^[│|\s]*(apply this change|allow execution|do you trust)\b`, `(?i)waiting for user confirmation`, `^[│|\s]*●\s*1\.\s`},
		},
	}
}

func geminiWorker() Profile {
	return Profile{
		Name: "gemini-worker", Kind: Worker, Summary: "a worker: gemini -p does each task", Command: []string{"gemini", "-p", taskPrompt},
		Models: geminiModels(), ModelArgs: []string{"--model", "{model}"}, ModeArgs: geminiModes(),
	}
}

func opencode() Profile {
	return Profile{
		Name: "opencode", Kind: Interactive, Summary: "OpenCode at its prompt", Command: []string{"opencode"},
		Models: []string{"*/*"}, ModelArgs: []string{"--model", "{model}"},
		PlanArgs: []string{"--agent", "plan"}, ResumeArgs: []string{"--continue"}, ModeArgs: map[string][]string{ModeBypass: {"--auto"}},
		PromptProtocol: PromptProtocol{
			Quit: "/exit", Quiet: 1500 * time.Millisecond, // it draws in steps while it starts, and says nothing that means ready
			Busy: []string{`\besc (again )?(to )?interrupt\b`}, Asking: []string{`^\W*Permission required\b`},
		},
	}
}

func aider() Profile {
	return Profile{
		Name: "aider", Kind: Interactive, Summary: "aider at its prompt", Command: []string{"aider"},
		Models: []string{"*"}, ModelArgs: []string{"--model", "{model}"},
		PlanArgs: []string{"--chat-mode", "ask"}, ResumeArgs: []string{"--restore-chat-history"}, ModeArgs: map[string][]string{ModeBypass: {"--yes-always"}},
		PromptProtocol: PromptProtocol{
			Quit: "/exit", Ready: []string{`^[a-z ]*>\s*$`}, Asking: []string{`\(Y\)es/\(N\)o`},
		},
	}
}
