package environ

import (
	"path/filepath"
	"strings"
)

// paths are the variables that name one file or folder and mean the same for a teammate,
// which works in another folder, as for its lead. XDG's are not among them: a relative one
// is to be ignored, by everybody.
func paths() []string {
	return []string{
		"HOME", "TMPDIR", "TMUX_TMPDIR", "CLAUDE_CONFIG_DIR", "LEADLIGHT_BASE_DIR", "LEADLIGHT_TMUX_SOCKET",
		"CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "COPILOT_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "GOOGLE_APPLICATION_CREDENTIALS", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
		"GNUPGHOME", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK", "VIRTUAL_ENV",
	}
}

// WholePaths returns environ with the variables that name a file or folder as whole paths.
func WholePaths(environ []string, dir string) []string {
	home, out := Get(environ, "HOME"), environ
	for _, name := range paths() {
		value := Get(environ, name)
		if whole := WholePath(value, home, dir); whole != value {
			out = Set(out, name+"="+whole)
		}
	}
	return out
}

// WholePath is a path that means the same in each folder: ~ is home, as in a shell, and
// what is relative counts from dir. A path that cannot be completed (~bob, or a folder
// that is not known) stays as it is.
func WholePath(path, home, dir string) string {
	rest, fromHome := strings.CutPrefix(path, "~")
	switch {
	case path == "", filepath.IsAbs(path):
		return path
	case fromHome && (rest == "" || rest[0] == '/'):
		if filepath.IsAbs(home) {
			return filepath.Join(home, rest)
		}
	case !fromHome && dir != "":
		return filepath.Join(dir, path)
	}
	return path
}
