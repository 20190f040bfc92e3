package panes

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocketPath is what every system takes as the path of a unix socket, with
// room to spare (Linux has 108 bytes, macOS 104, both with the final NUL).
const maxSocketPath = 100

// StateDir is the folder of what outlives a login, $XDG_STATE_HOME/leadlight or
// ~/.local/state/leadlight, found by the variables; "" without a home.
func StateDir(getenv func(string) string) string {
	root := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(root) {
		if root = getenv("HOME"); !filepath.IsAbs(root) {
			return ""
		}
		root = filepath.Join(root, ".local", "state")
	}
	return filepath.Join(root, "leadlight")
}

// RuntimeDir returns the folder for sockets and for what must not outlive a
// boot: $XDG_RUNTIME_DIR/leadlight if $XDG_RUNTIME_DIR is a folder of ours, else
// /tmp/leadlight-<uid>. It makes nothing: the first spawn does.
func RuntimeDir(getenv func(string) string) string {
	uid := os.Getuid()
	if xdg := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(xdg) && owned(xdg, uid) {
		dir := filepath.Join(xdg, "leadlight")
		if len(socketPath(dir, "", "", "")) <= maxSocketPath {
			return dir
		}
	}
	return filepath.Join("/tmp", "leadlight-"+strconv.Itoa(uid))
}

// owned tells whether path is a folder that belongs to uid.
func owned(path string, uid int) bool {
	fi, err := os.Stat(path)
	if err != nil || !fi.IsDir() {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}

// BaseKey is the short name of a base directory, for marks and paths.
func BaseKey(base string) string {
	if real, err := filepath.EvalSymlinks(base); err == nil {
		base = real
	}
	return shortHash(base)
}

// socketPath is the control socket of one member's host.
func socketPath(runtime, baseKey, team, agent string) string {
	baseKey = cmp.Or(baseKey, shortHash(""))
	return filepath.Join(runtime, baseKey, shortHash(team+"\x00"+agent)+".sock")
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
