package config

// Variable is one environment variable that leadlight reads.
type Variable struct {
	Name    string
	Flag    string // the global flag that is stronger; "": none
	Doc     string
	setting func(*Settings) *Value[string]
}

// Variables returns the variables, in the order of the help topic.
func Variables() []Variable {
	return []Variable{
		{"LEADLIGHT_BASE_DIR", "base-dir", "folder of the teams' files", func(s *Settings) *Value[string] { return &s.BaseDir }},
		{"LEADLIGHT_TEAM", "team", "the team that is meant", func(s *Settings) *Value[string] { return &s.Team }},
		{"LEADLIGHT_AGENT", "", "who asks; set inside a teammate, where another --as is refused; what runs below a teammate is that teammate without it, too", nil},
		{"LEADLIGHT_BACKEND", "backend", "the terminal that holds the panes", func(s *Settings) *Value[string] { return &s.Backend }},
		{"LEADLIGHT_TMUX_SOCKET", "tmux-socket", "socket of the tmux server to use", func(s *Settings) *Value[string] { return &s.TmuxSocket }},
		{"LEADLIGHT_MCP_TOKEN", "", "what clients of leadlight mcp --http have to know; else one is made up and told", nil},
		{"LEADLIGHT_DEBUG", "verbose", "1: verbose output on stderr", nil},
		{"", "as", "", func(s *Settings) *Value[string] { return &s.As }},
		{"CLAUDE_CONFIG_DIR", "", "Claude Code's home, the base directory unless LEADLIGHT_BASE_DIR is set", nil},
		{"TMUX", "", "set inside tmux: the server that is used there", nil},
		{"TMUX_PANE", "", "set inside tmux: the lead's pane", nil},
		{"ITERM_SESSION_ID", "", "set inside iTerm2", nil},
		{"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "", "1: leadlight mcp offers a model its tools; Claude Code makes teams of its own", nil},
		{"XDG_RUNTIME_DIR", "", "folder for sockets, if it is ours; else /tmp", nil},
		{"XDG_CONFIG_HOME", "", "folder of leadlight/config.yaml; else ~/.config", nil},
		{"XDG_STATE_HOME", "", "folder of the daemon's database, its log, and worktrees; else ~/.local/state", nil},
		{"NO_COLOR", "no-color", "not empty: no colours", nil},
	}
}
