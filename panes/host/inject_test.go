package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/exetest"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// rawReader runs a program that notes every byte it reads.
func rawReader(t *testing.T, h *Host, before string) (read func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "read")
	done := background(t, h, programIn(t, "raw", "REPORT="+path, "BEFORE="+before))
	eventuallyTail(t, h, "ready")
	return func() string {
		t.Helper()
		if err := h.Inject(limited(t), Input{Text: endOfInput, Submit: SubmitNone}); err != nil {
			t.Fatal(err)
		}
		endOf(t, done)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
}

// https://github.com/tmux/tmux/issues/1849 https://github.com/tmux/tmux/issues/4408
// https://github.com/tmux-python/libtmux/issues/88 https://github.com/tmux/tmux/issues/254
func TestQU01_QU03_QU04_QU05_TextArrivesAsText(t *testing.T) {
	big := strings.Repeat("0123456789abcde\n", 2<<20/16)
	for _, tc := range []struct{ name, text, want string }{
		{"trailing semicolon", "run it;", "run it;"},
		{"dash", "-----BEGIN", "-----BEGIN"},
		{"names of keys", "Enter C-c Escape Space Up", "Enter C-c Escape Space Up"},
		{"end of a paste", "a\x1b[201~rm -rf /\x03\x04\x00\x7f\u0085\u009b201~b", "a[201~rm -rf /201~b"},
		{"no UTF-8", "a\xff\x9bb", "a\uFFFDb"},
		{"other letters", "grüße 日本 👩‍💻", "grüße 日本 👩‍💻"},
		{"tab", "a\tb", "a\tb"},
		{"line breaks", "a\r\nb\rc\nd", "a\rb\rc\rd"},
		{"16340 bytes", strings.Repeat("x", 16340), strings.Repeat("x", 16340)},
		{"64 KiB", strings.Repeat("y", 64<<10), strings.Repeat("y", 64<<10)},
		{"2 MiB", big, strings.ReplaceAll(big, "\n", "\r")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHost(t, Options{})
			read := rawReader(t, h, "")
			if err := h.Inject(limited(t), Input{Text: tc.text}); err != nil {
				t.Fatal(err)
			}
			if got := read(); got != tc.want+"\r" {
				t.Errorf("got %d bytes %.80q, want %d %.80q", len(got), got, len(tc.want)+1, tc.want)
			}
		})
	}
}

// https://github.com/Untrivial-ai/agent-orchestrator/issues/1110
func TestQU07_QU08_OnePasteOneSubmission(t *testing.T) {
	h := newHost(t, Options{})
	h.input.reads = time.Minute
	path := filepath.Join(t.TempDir(), "submitted")
	done := background(t, h, programIn(t, "editor", "REPORT="+path))
	eventuallyTail(t, h, "ready")
	if !h.out.mode(modeBracketedPaste) || h.Status().Cooked {
		t.Errorf("status %+v", h.Status())
	}
	var want []string
	for _, text := range []string{"one\ntwo\nthree\nfour\nfive", "second", "third;", "Enter", "\x1b[201~fifth"} {
		goOn := func() {}
		if text == "second" { // a program that has no turn for a while
			goOn = stopped(t, h)
		}
		typing := make(chan error, 1)
		go func() { typing <- h.Inject(limited(t), Input{Text: text}) }()
		goOn()
		if err := <-typing; err != nil {
			t.Fatal(err)
		}
		want = append(want, typed(text))
		eventually(t, "submission of "+text, func() bool {
			var got []string
			if _, err := os.Stat(path); err == nil {
				readJSON(t, path, &got)
			}
			return slices.Equal(got, want)
		})
	}
	h.End(limited(t), 0, 5*time.Second)
	endOf(t, done)
}

// stopped stops the program; goOn lets it go on when it could have been submitted to.
func stopped(t *testing.T, h *Host) (goOn func()) {
	t.Helper()
	p, err := h.current()
	if err != nil {
		t.Fatal(err)
	}
	pid := p.cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program has stopped", func() bool { return exetest.Stopped(pid) }) // until then it may read what comes next
	return func() {
		began := time.Now()
		eventually(t, "the pause is over", func() bool { return time.Since(began) > 3*DefaultPause })
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJoinAndLines(t *testing.T) {
	for _, tc := range []struct {
		in        Input
		bracketed bool
		want      string
	}{
		{Input{Text: "a\n\nb\n", Join: true}, false, "a b"},
		{Input{Text: "a\nb"}, false, "a\rb"},
		{Input{Text: "a\nb", Join: true}, true, "\x1b[200~a\nb\x1b[201~"},
		{Input{Text: "\x1b\x00"}, true, ""},
	} {
		if got := string(tc.in.encode(tc.bracketed)); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestALineTheTerminalWouldCutIsRefused(t *testing.T) {
	h := newHost(t, Options{})
	done := background(t, h, shell("stty -echo; echo up; cat >/dev/null"))
	eventuallyTail(t, h, "up")
	if !h.Status().Cooked {
		t.Error("a shell's terminal is cooked")
	}
	err := h.Inject(limited(t), Input{Text: "short\n" + strings.Repeat("x", cookedLine+1)})
	if fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("%v", err)
	}
	if err := h.Inject(limited(t), Input{Text: strings.Repeat(strings.Repeat("x", 1000)+"\n", 5)}); err != nil {
		t.Error(err)
	}
	if err := h.Keys(limited(t), []string{"ctrl-d"}); err != nil {
		t.Error(err)
	}
	endOf(t, done)
}

// A program that reads nothing blocks nobody for longer than they have time.
func TestMuteProgram(t *testing.T) {
	h := newHost(t, Options{})
	done := background(t, h, programIn(t, "mute"))
	eventuallyTail(t, h, "mute")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := h.Inject(ctx, Input{Text: strings.Repeat("x", 1<<20)})
	if !errors.Is(err, context.DeadlineExceeded) || fault.CodeOf(err) != fault.Timeout {
		t.Errorf("%v", err)
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			h.Keys(ctx, []string{"enter"}) // the terminal may have room for a few
		})
	}
	all.Wait()                                                                         // each comes back
	h.fromPerson(t.Context(), make([]byte, 256<<10), typing{human: true, draft: true}) // stands in front for good
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := h.Inject(ctx, Input{Text: "behind it"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("behind what a person typed: %v", err)
	}
	if h.Status().Agent == nil {
		t.Error("no status")
	}
	h.End(limited(t), 0, 5*time.Second)
	endOf(t, done)
}

// Texts typed at the same time do not mix, and each has its submit behind it.
func TestInjectionsDoNotInterleave(t *testing.T) {
	h := newHost(t, Options{})
	read := rawReader(t, h, "")
	var all sync.WaitGroup
	letters := "abcdefgh"
	for _, c := range letters {
		all.Go(func() {
			text := strings.Repeat(string(c), 5000)
			if err := h.Inject(limited(t), Input{Text: text}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := strings.Split(strings.TrimSuffix(read(), "\r"), "\r")
	slices.Sort(got)
	for i, c := range letters {
		if len(got) != len(letters) || got[i] != strings.Repeat(string(c), 5000) {
			t.Fatalf("%d submissions, mixed", len(got))
		}
	}
}

func TestKeys(t *testing.T) {
	h := newHost(t, Options{})
	read := rawReader(t, h, "\x1b[?1h")
	if err := h.Keys(limited(t), []string{"Up", "ctrl-c", "escape", "shift-tab", "f5", "alt-x", "Alt-X", "ctrl-space", "ctrl-alt-left",
		"ctrl-pageup", "shift-f1", "alt-ctrl-a", "alt-é", "enter"}); err != nil {
		t.Fatal(err)
	}
	for _, none := range []string{"rm -rf /", "ctrl-", "ctrl--", "alt-xx", "ctrl-enter", "ⱥalt-x", ""} {
		err := h.Keys(limited(t), []string{"enter", none})
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(fault.Of(err).Hint, "enter") {
			t.Errorf("%q: %v", none, err)
		}
	}
	if got := read(); got != "\x1bOA\x03\x1b\x1b[Z\x1b[15~\x1bx\x1bX\x00\x1b[1;7D\x1b[5;5~\x1b[1;2P\x1b\x01\x1bé\r" {
		t.Errorf("%q", got)
	}
	if err := h.Keys(limited(t), []string{"enter"}); fault.CodeOf(err) != fault.RecipientInactive {
		t.Errorf("after the end: %v", err)
	}
}

func TestKeyboard(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		human    bool
		without  string
	}{
		{"letters", "abc", true, "abc"},
		{"return", "\r", true, "\r"},
		{"escape alone", "\x1b", true, "\x1b"},
		{"alt", "\x1bx", true, "\x1bx"},
		{"arrow", "\x1b[A", true, "\x1b[A"},
		{"application arrow", "\x1bOA", true, "\x1bOA"},
		{"F3 with shift", "\x1b[1;2R", true, "\x1b[1;2R"},
		{"a paste", "\x1b[200~x\x1b[201~", true, "\x1b[200~x\x1b[201~"},
		{"kitty key", "\x1b[97;5u", true, "\x1b[97;5u"},
		{"focus", "\x1b[I\x1b[O", false, "\x1b[I\x1b[O"},
		{"mouse", "\x1b[<35;10;5M\x1b[M abc"[:len("\x1b[<35;10;5M\x1b[M ab")], false, "\x1b[<35;10;5M\x1b[M ab"},
		{"cursor position", "\x1b[12;40R", false, ""},
		{"attributes", "\x1b[?1;2c\x1b[>41;330;0c", false, ""},
		{"modes and sizes", "\x1b[?2026;2$y\x1b[8;24;80t\x1b[0n\x1b[?0u", false, ""},
		{"colours and version", "\x1b]11;rgb:1/2/3\a\x1bP>|x\x1b\\\x1b_Gi=1;OK\x1b\\", false, ""},
		{"an answer and a key", "\x1b[1;1Rq", true, "\x1b[1;1Rq"[6:]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			typed, without := newKeyboard().read([]byte(tc.in))
			if typed.human != tc.human || string(without) != tc.without {
				t.Errorf("human %v, %q", typed.human, without)
			}
		})
	}
	k := newKeyboard() // an answer in pieces
	for _, piece := range []string{"\x1b]11;rgb:", "1/2/3", "\x1b", "\\"} {
		if typed, without := k.read([]byte(piece)); typed.human || len(without) > 0 {
			t.Errorf("%q: human %v, %q", piece, typed.human, without)
		}
	}
}
