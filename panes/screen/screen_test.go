package screen_test

import (
	"strings"
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
	for _, line := range []string{
		"rm: remove regular file 'x'? ", "Enter PIN: ", "OTP: ", "Save file before closing? Yes/No/Cancel", "--More--", ":", "(END)", "Proceed ([y]/n)? ",
		"Type 'yes' to confirm: ", "Abort, Retry, Fail? ", "Username for 'https://x': ", "Password for 'https://bob@x': ", "Select [1-3]: ", "1) a\n2) b\n#? ",
		"1. Update\n2. Skip\n\nEnter a number: ", "Update (1-2): ",
	} {
		for _, s := range []screen.Screen{{Text: line, Cooked: true}, {Text: "hello\n" + line + "\n\n", Cursor: 2 + strings.Count(line, "\n"), Cooked: true}} {
			if r.Read(s).MayType().Valid() {
				t.Errorf("%+v: it may be typed into", s)
			}
		}
	}
	for _, s := range []screen.Screen{{Text: "is that so?\n", Cooked: true}, {Text: "You: ", Cooked: true}, {Text: "is that so?\n> "}, {Text: "is that so?\n\n", Cursor: 2, Cooked: true}} {
		if !r.Read(s).MayType().Valid() {
			t.Errorf("%+v: it may not be typed into", s)
		}
	}
	// What a person was shown to have typed is no choice of the question below it.
	for _, asks := range []string{"Really delete it? (y/n)", "Password for bob:"} {
		if got := r.Read(screen.Screen{Text: "hello\n> please delete it\n" + asks + " ", Cooked: true}); got.Ask() != asks {
			t.Errorf("it asks %q, want %q", got.Ask(), asks)
		}
	}
	for _, above := range []string{"Update now? [Y/n] n\n", "> 1. Update\n  2. Skip\n\n"} { // answered, and a text of ours typed
		text := "[leadlight] message from team-lead: a long text that is wrapped"
		got := r.Read(screen.Screen{Text: above + "$ [leadlight] message from team-lead:\n a long text that is wrapped", Cursor: 9})
		if got.State == screen.Asking || !got.MaySubmit(text).Valid() {
			t.Errorf("%q: %+v", above, got)
		}
		if got = r.Read(screen.Screen{Text: text + "\n" + above}); got.State != screen.Asking {
			t.Errorf("%q below a text: %+v", above, got)
		}
	}
	for _, tc := range []struct {
		rows   string
		cursor int
		want   bool
	}{{"and read it\nall", 3, true}, {"and read it\nall", 0, true}, {"and read it\nallocate", 3, true}, {"and read it al\nlocate\nit", 3, true}, {"and read it\nall", 4, false}, {"and read it all\nno", 3, false}, {"and read it all\nno\n1", 2, true}, {"and read it all\nName:", 3, false}} {
		got := r.Read(screen.Screen{Text: "hi\n>>> [leadlight] message from team-lead: " + tc.rows, Cursor: tc.cursor})
		if got.MaySubmit("[leadlight] message from team-lead: and read it all").Valid() != tc.want {
			t.Errorf("%q: it may be submitted: %t", tc.rows, !tc.want)
		}
	}
	if _, err := screen.NewReader(screen.Rules{Busy: []string{"("}}); err == nil {
		t.Error("a pattern that is none was taken")
	}
}

// A half line is what stands left of the cursor, of what was typed; a key that answered a dialog
// and left nothing is none, whatever else is on the screen.
func TestXH03_HalfLines(t *testing.T) {
	for _, tc := range []struct {
		text  string
		moved bool
		at    screen.Place
		want  bool
	}{
		{"rm -rf /srv/", false, screen.Place{Line: "$ rm -rf /srv/"}, true},
		{"1ls", false, screen.Place{Line: "› ls"}, true},
		{"y", false, screen.Place{Line: "› y"}, true},
		{"y", false, screen.Place{Line: "› ", Before: "say why" + "› "}, false},
		{"s", false, screen.Place{Line: " > ", Before: "? for shortcuts > ", Around: "shortcuts > type your message"}, false},
		{"a long text", false, screen.Place{Line: "│ xt", Before: "│ > a long te │" + "│ xt"}, true},
		{"jjk", true, screen.Place{Line: "$ ", Around: "$ "}, false},
		{"rm -rf /srv/", true, screen.Place{Line: "$ ", Around: "$ rm -rf /srv/"}, true},
		{"rm -rf /sr ", true, screen.Place{Line: "$ rm -rf /srv/", Around: "$ rm -rf /srv/"}, true},
		{"", true, screen.Place{Line: "$ rm -rf /srv/", Prompt: "$ "}, true},
		{"", true, screen.Place{Line: ">>> ", Prompt: "Go on? [y/n] "}, false},
		{"", true, screen.Place{Line: "job done", Prompt: ""}, false},
		{"one\ntwo", false, screen.Place{Line: "› [Pasted text #1 +2 lines] "}, true},
		{"go to it  ", true, screen.Place{Line: "› ", Around: "› Ask it to do", Prompt: "› ", Bare: "› Ask it to do"}, false},
		{"🙂", false, screen.Place{Line: "$ "}, false},
	} {
		if got := tc.at.Holds(tc.text, tc.moved); got != tc.want {
			t.Errorf("%q, moved %v, at %+v: %v", tc.text, tc.moved, tc.at, got)
		}
	}
}
