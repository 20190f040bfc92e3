package environ

import (
	"slices"
	"testing"
)

func TestXF07_PathsAreWhole(t *testing.T) {
	got := WholePaths([]string{"HOME=/h", "CLAUDE_CONFIG_DIR=~/.x", "CODEX_HOME=rel/./c", "LEADLIGHT_TMUX_SOCKET=/s", "SSL_CERT_FILE=~bob/x", "PATH=bin:/bin", "XDG_CONFIG_HOME=rel"}, "/w")
	want := []string{"HOME=/h", "CLAUDE_CONFIG_DIR=/h/.x", "CODEX_HOME=/w/rel/c", "LEADLIGHT_TMUX_SOCKET=/s", "SSL_CERT_FILE=~bob/x", "PATH=bin:/bin", "XDG_CONFIG_HOME=rel"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for path, want := range map[string]string{"~": "/h", "~/": "/h", "~x": "~x", "a": "/w/a", "": "", "/a": "/a", "./~": "/w/~"} {
		if got := WholePath(path, "/h", "/w"); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	if got := WholePath("~/a", "", "/w"); got != "~/a" {
		t.Errorf("without HOME: %q", got)
	}
	if got := WholePath("a", "/h", ""); got != "a" {
		t.Errorf("in a folder that is gone: %q", got)
	}
}
