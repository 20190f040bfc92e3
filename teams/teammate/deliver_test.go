package teammate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestIB12_IdleNoticesCollapse(t *testing.T) {
	idle := func(id, from string) api.Message {
		return api.Message{ID: id, From: from, Type: store.IdleNotification, Text: store.Frame{Type: store.IdleNotification, From: from, IdleReason: "available"}.Text()}
	}
	done := idle("7", "bob")
	done.Text = store.Frame{Type: store.IdleNotification, From: "bob", IdleReason: "task_complete", CompletedTaskID: "1"}.Text()
	got := collapse([]api.Message{
		idle("1", "bob"), idle("2", "bob"), idle("3", "ann"), {ID: "4", From: "bob"}, idle("5", "bob"), idle("6", "bob"),
		done, idle("8", "bob"), idle("9", "ann"), idle("10", "bob"), idle("11", "ann"),
	})
	var ids []string
	for _, b := range got {
		ids = append(ids, strings.Join(b.ids, "+"))
		if b.ID != b.ids[len(b.ids)-1] {
			t.Errorf("of %v, %s is shown, want the last", b.ids, b.ID)
		}
	}
	if want := []string{"1+2", "3", "4", "5+6+7", "8+10", "9+11"}; !slices.Equal(ids, want) {
		t.Errorf("delivered together: %v, want %v", ids, want)
	}
}

func TestWhatTheScreenSays(t *testing.T) {
	if _, err := newLook(nil, profiles.PromptProtocol{Ready: []string{"("}}); err == nil {
		t.Error("a pattern that is none was taken")
	}
	if n := longest("ab\nabcd\n"); n != 4 {
		t.Errorf("the longest line has %d bytes", n)
	}
}

func TestInputLine(t *testing.T) {
	for _, tc := range []struct {
		name, screen string
		cursor       int
		want         string
	}{
		{"in a frame, the cursor hidden", "❯ before\n● done\n╭────╮\n│ > what was\u00a0typed │\n╰────╯\n  ? for shortcuts", 0, "whatwastyped"},
		{"broken over two lines", "────\n❯ first\n  second\n────\n  ? for shortcuts", 0, "firstsecond"},
		{"the cursor's line", "> old\nsome output\n> new text\n", 3, "newtext"},
		{"the cursor below the text", "> old text\n", 2, ""},
		{"an empty prompt", "> old\n> ", 0, ""},
		{"no prompt", "hello\nabc\n\n", 0, "abc"},
		{"nothing", "", 0, ""},
	} {
		if got := inputLine(host.Capture{Text: tc.screen, Cursor: tc.cursor}); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	for _, tc := range []struct {
		text, line string
		want       bool
	}{
		{"[leadlight] a long text that ends here", "anothertext", false}, {"[leadlight] a long text that ends here", "atextthatendshere", true},
		{"a long text that ends here", "ends here", false}, {"a long text that ends here", "endshere", true}, {"a", "", false}, {"", "x", false},
		{"two\nlines", "twolines", true}, {"a long text that ends here", "ahuman", false},
	} {
		if got := stands(tc.text, tc.line); got != tc.want {
			t.Errorf("%q stands in %q: %v", tc.text, tc.line, got)
		}
	}
}

func FuzzInputLine(f *testing.F) {
	f.Add("│ > what │\n╰──╯", 1, "what")
	f.Add("\xff❯\n\n", 0, "")
	f.Fuzz(func(t *testing.T, screen string, cursor int, text string) {
		line := inputLine(host.Capture{Text: screen, Cursor: cursor})
		if strings.ContainsAny(line, " \n\t") {
			t.Errorf("%q holds blanks", line)
		}
		stands(text, line)
	})
}

// What a person erased is not delivered.
func TestSubmittedOrErased(t *testing.T) {
	at := time.Now()
	after := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	for name, tc := range map[string]struct {
		pressed time.Time
		st      host.Status
		want    bool
	}{
		"return":               {time.Time{}, host.Status{LastKeyAt: after(1), LastReturnAt: after(1)}, true},
		"erased":               {time.Time{}, host.Status{LastKeyAt: after(1), LastReturnAt: after(-1)}, false},
		"nobody":               {time.Time{}, host.Status{}, false},
		"our key":              {after(2), host.Status{LastKeyAt: after(1)}, true},
		"erased after our key": {after(2), host.Status{LastKeyAt: after(3)}, false},
	} {
		if got := (&typed{at: at, pressed: tc.pressed}).submitted(tc.st); got != tc.want {
			t.Errorf("%s: submitted %v", name, got)
		}
	}
}

// A sender that is not what it says is shown as such.
func TestHeaderShowsForgery(t *testing.T) {
	if got := header(api.Message{From: "bob", Note: "not from the lead"}); !strings.Contains(got, "bob (not from the lead)") {
		t.Errorf("%q", got)
	}
}

// A pattern may ask for the blank behind a prompt, which a screen does not show.
func TestPatternsSeeTheBlankBehindAPrompt(t *testing.T) {
	l, err := newLook(nil, profiles.PromptProtocol{Ready: []string{"^> "}, Asking: []string{`\(y/n\)\s*$`}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]bool{">": true, "> draft": true, ">>": false, "a >": false} {
		if got := first(l.ready, []string{"above", line}) != ""; got != want {
			t.Errorf("%q is a prompt: %v", line, got)
		}
	}
	if first(l.asking, []string{"go on? (y/n)"}) == "" {
		t.Error("a question is not seen")
	}
}
