package environ

// rule keeps variables from those who are not to have them.
type rule struct {
	kind   kind
	names  []string
	reason string
}

type kind int

const (
	folder   kind = iota // leads a program to another folder than its own
	terminal             // describes the terminal of whoever starts it
	session              // marks the session of whoever starts it
)

// rules is the one table of what a teammate does not get of its lead's environment.
func rules() []rule {
	return []rule{
		{folder, []string{"PWD", "OLDPWD", "INIT_CWD", "PROJECT_CWD"}, "says where the lead is, or was"},
		{folder, []string{"CDPATH"}, "a shell's cd looks there before the folder it runs in"},
		{folder, []string{
			"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
			"GIT_QUARANTINE_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_INTERNAL_*", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
			"GIT_ATTR_SOURCE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_PUSH_OPTION_*", "GIT_PUSH_CERT*",
		}, "git takes it before the folder it runs in: it would work on the lead's repository"},
		{folder, []string{"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*"},
			"settings of one repository or one command (core.worktree); git itself drops them in another repository"},
		{folder, []string{"GIT_REFLOG_ACTION", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"}, "of one command of git, whose hook the lead may run in"},
		{folder, []string{"HG_*", "HGROOT", "JJ_REPO", "SVN_*", "BZR_*", "CVSROOT"}, "the repository of another system, or of its hook"},
		{folder, []string{"DIRENV_*", "__MISE_*", "MISE_PROJECT_ROOT"}, "what direnv or mise has loaded for the lead's folder, and would unload in another"},
		{folder, []string{"npm_*", "NPM_PACKAGE_*", "CARGO_MANIFEST_*", "CARGO_PKG_*", "CARGO_MAKEFLAGS", "PNPM_SCRIPT_SRC_DIR", "BERRY_BIN_FOLDER"},
			"the package whose script the lead may run in"},
		{folder, []string{
			"BUNDLE_GEMFILE", "BUNDLE_BIN_PATH", "BUNDLER_*", "RUBYOPT", "RUSTUP_TOOLCHAIN", "BUILD_WORKSPACE_DIRECTORY", "BUILD_WORKING_DIRECTORY", "RUNFILES_*", "JAVA_RUNFILES",
			"PIPENV_PIPFILE", "PIPENV_ACTIVE", "POETRY_ACTIVE", "PDM_PROJECT_ROOT", "TOX_ENV_*", "TOX_WORK_DIR", "MAVEN_PROJECTBASEDIR", "LERNA_ROOT_PATH", "LERNA_PACKAGE_NAME", "NX_WORKSPACE_ROOT",
			"NX_TASK_*", "TURBO_HASH", "GOFILE", "GOLINE", "GOPACKAGE", "GOWORK", "PRE_COMMIT*", "HUSKY_GIT_PARAMS", "VAGRANT_CWD",
			"JUST_JUSTFILE", "JUST_WORKING_DIRECTORY", "COMPOSE_FILE", "COMPOSE_PROJECT_DIRECTORY", "CONDUCTOR_*",
		}, "the project that a runner (bundle exec, cargo, bazel run) has found for the lead"},
		{folder, []string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKE_TERMOUT", "MAKE_TERMERR"}, "of a running make: names descriptors that nobody else has"},
		{folder, []string{"CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_*"}, "of a hook of the lead's project"},

		{terminal, []string{"TMUX*", "STY", "WINDOW", "WINDOWID", "ZELLIJ*", "BYOBU_*", "ABDUCO_*", "DVTM*", "DTACH*"}, "another pane of another multiplexer"},
		{terminal, []string{"TERM", "TERMCAP", "TERMINFO", "COLORTERM", "COLORFGBG", "COLUMNS", "LINES", "TERM_*", "LC_TERMINAL*", "TERMINAL_EMULATOR"},
			"what another terminal can do, and how large it is"},
		{terminal, []string{
			"ITERM_*", "ITERM2_*", "KITTY_*", "WEZTERM_*", "ALACRITTY_*", "GHOSTTY_*", "KONSOLE_*", "GNOME_TERMINAL_*", "TILIX_*", "TERMINATOR_*", "VTE_*",
			"XTERM_*", "FOOT_*", "CONTOUR_*", "RIO_*", "TABBY_*", "WARP_*", "HYPER_*", "WT_*", "ConEmu*", "PTYXIS_*", "GUAKE_*", "TILDA_*", "EXTRATERM_*",
			"LC_EXTRATERM_COOKIE", "DOMTERM", "MLTERM", "CMUX_*", "__CFBundleIdentifier", "XPC_*", "WAVETERM*", "MINTTY_*", "SHELL_SESSION_*",
		}, "names a window that the teammate is not in"},
		{terminal, []string{
			"NVIM", "NVIM_*", "VIM", "VIMRUNTIME", "VIM_*", "MYVIMRC", "INSIDE_EMACS", "EMACS", "EMACS_*",
			"VSCODE_*", "ELECTRON_RUN_AS_NODE", "CURSOR_TRACE_ID", "CURSOR_AGENT", "ZED_*", "IDEA_*", "JEDITERM_*", "PYCHARM_HOSTED", "INTELLIJ_*", "kak_*", "LF_LEVEL", "MC_SID", "MC_TMPDIR", "RANGER_LEVEL", "NNNLVL", "YAZI_*",
		}, "the editor in whose terminal the lead runs"},
		{terminal, []string{"GPG_TTY", "SSH_TTY", "TTY", "PINENTRY_USER_DATA"}, "another terminal, at which a question would be asked"},
		{terminal, []string{"ASCIINEMA_*", "STARSHIP_SESSION_KEY", "ATUIN_SESSION", "ATUIN_HISTORY_ID", "SHELLOPTS", "BASHOPTS", "_"}, "the lead's own shell"},

		{session, []string{
			"CLAUDECODE", "CLAUDE_PID", "CLAUDE_SESSION_*", "CLAUDE_CODE_SESSION_*", "CLAUDE_CODE_PARENT_*", "CLAUDE_CODE_MESSAGING_*", "CLAUDE_CODE_TASK_LIST_ID", "CLAUDE_CODE_TEAM_*",
			"CLAUDE_CODE_AGENT_*", "CLAUDE_AGENT_*", "CLAUDE_CODE_TEAMMATE_*", "CLAUDE_CODE_PLAN_MODE_*", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_REMOTE*",
			"CLAUDE_CODE_CONTAINER_ID", "CLAUDE_CODE_BRIDGE_*", "CLAUDE_CODE_ENVIRONMENT_*", "CLAUDE_CODE_WORKER_*", "CLAUDE_CODE_IDE_*", "CLAUDE_CODE_TMUX_*", "CLAUDE_CODE_ACTION", "CLAUDE_CODE_HOST_*", "CLAUDE_CODE_CHILD_*",
			"CLAUDE_AGENT", "CLAUDE_AGENTS_*", "CLAUDE_BG_*", "CLAUDE_BRIDGE_*", "CLAUDE_CHROME_*", "CLAUDE_CLIENT_PRESENCE_FILE", "CLAUDE_HELPER_CONTEXT", "CLAUDE_INTERNAL_*", "CLAUDE_JOB_DIR",
			"CLAUDE_PROJECT_UUID", "CLAUDE_PTY_*", "CLAUDE_RELAUNCH_*", "CLAUDE_RUNNER_*", "CLAUDE_SDK_*", "CLAUDE_SKILL_DIR", "CLAUDE_SSH_*", "CLAUDE_STAGE_FILE_ROOT",
			"CLAUDE_CODE_AGENT", "CLAUDE_CODE_BASE_REF*", "CLAUDE_CODE_CCR_*", "CLAUDE_CODE_CLOUD_*", "CLAUDE_CODE_COORDINATOR_*", "CLAUDE_CODE_DAEMON_*", "CLAUDE_CODE_DESKTOP_*", "CLAUDE_CODE_DIAGNOSTICS_FILE",
			"CLAUDE_CODE_HOSTED_*", "CLAUDE_CODE_INVOKED_*", "CLAUDE_CODE_IS_*", "CLAUDE_CODE_LAUNCHED_*", "CLAUDE_CODE_LAUNCHER_*", "CLAUDE_CODE_PROJECTS_SESSION", "CLAUDE_CODE_RELAUNCH_*", "CLAUDE_CODE_REPO_CHECKOUTS",
			"CLAUDE_CODE_RESULT_NONCE", "CLAUDE_CODE_RESUME_*", "CLAUDE_CODE_RUNNER_*", "CLAUDE_CODE_SANDBOXED", "CLAUDE_CODE_SCRATCHPAD_DIR", "CLAUDE_CODE_SDK_*", "CLAUDE_CODE_SESSIONS_*", "CLAUDE_CODE_SHELL_HANDOVER_*",
			"CLAUDE_CODE_SPAWN*", "CLAUDE_CODE_SUPERVISED", "CLAUDE_CODE_TAGS", "CLAUDE_CODE_TEE_*", "CLAUDE_CODE_TELEPORT_*", "CLAUDE_CODE_TERMINAL_*", "CLAUDE_CODE_TOOL_USE_ID", "CLAUDE_CODE_TRIGGER_ID", "CLAUDE_CODE_TUI_*",
			"CLAUDE_CODE_USER_DELEGATED_*", "CLAUDE_CODE_WORKSPACE_*",
		}, "the lead's own session of Claude Code: the teammate's would take itself for it, or for a part of it"},
		{session, []string{"CODEX_SANDBOX*", "CODEX_THREAD_ID", "CODEX_SESSION_*", "CODEX_INTERNAL_*", "CODEX_MANAGED_*", "GEMINI_CLI", "GEMINI_CLI_*", "OPENCODE", "OPENCODE_PID", "OPENCODE_CLIENT", "OPENCODE_SERVER_*", "AGENT", "AI_AGENT"},
			"the lead's own session of another agent"},
		{session, []string{"LEADLIGHT_AGENT", "LEADLIGHT_HOST", "LEADLIGHT_HOOK", "LEADLIGHT_TASK", "LEADLIGHT_TEAM", "LEADLIGHT_BASE_DIR", "LEADLIGHT_PANE", "LEADLIGHT_CALLER_VERSION"},
			"who the lead is to us; the teammate has its own"},
		{session, []string{"LEADLIGHT_MCP_TOKEN"}, "a secret of the server that the lead may be"},
		{session, []string{"CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_GATEWAY_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_WEBSOCKET_*", "CLAUDE_CODE_ARTIFACT_FD"},
			"names a descriptor of the lead's, which nobody else has"},
		{session, []string{"LISTEN_*", "NOTIFY_SOCKET", "WATCHDOG_*", "MAINPID", "MANAGERPID*", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "CREDENTIALS_DIRECTORY", "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN"},
			"the service or the launch that the lead is"},
	}
}

func ofKinds(kinds ...kind) []string {
	var names []string
	for _, r := range rules() {
		for _, k := range kinds {
			if r.kind == k {
				names = append(names, r.names...)
			}
		}
	}
	return names
}

// Folder are the variables that lead a program to another folder than its own, or to the
// repository of another one.
func Folder() []string { return ofKinds(folder) }

// Terminal are the variables by which a terminal, or an editor's, describes itself to the
// programs in it.
func Terminal() []string { return ofKinds(terminal) }

// OfTheLead are all the variables of a lead that a teammate does not get.
func OfTheLead() []string { return ofKinds(folder, terminal, session) }

// Session are the variables that bind a program to the lead's session and folder; who
// speaks for the lead's own terminal gets all others.
func Session() []string { return ofKinds(folder, session) }

// FromPane are the variables that a teammate gets from its own pane.
func FromPane() []string {
	return []string{"TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM", "ITERM_SESSION_ID", "KITTY_WINDOW_ID"}
}

// Server is what a process gets that outlives its first caller and serves others too,
// such as a terminal's server: what says who the user is, where things are and how they
// are written, and nothing that could be a secret.
func Server(environ []string) []string {
	allowed := []string{
		"HOME", "USER", "LOGNAME", "SHELL", "PATH", "HOSTNAME", // the user and the machine
		"LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", // language and time
		"LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME", "LOCALE_ARCHIVE", "TZ", "TZDIR",
		"TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", // folders
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "SSH_AGENT_PID", // places of the user's session, guarded by themselves
		"LD_LIBRARY_PATH", "DYLD_*", "NIX_LD*", "NIX_PATH", "NIX_PROFILES", "NIX_SSL_CERT_FILE", "GOCOVERDIR", "GORACE", // how programs are loaded
		"CLAUDE_CONFIG_DIR", "LEADLIGHT_*", // where teams are, and our settings
	}
	return append(Without(Only(environ, allowed...), OfTheLead()...), Only(environ, "TMUX_TMPDIR")...)
}
