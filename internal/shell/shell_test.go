package shell

import "testing"

func TestLine(t *testing.T) {
	if got, want := Line("tmux", "-S", "/a b/s", "attach", "-t", "=it's", ""), `tmux -S '/a b/s' attach -t '=it'\''s' ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
