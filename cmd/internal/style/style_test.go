package style

import (
	"testing"

	"github.com/leadlight-dev/leadlight/teams/api"
)

func TestEveryStateHasALook(t *testing.T) {
	for _, state := range []string{api.StateStarting, api.StateActive, api.StateWaiting, api.StateIdle, api.StateStopping,
		api.StateStopped, api.StateFailed, api.StateLost} {
		if Member(state) == Member("of no kind") {
			t.Errorf("%s looks like one that is not known", state)
		}
	}
	if Member(api.StateUnknown).Mark != "~" {
		t.Error("unknown looks known")
	}
}

func TestColours(t *testing.T) {
	for _, c := range []struct{ color, ansi, tmux string }{
		{"red", "31", "colour1"}, {"pink", "35", "colour5"}, {"purple", "38;5;141", "colour141"}, {"orange", "38;5;208", "colour208"},
		{"bold", "1", ""}, {"dim", "2", ""}, {"", "", ""}, {"#[fg=red]", "", ""},
	} {
		if ANSI(c.color) != c.ansi || Tmux(c.color) != c.tmux {
			t.Errorf("%q is %q and %q", c.color, ANSI(c.color), Tmux(c.color))
		}
	}
}
