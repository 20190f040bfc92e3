package tmux_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
)

var style = regexp.MustCompile(`#\[[^]]*\]`)

// shown is what a pane's border says: the pane's own format, expanded by tmux, without
// styles. tmux draws ## as #.
func shown(s *tmuxtest.S, id backend.ID) string {
	format := s.Run("show-options", "-A", "-p", "-v", "-t", string(id), "pane-border-format")
	text := strings.ReplaceAll(s.Format(string(id), format), `\$`, "$") // 3.4 prints so what it draws as it is
	text = strings.ReplaceAll(text, "##", "\x00")
	return strings.ReplaceAll(style.ReplaceAllString(text, ""), "\x00", "#")
}

// noBorders tells whether this tmux is one whose panes have no border of their own: 3.2.
func noBorders(t testing.TB, s *tmuxtest.S) bool {
	t.Helper()
	return strings.HasPrefix(s.Run("-V"), "tmux 3.2")
}
