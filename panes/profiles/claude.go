package profiles

import "github.com/leadlight-dev/leadlight/panes/screen"

// The permission modes of Claude Code. The modes of its lead are what a teammate
// inherits; the other profiles say what the same is with their agent.
const (
	ModeDefault     = "default"
	ModeAcceptEdits = "acceptEdits"
	ModeBypass      = "bypassPermissions"
	ModePlan        = "plan"
	ModeDontAsk     = "dontAsk"
	ModeAuto        = "auto" // from 2.1.112 on, at the latest
)

// claudeProgram is the client.
const claudeProgram = "claude"

func claudeModels() []string {
	return []string{"haiku", "sonnet", "opus", "claude-*", "*.anthropic.claude-*", "anthropic.claude-*"}
}

// claudeModes: every mode but plan, for which PlanArgs are the way.
func claudeModes() map[string][]string {
	modes := map[string][]string{ModeBypass: {"--dangerously-skip-permissions"}}
	for _, m := range []string{ModeDefault, ModeAcceptEdits, ModeDontAsk, ModeAuto} {
		modes[m] = []string{"--permission-mode", m}
	}
	return modes
}

// claudePrompt: the prompt is a line that begins with > or ❯ (followed by a no-break
// space) between two rules, or in a box in older versions. While it works, a line with a
// turning star stands above it.
func claudePrompt() PromptProtocol {
	return PromptProtocol{
		Quit: "/exit", Ready: []string{`^\s*[│|]?\s*[>❯](\s|$)`}, Frame: screen.FrameRules,
		Asking: []string{`^\s*-- (NORMAL|VISUAL( LINE)?|REPLACE) --`, `^\s*Make auto mode your default\b`}, // its Vim mode, in which a text would be commands; its first start, without keys below
		Busy:   []string{`^\s?[·✢✳✶✻✽*∗]\s\S+…`, `^\s?[·✢✳✶✻✽*∗]\s.*\(.*\besc to interrupt\b.*\)\s*$`, `^\s+(⏵⏵|⏸) .* · esc to interrupt\b`},
	}
}

// The client keeps a conversation from its first message on, and finds it by the id
// that it was given; one of a teammate goes on as that teammate.
func sessionArgs() []string { return []string{"--session-id", "{session}"} }
func resumeArgs() []string  { return []string{"--resume", "{session}"} }

// claudeNative is started as the client starts its own teammates. The flags are the
// same in every version that has teams; the first message waits in the inbox.
func claudeNative() Profile {
	return Profile{
		Name: Claude, Kind: Native, Summary: "Claude Code as a teammate that reads the team's files itself", Command: []string{claudeProgram},
		Models: claudeModels(), ModelArgs: []string{"--model", "{model}"},
		JoinArgs: []string{
			"--agent-id", "{agent}@{team}", "--agent-name", "{agent}", "--team-name", "{team}",
			"--agent-color", "{color}", "--parent-session-id", "{parent}",
		},
		TypeArgs: []string{"--agent-type", "{type}"}, PlanArgs: []string{"--plan-mode-required"}, ModeArgs: claudeModes(),
		SessionArgs: sessionArgs(), ResumeArgs: resumeArgs(),
		Env:            []string{"CLAUDECODE=1", TeamsOn + "=1"},
		PromptProtocol: claudePrompt(),
	}
}

// claudeInteractive: the adapter for the Agent Client Protocol is a program of its own.
func claudeInteractive() Profile {
	return Profile{
		Name: "claude-interactive", Kind: Interactive, Summary: "Claude Code at its prompt, in a team of any kind", Command: []string{claudeProgram}, ACP: []string{"claude-agent-acp"},
		Models: claudeModels(), ModelArgs: []string{"--model", "{model}"}, TypeArgs: []string{"--agent", "{type}"},
		PlanArgs: []string{"--permission-mode", "plan"}, SessionArgs: sessionArgs(), ResumeArgs: resumeArgs(),
		ModeArgs: claudeModes(), PromptProtocol: claudePrompt(),
	}
}

func claudeWorker() Profile {
	p := worker("claude-worker", "claude -p", claudeModels(), claudeModes(), claudeProgram, "-p", taskPrompt, "--output-format", "stream-json", "--verbose")
	p.TypeArgs = []string{"--agent", "{type}"}
	return p
}
