package tmux

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// maxSocket is the longest socket path taken, in bytes. sun_path holds 104 on
// macOS and 108 on Linux, including a final NUL; tmux adds ".lock" for its lock.
const maxSocket = 100

// isPane and isWindow tell an id that tmux gave from everything else.
func isPane(s string) bool   { return numbered(s, "%") }
func isWindow(s string) bool { return numbered(s, "@") }

// numbered tells whether s is the mark and a decimal number. It is asked of every row
// of every list, and costs nothing at the start of the program.
func numbered(s, mark string) bool {
	digits, ok := strings.CutPrefix(s, mark)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// checkPane refuses what is not a pane id: tmux would take "" or an unknown name
// for the current pane.
func checkPane(id backend.ID) error {
	if !isPane(string(id)) {
		return fault.New(fault.InvalidArgument, "%q is not a tmux pane id such as %%5", string(id))
	}
	return nil
}

func checkWindow(id string) error {
	if !isWindow(id) {
		return fault.New(fault.InvalidArgument, "%q is not a tmux window id such as @5", id)
	}
	return nil
}

// Inside is what the variable TMUX says about the server around a process.
type Inside struct {
	Socket string // path of the server's socket
	PID    int    // process id of the server
}

// ParseInside reads a value of TMUX: SOCKET,PID,SESSION, where the socket may itself
// hold commas. An empty value is no error and no server (false). tmux started with a
// relative -S writes a relative path there, which nobody else can use: refused.
func ParseInside(value string) (in Inside, ok bool, err error) {
	if value == "" {
		return Inside{}, false, nil
	}
	words := strings.Split(value, ",")
	at := max(len(words)-2, 0)
	socket := strings.Join(words[:at], ",")
	pid, err := strconv.Atoi(words[at])
	if socket == "" || err != nil || pid <= 0 || strings.HasSuffix(value, ",") {
		return Inside{}, false, fault.New(fault.InvalidArgument, "TMUX=%q is not of the form SOCKET,PID,SESSION", value).
			WithHint("unset TMUX, or start again from inside a tmux pane")
	}
	if !filepath.IsAbs(socket) {
		return Inside{}, false, fault.New(fault.InvalidArgument, "TMUX names the socket by a relative path, %q", socket).
			WithHint("start that tmux server with an absolute path after -S, or give its path with --tmux-socket")
	}
	return Inside{socket, pid}, true, nil
}

// socketPath makes the path absolute and refuses what a socket address cannot hold.
func socketPath(path string) (string, error) {
	if path == "" {
		return "", fault.New(fault.InvalidArgument, "no tmux socket is named")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fault.New(fault.InvalidArgument, "tmux socket %q: %w", path, err)
	}
	if len(abs) > maxSocket {
		return "", fault.New(fault.InvalidArgument, "the tmux socket path %q has %d bytes, at most %d are possible", abs, len(abs), maxSocket).
			WithHint("choose a shorter path with --tmux-socket or LEADLIGHT_TMUX_SOCKET")
	}
	return abs, nil
}

// sameSocket tells whether two paths name one socket, links followed.
func sameSocket(a, b string) bool {
	if a == b {
		return true
	}
	ai, err := os.Stat(a)
	if err != nil {
		return false
	}
	bi, err := os.Stat(b)
	return err == nil && os.SameFile(ai, bi)
}

// literal protects a value that tmux expands as a format: every # is doubled, so
// that #(…) runs nothing and #{…} stays as written.
func literal(s string) string { return strings.ReplaceAll(s, "#", "##") }

// objectName turns a name into one that tmux takes unchanged for a session or a
// window and that no target syntax can misread.
func objectName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, strings.ToValidUTF8(name, "_"))
	clean = strings.TrimLeft(clean, "-")
	for utf8.RuneCountInString(clean) > 64 {
		_, n := utf8.DecodeLastRuneInString(clean)
		clean = clean[:len(clean)-n]
	}
	if clean == "" {
		return "leadlight"
	}
	return clean
}

// display makes a text fit for a border: one line, no styles, nothing that is not shown.
func display(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 64 {
		s = string(r[:63]) + "…"
	}
	return literal(s)
}
