package profiles

import (
	"time"

	"github.com/leadlight-dev/leadlight/panes/screen"
)

// worker is the profile of a program that does one task and ends.
func worker(name, how string, models []string, modes map[string][]string, command ...string) Profile {
	return Profile{
		Name: name, Kind: Worker, Summary: "a worker: " + how + " does each task", Command: command,
		Models: models, ModelArgs: []string{"--model", "{model}"}, ModeArgs: modes,
	}
}

func codexModels() []string { return []string{"gpt-*", "codex-*", "o1*", "o3*", "o4*"} }

// codexModes gives Codex what the lead may do: its sandbox and when it asks. The default
// is said, too: a conversation that goes on would keep what it had.
func codexModes(asks ...string) map[string][]string {
	workspace := append([]string{"--sandbox", "workspace-write"}, asks...)
	return map[string][]string{
		ModeDefault: workspace, ModeAcceptEdits: workspace,
		ModeBypass: {"--dangerously-bypass-approvals-and-sandbox"},
	}
}

// codex runs without the daemon that all its prompts would share: the second would have
// the first one's environment, and would go deaf when the first is stopped. Its adapter for
// the Agent Client Protocol is a program of its own, and would let a model answer what it
// asks, if its mode were not said.
func codex() Profile {
	return Profile{
		Name: "codex", Kind: Interactive, Summary: "OpenAI Codex at its prompt", Command: []string{"codex", "--no-daemon"}, ACP: []string{"codex-acp"}, Env: []string{"INITIAL_AGENT_MODE=workspace-write"},
		Models: codexModels(), ModelArgs: []string{"--model", "{model}"},
		PlanArgs:   []string{"--sandbox", "read-only", "--ask-for-approval", "on-request"},
		ResumeArgs: []string{"resume", "{session}"}, SessionShown: `\bcodex resume ([0-9a-f]{8}-[0-9a-f-]{27})\b`, ModeArgs: codexModes("--ask-for-approval", "on-request"),
		PromptProtocol: PromptProtocol{
			Quit: "/quit", Ready: []string{`^\s*[›▌](\s|$)`}, Frame: screen.FrameFooter, Footer: []string{`^\s+\S.* · [~/]`, `^\s+\^c quit\s*$`},
			Busy:   []string{`^• .*\(\d+[^()]* • esc to interrupt\)\s*$`, `^\s*\? for shortcuts\s*$`, `(?i)^• .*\bwaiting for startup\b`, `^• Reconnecting\b`},
			Asking: []string{`^\s*Would you like to (run|make|grant)\b`, `^\s*Find:(\s|$)`},
		},
	}
}

func codexWorker() Profile {
	return worker("codex-worker", "codex exec", codexModels(), codexModes(), "codex", "exec", "--json", "-")
}

func geminiModels() []string { return []string{"auto", "pro", "flash", "flash-lite", "gemini-*"} }

// approvalModes are those of Gemini CLI, and of Qwen Code, which descends from it.
func approvalModes(edit string) map[string][]string {
	return map[string][]string{
		ModeDefault:     {"--approval-mode", "default"},
		ModeAcceptEdits: {"--approval-mode", edit},
		ModeBypass:      {"--approval-mode", "yolo"},
	}
}

// gemini: its plan mode runs no command, so those by which a plan is handed in are named.
func gemini() Profile {
	return Profile{
		Name: "gemini", Kind: Interactive, Summary: "Gemini CLI at its prompt", Command: []string{"gemini"}, ACP: []string{"gemini", "--acp"},
		Models: geminiModels(), ModelArgs: []string{"--model", "{model}"},
		PlanArgs:    []string{"--approval-mode", "plan", "--allowed-tools", "run_shell_command(leadlight plan),run_shell_command(leadlight send),run_shell_command(leadlight inbox)"},
		SessionArgs: []string{"--session-id", "{session}"}, ResumeArgs: []string{"--resume", "{session}"}, ModeArgs: approvalModes("auto_edit"),
		PromptProtocol: PromptProtocol{ // /quit and Enter would pick the first entry of the list that it opens
			QuitKeys: []string{"ctrl-c", "ctrl-c"}, Ready: []string{`^\s*[>!*](\s|$)`}, Frame: screen.FrameRules,
			Footer: []string{`^\s+(workspace [( ]|[~/])`},                                                         // its messages stand in frames, too
			Busy:   []string{`^\s?[^\s\w✦]\s+\S.*\(esc to cancel, \d[^)]*\)`}, Asking: []string{`^\s*\[NORMAL\]`}, // its Vim mode
		},
	}
}

func geminiWorker() Profile {
	return worker("gemini-worker", "gemini -p", geminiModels(), approvalModes("auto_edit"), "gemini", "-p", taskPrompt, "--output-format", "stream-json")
}

func opencode() Profile {
	return Profile{
		Name: "opencode", Kind: Interactive, Summary: "OpenCode at its prompt", Command: []string{"opencode"}, ACP: []string{"opencode", "acp"},
		Models: []string{"*/*"}, ModelArgs: []string{"--model", "{model}"},
		PlanArgs: []string{"--agent", "plan"}, ResumeArgs: []string{"--session", "{session}"}, SessionShown: `\bopencode (?:-s|--session)[ =](ses_\w+)`,
		ModeArgs: map[string][]string{ModeBypass: {"--auto"}},
		PromptProtocol: PromptProtocol{
			Quit: "/exit", Quiet: 1500 * time.Millisecond, // it draws in steps while it starts
			Ready: []string{`ctrl\+p( commands\b|$)`}, Frame: screen.FrameBar, Busy: []string{`^ {0,3}([⬝■]{6,}|\[⋯\])\s`},
			Asking: []string{`^\W*Permission required\b`, `\benter (submit|confirm)\b`},
		},
	}
}

// opencodeWorker: what stands on standard input is added to the prompt.
func opencodeWorker() Profile {
	modes := map[string][]string{ModeBypass: {"--auto"}}
	return worker("opencode-worker", "opencode run", []string{"*/*"}, modes, "opencode", "run", taskPrompt, "--format", "json")
}

func qwenModes() map[string][]string {
	modes := approvalModes("auto-edit")
	modes[ModeAuto] = []string{"--approval-mode", "auto"}
	return modes
}

func qwen() Profile {
	return Profile{
		Name: "qwen", Kind: Interactive, Summary: "Qwen Code at its prompt", Command: []string{"qwen"}, ACP: []string{"qwen", "--acp"},
		Models: []string{"*"}, ModelArgs: []string{"--model", "{model}"}, PlanArgs: []string{"--approval-mode", "plan"},
		SessionArgs: []string{"--session-id", "{session}"}, ResumeArgs: []string{"--resume", "{session}"}, ModeArgs: qwenModes(),
		PromptProtocol: PromptProtocol{
			Quit: "/quit", Ready: []string{`^\s*[>!*](\s|$)`}, Frame: screen.FrameRules,
			Busy: []string{`^ {0,2}[^\s\w◆✦●]{1,3}\s+\S.*\(\d+[ms].*\besc to cancel\)\s*$`}, Asking: []string{`\bWaiting for user confirmation`, `^\W*Connect a Provider\b`, `^\s*(\[|-- )NORMAL( --|\])`},
		},
	}
}

func qwenWorker() Profile {
	return worker("qwen-worker", "qwen -p", []string{"*"}, qwenModes(), "qwen", "-p", taskPrompt, "--output-format", "stream-json")
}

// copilotModes: a conversation that goes on would stay in plan mode, if no other were said.
func copilotModes(mode ...string) map[string][]string {
	return map[string][]string{
		ModeDefault:     mode,
		ModeAcceptEdits: append([]string{"--allow-tool", "write"}, mode...),
		ModeBypass:      append([]string{"--allow-all"}, mode...),
	}
}

func copilot() Profile {
	return Profile{
		Name: "copilot", Kind: Interactive, Summary: "GitHub Copilot CLI at its prompt", Command: []string{"copilot"}, ACP: []string{"copilot", "--acp"},
		Models: []string{"*"}, ModelArgs: []string{"--model", "{model}"}, PlanArgs: []string{"--plan"},
		SessionArgs: []string{"--session-id", "{session}"}, ResumeArgs: []string{"--resume={session}"}, ModeArgs: copilotModes("--mode", "interactive"),
		PromptProtocol: PromptProtocol{
			Quit: "/exit", Ready: []string{`^\s*❯(\s|$)`}, Frame: screen.FrameRules, Busy: []string{`^\s*[◎○◉●]\s+[\w '-]+( · [\d.]+ \w+)? esc esc \S+`, `^\s*[◎○◉●]\s+Loading\b`},
			Asking: []string{`^\s*-- (NORMAL|VISUAL( LINE)?|REPLACE) --`}, // its Vim mode
		},
	}
}

// copilotWorker: copilot -p reads no standard input, so a shell puts the task behind the
// prompt.
func copilotWorker() Profile {
	p := worker("copilot-worker", "copilot -p", []string{"*"}, copilotModes(),
		"sh", "-c", `task=$(cat) && exec copilot --no-ask-user -p "$0 The task: $task" "$@"`, copilotPrompt, "--output-format", "json")
	p.Program = "copilot"
	return p
}

// copilotPrompt is taskPrompt for a program that is given the task itself.
const copilotPrompt = "You are given one task as JSON. Carry out what its subject and description ask, here in this folder, " +
	"with regard to its messages, which your team has sent you, and end with a short report of what you did and found. If it cannot be done, say why."
