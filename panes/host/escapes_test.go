package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func tokens(s *scanner, pieces ...string) []string {
	var got []string
	text := ""
	flush := func() {
		if text != "" {
			got = append(got, fmt.Sprintf("%d:%q", textToken, text))
		}
		text = ""
	}
	for _, p := range pieces {
		s.scan([]byte(p), func(t token) {
			if t.kind == textToken {
				text += string(t.raw)
				return
			}
			flush()
			got = append(got, fmt.Sprintf("%d:%q", t.kind, t.raw))
		})
	}
	flush()
	return got
}

func TestScanner(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		input    bool
		want     string
	}{
		{"text and controls", "a\r\nb\x7f", false, `0:"a" 1:"\r" 1:"\n" 0:"b" 1:"\x7f"`},
		{"a sequence", "a\x1b[1;31mb", false, `0:"a" 3:"\x1b[1;31m" 0:"b"`},
		{"strings", "\x1b]0;t\a\x1b]8;;\x1b\\\x1bPq\x1b\\x", false, `4:"\x1b]0;t\a" 4:"\x1b]8;;\x1b\\" 4:"\x1bPq\x1b\\" 0:"x"`},
		{"BEL inside a DCS", "\x1bPa\ab\x1b\\", false, `4:"\x1bPa\ab\x1b\\"`},
		{"two-byte and charset", "\x1bc\x1b(Bx", false, `2:"\x1bc" 2:"\x1b(B" 0:"x"`},
		{"broken off by another", "\x1b[1\x1b[2Jx", false, `2:"\x1b[1" 3:"\x1b[2J" 0:"x"`},
		{"broken off by CAN", "\x1b[1\x18x", false, `2:"\x1b[1" 1:"\x18" 0:"x"`},
		{"a string broken off", "\x1b]0;t\x1b[2Jx", false, `4:"\x1b]0;t" 3:"\x1b[2J" 0:"x"`},
		{"delete lines is no mouse in output", "\x1b[Mabc", false, `3:"\x1b[M" 0:"abc"`},
		{"legacy mouse in input", "\x1b[M \x1b!x", true, `3:"\x1b[M \x1b!" 0:"x"`},
		{"SS3 in input", "\x1bOAx", true, `2:"\x1bOA" 0:"x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := strings.Join(tokens(&scanner{input: tc.input}, tc.in), " "); got != tc.want {
				t.Errorf("whole: %s\nwant:  %s", got, tc.want)
			}
			if got := strings.Join(tokens(&scanner{input: tc.input}, strings.Split(tc.in, "")...), " "); got != tc.want {
				t.Errorf("in pieces: %s\nwant: %s", got, tc.want)
			}
		})
	}
	s := &scanner{}
	tokens(s, "\x1b]52;c;"+strings.Repeat("x", 1<<20))
	if len(s.pending) > maxSequence {
		t.Errorf("%d bytes are kept of an endless sequence", len(s.pending))
	}
	if got := tokens(s, "\ax"); len(got) != 2 || got[1] != `0:"x"` {
		t.Errorf("after it: %v", got)
	}
}

func TestPlainText(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"a\r\nb", "a\nb"},
		{"10%\r100%\r\n", "100%\n"},
		{"keep\r", "keep"},
		{"ab\b\bé\bc", "c"},
		{"\x1b]0;title\aa\x1b[1mb\x1b[0m\tc\x00", "ab\tc"},
		{"\b\b", ""},
		{"", ""},
	} {
		if got := string(plainText([]byte(tc.in))); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.in, got, tc.want)
		}
	}
}

// What is bare, C1 or turns the reading direction is shown as such, not passed on.
func TestXF16_LogsDriveNoTerminal(t *testing.T) {
	got := string(plainText([]byte("a\x9b2Jb\u009b3Jc\u202ed\x85 研究\n")))
	if want := "a\ufffd2Jb\ufffd3Jc\ufffdd\ufffd 研究\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLastLines(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "b\nc\n"}, {"a\nb\nc", 1, "c"}, {"a\nb", 5, "a\nb"}, {"a\n\n", 1, "\n"}, {"", 3, ""}, {"a\nb", 0, "a\nb"},
	} {
		if got := string(lastLines([]byte(tc.in), tc.n)); got != tc.want {
			t.Errorf("%q, %d: %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
}

func TestModes(t *testing.T) {
	for _, tc := range []struct{ out, setting, undoing string }{
		{"plain", "", ""},
		{"\x1b[?2004h\x1b[?1;25l", "\x1b[?2004h", ""},
		{"\x1b[?1049;1000h", "\x1b[?1000h\x1b[?1049h", "\x1b[?1000l\x1b[?1049l"},
		{"\x1b[?2004h\x1b[?2004l", "", ""},
		{"\x1b[?2004h\x1bc", "", ""},
		{"\x1b[?h\x1b[?;l\x1b[?99999999999999999999h\x1b[?7777h", "", ""},
		{"\x1b[31mx\x1b[>1u\x1b[>7u\x1b[<u", "", "\x1b[=0;1u"},
		{"\x1b[>4;2mx\x1b[5 q\x1b[2;5r", "", "\x1b7\x1b[r\x1b8\x1b[0 q\x1b[>4m"},
		{"x\x1b(0qqq\x1b=\x1b[4h\x1b[?7;2026l", "", "\x1b(B\x1b>\x1b[4l\x1b[?7h"},
		{"\x1b[?5h\x1b[?6h", "", "\x1b[?5l\x1b[?6l"},
		{"x\x0ey", "", "\x0f"},
		{"\x1b]8;;http://x\x07link\x1b]9;4;1;50\x07", "", "\x1b]8;;\x1b\\\x1b]9;4;0\a"},
		{"\x1b]11;#ff0000\x1b\\", "", "\x1b]111\a"},
	} {
		m, whole := newModes(), newModes()
		for _, b := range []byte(tc.out) { // in the smallest pieces
			m.write([]byte{b})
		}
		if whole.write([]byte(tc.out)); !bytes.Equal(whole.undoing(), m.undoing()) {
			t.Errorf("%q: undoing %q in one piece, else %q", tc.out, whole.undoing(), m.undoing())
		}
		if got := string(m.setting()); tc.setting != "" && !strings.Contains(got, tc.setting) || tc.setting == "" && got != "" {
			t.Errorf("%q: setting %q", tc.out, got)
		}
		if got := string(m.undoing()); !strings.Contains(got, tc.undoing) {
			t.Errorf("%q: undoing %q", tc.out, got)
		}
	}
	back := newModes()
	back.write([]byte("\x1b[>1u\x1b[<u\x1b[=0;1u\x1b]8;;\x1b\\\x1b]11;?\x07\x1b[0 q\x1b[r\x1b(B\x1b>\x1b[?2026l\x1b[4l\x1b[1;31m"))
	if undo := back.undoing(); len(undo) > 0 {
		t.Errorf("all was taken back by the program, then %q", undo)
	}
	hidden := newModes()
	hidden.write([]byte("\x1b[?25l"))
	if string(hidden.setting()) != "\x1b[?25l" || string(hidden.undoing()) != "\x1b[?25h" {
		t.Errorf("a hidden cursor: %q, back %q", hidden.setting(), hidden.undoing())
	}
}

func FuzzEscapes(f *testing.F) {
	for _, seed := range []string{"a\x1b[1mb", "\x1b]0;t\x1b", "\x1b[M abc", "\x1bOA\x18", "\x1b[?1049h\x1b[?h", "\x1b\x1b\x1b["} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		cut = max(0, min(cut, len(p)))
		for _, input := range []bool{false, true} {
			var back []byte
			s := scanner{input: input}
			keep := func(tok token) { back = append(back, tok.raw...) }
			s.scan(p[:cut], keep)
			s.scan(p[cut:], keep)
			if back = append(back, s.pending...); len(p) < maxSequence && !input && s.state == ground && !bytes.Equal(back, p) {
				t.Errorf("%q came back as %q", p, back)
			}
		}
		newModes().write(p)
		newKeyboard().read(p)
		(&detacher{}).read(p)
		if text := plainText(p); bytes.IndexByte(text, esc) >= 0 {
			t.Errorf("%q left an escape in %q", p, text)
		}
		Input{Text: string(p)}.encode(true)
	})
}
