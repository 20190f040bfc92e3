package screen_test

import (
	"testing"

	"github.com/leadlight-dev/leadlight/panes/screen"
)

// A program without rules has a prompt at the end of its last line, or a terminal that
// edits lines.
func TestXH03_WithoutRules(t *testing.T) {
	r, err := screen.NewReader(screen.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		s    screen.Screen
		want screen.State
	}{
		{screen.Screen{Text: "hello\n> "}, screen.Ready},
		{screen.Screen{Text: "you$ "}, screen.Ready},
		{screen.Screen{Text: "> \n", Cursor: 1}, screen.Ready},
		{screen.Screen{Text: "a\n> \n", Cursor: 1}, screen.Unknown},
		{screen.Screen{Text: "hello\n"}, screen.Unknown},
		{screen.Screen{Text: "hello\n", Cooked: true}, screen.Ready},
		{screen.Screen{Cooked: true}, screen.Ready},
		{screen.Screen{}, screen.Starting},
		{screen.Screen{Text: "Go on? [y/N] ", Cooked: true}, screen.Asking},
		{screen.Screen{Text: "Press any key", Cooked: true}, screen.Asking},
	} {
		if got := r.Read(tc.s); got.State != tc.want {
			t.Errorf("%+v: %s, want %s", tc.s, got.State, tc.want)
		}
	}
	if _, err := screen.NewReader(screen.Rules{Busy: []string{"("}}); err == nil {
		t.Error("a pattern that is none was taken")
	}
}
