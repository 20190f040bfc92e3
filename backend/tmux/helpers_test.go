package tmux_test

import (
	"regexp"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
)

var style = regexp.MustCompile(`#\[[^]]*\]`)

// shown is what a pane's border says: the pane's own format, expanded by tmux, without
// styles. tmux draws ## as #.
func shown(s *tmuxtest.S, id backend.ID) string {
	format := s.Run("show-options", "-A", "-p", "-v", "-t", string(id), "pane-border-format")
	text := strings.ReplaceAll(s.Format(string(id), format), "##", "\x00")
	return strings.ReplaceAll(style.ReplaceAllString(text, ""), "\x00", "#")
}
