package profiles_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
)

const rule = "────────────────────\n"

// What is no prompt is not typed into, whatever it looks like; what is one is ready,
// whatever is said around it.
func TestXH03_MenuIsNoPrompt(t *testing.T) {
	for _, tc := range []struct {
		name, profile, text string
		want                screen.State
	}{
		{"nothing", "claude-interactive", "\n\n", screen.Starting},
		{"words", "claude-interactive", "loading\n", screen.Unknown},
		{"a mark in the middle of words", "claude-interactive", "see ❯ here\n", screen.Unknown},
		{"a menu without numbers", "claude-interactive", "Log in\n ❯ Yes\n   No\n\n Enter to confirm\n", screen.Asking},
		{"the same without its keys", "claude-interactive", "Log in\n ❯ Yes\n   No\n", screen.Unknown},
		{"a menu in a frame", "claude-interactive", rule + "❯ 1. Yes\n  2. No\n" + rule, screen.Asking},
		{"boxes in a frame", "claude-interactive", rule + "❯ [ ] one\n  [x] two\n" + rule, screen.Asking},
		{"a numbered text in the input", "claude-interactive", rule + "❯ 1. do this\n" + rule, screen.Ready},
		{"a text field with its keys", "claude-interactive", "Your key?\n" + rule + "❯ \n" + rule + " Enter to submit · Esc to cancel\n", screen.Asking},
		{"update", "claude-interactive", "Update 2.2 is available\n❯ Update now\n  Skip\n  Skip until next version\nPress enter to continue\n", screen.Asking},
		{"a status that quotes", "claude-interactive", "● done\n" + rule + "❯ \n" + rule + "  press esc to interrupt\n  Would you like to go on?\n", screen.Ready},
		{"an answer that quotes", "codex", "• Say: Working (2s • esc to interrupt)? Would you like to run it?\n\n› Ask Codex to do anything\n\n  GPT-6 · /work\n", screen.Ready},
		{"no footer yet", "codex", "› Ask Codex to do anything\n", screen.Unknown},
		{"a question above its answer", "gemini", "Do you trust the files in this folder?\n● 1. Trust\n  2. No\n\n" + rule + " > Type your message\n" + rule + " /work  main\n", screen.Ready},
		{"a password", "claude-interactive", "Password for dev: \n", screen.Asking},
		{"yes or no", "aider", "Add it to .gitignore? (Y)es/(N)o [Yes]:\n", screen.Asking},
		{"aider", "aider", "Aider v1\narchitect>\n", screen.Ready},
	} {
		got := reader(t, tc.profile).Read(screen.Screen{Text: tc.text})
		if got.State != tc.want || got.MayType().Valid() != (tc.want == screen.Ready) {
			t.Errorf("%s: %s %q, want %s", tc.name, got.State, got.Question, tc.want)
		}
	}
}

// Text counts as seen when its end stands in the input, or the agent's sign of a paste.
func TestXH03_TextIsSeenInTheInput(t *testing.T) {
	r := reader(t, "claude-interactive")
	in := func(text string) screen.Reading {
		return r.Read(screen.Screen{Text: "❯ an earlier text that ends here\n● done\n" + rule + "❯ " + text + "\n" + rule})
	}
	for _, tc := range []struct {
		text, shown string
		want        bool
	}{
		{"a long text that ends here", "a long text\n  that ends here", true},
		{"a long text that ends here", "", false},
		{"a long text that ends here", "something else", false},
		{"[leadlight] two            columns", "[leadlight] two            columns", true},
		{"grüße 漢字 👩‍💻", "grüße 漢字 👩💻", true},
		{strings.Repeat("line\n", 900), "[Pasted text #1 +900 lines]", true},
	} {
		got := in(tc.shown)
		if got.Holds(tc.text) != tc.want || got.MaySubmit(tc.text).Valid() != tc.want {
			t.Errorf("%.30q in %q: %v", tc.text, tc.shown, got.Holds(tc.text))
		}
	}
	for _, footer := range []string{"  GPT-6 · /work\n", "  GPT-6 · /work\n      1 warning · f2 to view\n"} { // there is no frame, and the text has empty lines
		got := reader(t, "codex").Read(screen.Screen{Text: "• done\n\n› [leadlight] one\n\n  two\n\n\n    the end of it\n\n" + footer})
		if got.State != screen.Ready || !got.Holds("[leadlight] one\n\ntwo\n\n\n  the end of it") || got.MayType().Valid() {
			t.Errorf("empty lines in a text: %+v", got)
		}
	}
	for _, text := range []string{
		"task done ID --result TEXT. Mail.\nBegin, and end with: task done 1 --result TEXT.",
		"see [pasted image 1] and [pasted image 2] again", "ends as it began: ends as it began",
	} {
		if n, twice := in(text).Times(text), in(text+text).Times(text); n != 1 || twice != 2 {
			t.Errorf("%q stands there once: %d, twice: %d", text, n, twice)
		}
	}
	if in("[leadlight] message from bob: x").MayType().Valid() {
		t.Error("a second text is typed behind the first")
	}
	if (screen.Proof{}).Valid() {
		t.Error("nothing proves something")
	}
}

// A text that leaves no place for the footer below it, or for its own begin, is submitted,
// and nothing is typed behind it. Without a frame it might be the choice of a menu, which
// hides the cursor.
func TestXH03_ATextFillsTheScreen(t *testing.T) {
	const text = "[leadlight] message from team-lead: <M000 – ein Gruß, “0” of many, ends here M000>"
	cursors := map[string]map[int]bool{
		"codex/draft-fills-60x15.txt":     {0: false, 7: false, 13: true, 14: true, 15: false},
		"claude/draft-scrolled-60x15.txt": {0: true},
	}
	for _, rec := range corpus(t) {
		for cursor, want := range cursors[rec.name] {
			got := reader(t, rec.profile).Read(screen.Screen{Text: rec.text, Cursor: cursor})
			if got.MaySubmit(text).Valid() != want || got.Shows() != want || got.MayType().Valid() {
				t.Errorf("%s, cursor in line %d: %+v", rec.name, cursor, got)
			}
		}
		delete(cursors, rec.name)
	}
	if len(cursors) > 0 {
		t.Errorf("not recorded: %v", cursors)
	}
}

// What looks like the title of a dialog is none while the cursor stands in the input.
func TestXH03_TheCursorIsInTheInput(t *testing.T) {
	text := "     | Close the list      esc\n\n  ┃\n  ┃\n  ┃\n  ┃  Build · Mock One\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀\n   /work      ctrl+p commands\n"
	for cursor, want := range map[int]screen.State{0: screen.Asking, 1: screen.Asking, 4: screen.Ready} {
		if got := reader(t, "opencode").Read(screen.Screen{Text: text, Cursor: cursor}); got.State != want {
			t.Errorf("cursor in line %d: %+v", cursor, got)
		}
	}
}

// A bar in what an agent has answered is not the one below its input that says that it works.
func TestXH03_AnAnswerHoldsABar(t *testing.T) {
	const input = "  ┃\n  ┃\n  ┃\n  ┃  Build · Mock One\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀\n"
	for text, want := range map[string]screen.State{
		"     ■■■■■■■■ 100% done\n     [⋯] more\n\n" + input + "   /work      ctrl+p commands\n": screen.Ready,
		input + "   ⬝⬝⬝⬝■■■■  esc interrupt      ctrl+p commands\n":                              screen.Busy,
	} {
		if got := reader(t, "opencode").Read(screen.Screen{Text: text}); got.State != want {
			t.Errorf("%s\nis %v", text, got.State)
		}
	}
}

// A text may hold what looks like an input, or like a side of its frame.
func TestXH03_ATextShowsAnInput(t *testing.T) {
	const text = "[leadlight] message from team-lead: <TB busy words: (3s • esc to interrupt)\n─────────────\n❯\n─────────────\nend TB>"
	screens := map[string]string{"claude-interactive": claudeAt("● done\n", strings.ReplaceAll(text, "\n", "\n  "), "  ? for shortcuts\n")}
	for _, rec := range corpus(t) {
		if rec.name == "qwen/draft-with-rules-60x15.txt" {
			screens["qwen"] = rec.text
		}
	}
	for profile, shown := range screens {
		got := reader(t, profile).Read(screen.Screen{Text: shown})
		if got.State != screen.Ready || !got.MaySubmit(text).Valid() || got.MayType().Valid() {
			t.Errorf("%s: %+v", profile, got)
		}
	}
	if len(screens) != 2 {
		t.Error("it is not recorded")
	}
}

// What an agent lists to complete a command is not in its input: a command that was typed
// once stands there once.
func TestXH03_CompletionsAreNoText(t *testing.T) {
	for _, rec := range corpus(t) {
		if rec.name != "opencode/completes.txt" {
			continue
		}
		got := reader(t, rec.profile).Read(screen.Screen{Text: rec.text})
		if got.Times("/exit") != 1 || got.Input != "/exit" {
			t.Errorf("it holds %q", got.Input)
		}
	}
}

// No text is submitted where a screen asks, also not one that stands on it.
func TestXH03_NothingIsSubmittedInAMenu(t *testing.T) {
	asked := 0
	for _, rec := range corpus(t) {
		got := reader(t, rec.profile).Read(screen.Screen{Text: rec.text})
		if rec.state != screen.Asking {
			continue
		}
		asked++
		for _, text := range append(strings.Split(rec.text, "\n"), append(got.Choices, got.Question, rec.text)...) {
			if got.MaySubmit(text).Valid() {
				t.Errorf("%s: %q may be submitted", rec.name, text)
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d screens ask", asked)
	}
}

// However a screen with a menu is cut, scrolled and made narrower: it is never typed into. Not
// for screens that show the input beside what asks: that can be cut off, and the input stays.
func FuzzXH03_MenuIsNeverReady(f *testing.F) {
	beside := regexp.MustCompile(`^(opencode/dialog-|codex/find|copilot/vim-normal)`)
	var menus []recorded
	for _, rec := range corpus(f) {
		if rec.state == screen.Asking && !beside.MatchString(rec.name) {
			menus = append(menus, rec)
		}
	}
	for i := range menus {
		f.Add(i, 0, 0, 200)
		f.Add(i, 7, 0, 80)
		f.Add(i, 20, 2, 120)
	}
	f.Fuzz(func(t *testing.T, which, top, bottom, width int) {
		rec := menus[uint(which)%uint(len(menus))]
		lines := strings.Split(strings.TrimRight(rec.text, "\n"), "\n")
		lines = lines[min(max(top, 0), len(lines)):]
		lines = lines[:max(0, len(lines)-max(0, bottom))]
		text := narrow(lines, min(max(width, 20), 250))
		if got := reader(t, rec.profile).Read(screen.Screen{Text: text}); got.MayType().Valid() {
			t.Errorf("%s, cut by %d and %d, %d wide: ready\n%s", rec.name, top, bottom, width, text)
		}
	})
}

// FuzzXH03_AnyScreen: whatever a screen shows, nothing is typed or submitted where it asks,
// and text goes only where there is an input.
func FuzzXH03_AnyScreen(f *testing.F) {
	readers := map[string]*screen.Reader{}
	for name := range profiles.NewSet(nil) {
		readers[name] = reader(f, name)
	}
	for i, rec := range corpus(f) {
		if i%16 == 0 { // all of them would take a minute under the race detector
			f.Add(rec.text, 0, false)
		}
	}
	for _, text := range []string{"", "❯", "> ", "[y/N]", "❯ 1. a\n  2. b\n", rule + "❯ \n" + rule, "\x00\xff", "│\n│ >\n╰──"} {
		f.Add(text, 1, true)
	}
	f.Fuzz(func(t *testing.T, text string, cursor int, cooked bool) {
		for name, r := range readers {
			got := r.Read(screen.Screen{Text: text, Cursor: cursor, Cooked: cooked})
			types, submits := got.MayType().Valid(), got.MaySubmit(text).Valid() || got.MaySubmit(got.Input).Valid()
			switch {
			case got.State == screen.Asking && (types || submits), got.State != screen.Ready && types, got.State == screen.Ready && !got.Shows():
				t.Errorf("%s: %q is %s, shows an input: %v, may be typed into: %v, may be submitted: %v", name, text, got.State, got.Shows(), types, submits)
			}
		}
	})
}

// narrow breaks lines as a narrower terminal does.
func narrow(lines []string, width int) string {
	var b strings.Builder
	for _, line := range lines {
		for r := []rune(line); len(r) > width; r = []rune(line) {
			b.WriteString(string(r[:width]) + "\n")
			line = string(r[width:])
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
