package host

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// shown feeds a screen and returns what it shows once it has seen everything.
func shown(t *testing.T, s *screen, r *ring, text string, ansi bool) (string, bool) {
	t.Helper()
	r.write([]byte(text))
	var got string
	var truncated bool
	eventually(t, "the screen has seen it", func() bool {
		place := int64(0)
		if err := s.use(limited(t), func() { place = s.place }); err != nil {
			t.Fatal(err)
		}
		return place == r.end
	})
	got, _, truncated, err := s.text(limited(t), ansi)
	if err != nil {
		t.Fatal(err)
	}
	return got, truncated
}

func runScreen(t *testing.T, ringSize int, answer func([]byte)) (*screen, *ring) {
	t.Helper()
	r := newRing(ringSize)
	s := newScreen(r, 5, 20, answer)
	done := make(chan struct{})
	go func() { defer close(done); s.run(context.Background()) }()
	t.Cleanup(func() { r.close(); <-done })
	return s, r
}

func TestScreenShowsTheLastPicture(t *testing.T) {
	s, r := runScreen(t, 1<<20, nil)
	if got, _ := shown(t, s, r, "old\r\nlines\r\n\x1b[2J\x1b[2;3Hhere\x1b[31mred\x1b[0m", false); got != "\n  herered\n" {
		t.Errorf("%q", got)
	}
	if got, _ := shown(t, s, r, "", true); !strings.Contains(got, "here\x1b[31mred") {
		t.Errorf("%q", got)
	}
	if err := s.resize(limited(t), 3, 6); err != nil {
		t.Fatal(err)
	}
	if got, _ := shown(t, s, r, "\x1bcabcdefgh", false); got != "abcdef\ngh\n" {
		t.Errorf("after resize %q", got)
	}
	shown(t, s, r, "\x1b[2;3r\x1b[H1\x1b[2H2\x1b[3H3", false)
	if err := s.resize(limited(t), 2, 6); err != nil {
		t.Fatal(err)
	}
	if got, _ := shown(t, s, r, "", false); got != "2h\n3\n" {
		t.Errorf("with fewer lines %q", got)
	}
	shown(t, s, r, "\x1bcabcdefgh", false)
	picture, place, err := s.redraw(limited(t))
	if err != nil || place != r.end || !strings.Contains(string(picture), "abcdef\r\ngh") || !strings.HasSuffix(string(picture), "\x1b[2;3H") {
		t.Errorf("redraw %q at %d, %v", picture, place, err)
	}
}

// A character of two columns is not lost at the right edge, however the text is cut.
func TestWideCharactersAtTheEdge(t *testing.T) {
	for in, want := range map[string]string{
		"12345678漢字z":                        "12345678漢\n字z\n",
		"1234567漢字z":                         "1234567漢\n字z\n",
		"123456789漢字z":                       "123456789\n漢字z\n",
		"1234567890漢字z":                      "1234567890\n漢字z\n",
		"12345678漢\x1b[27m\x1b[7m字z":         "12345678漢\n字z\n",
		"12345678漢\r\nz":                     "12345678漢\nz\n",
		"12345678漢\x1b[1Gz":                  "z2345678漢\n",
		"12345678漢\x1b]0;t\x07\x1b[?25lz":    "12345678漢\nz\n",
		"\x1b[?7l12345678漢\x1b[?7h\rz":       "z2345678漢\n",
		"123456789👩‍💻👍🏽z":                    "123456789\n👩‍💻👍🏽z\n",
		"漢字漢字漢字漢字漢字漢字":                       "漢字漢字漢\n字漢字漢字\n漢字\n",
		"x漢字漢字漢字漢字漢字":                        "x漢字漢字\n漢字漢字漢\n字\n",
		"─────────────":                      "──────────\n───\n",
		"●●●●●●●●●●●":                        "●●●●●●●●●●\n●\n",
		"\x1b[4H123456789漢\r\n12345678漢字漢字漢": "123456789\n漢\n12345678漢\n字漢字漢\n",
	} {
		for _, piece := range []int{len(in), 2} {
			if piece == 2 && strings.Contains(in, "👩") {
				continue // what joins comes with what it joins
			}
			s := newScreen(newRing(1<<10), 4, 10, nil)
			for p := range slices.Chunk([]byte(in), piece) {
				s.feed(p)
			}
			if got, _, _, err := s.text(limited(t), false); got != want || err != nil {
				t.Errorf("%q in pieces of %d: %q, want %q, %v", in, piece, got, want, err)
			}
			s.end()
		}
	}
}

// A size that a busy model could not take at once is not lost.
func TestScreenTakesItsSizeLate(t *testing.T) {
	s, r := runScreen(t, 1<<20, nil)
	s.turn <- struct{}{}
	over, end := context.WithCancel(t.Context())
	end()
	if err := s.resize(over, 3, 6); err == nil {
		t.Error("it waits for longer than it may")
	}
	<-s.turn
	if got, _ := shown(t, s, r, "abcdefgh", false); got != "abcdef\ngh\n" {
		t.Errorf("%q", got)
	}
}

// After a gap the screen starts at the last reset, and says that it is truncated
// until one comes.
func TestScreenAfterAGap(t *testing.T) {
	r := newRing(1000)
	s := newScreen(r, 5, 20, nil)
	r.write([]byte(strings.Repeat("lost\r\n", 2000))) // before it runs
	r.write([]byte("\x1b[2J\x1b[Hkept"))
	done := make(chan struct{})
	go func() { defer close(done); s.run(context.Background()) }()
	t.Cleanup(func() { r.close(); <-done })
	if got, truncated := shown(t, s, r, "", false); got != "kept\n" || truncated {
		t.Errorf("%q, truncated %v", got, truncated)
	}
	s.turn <- struct{}{} // it falls behind again
	r.write([]byte(strings.Repeat("more\r\n", 2000)))
	<-s.turn
	if _, truncated := shown(t, s, r, "x", false); !truncated {
		t.Error("a gap without a reset is not told")
	}
	if got, truncated := shown(t, s, r, "\x1b[2J\x1b[Hagain", false); got != "again\n" || truncated {
		t.Errorf("%q, truncated %v", got, truncated)
	}
}

// Without a terminal in the pane the model answers, with one it keeps silent.
func TestQueriesAreAnswered(t *testing.T) {
	ask := `stty raw -echo min 0 time 50; printf '\033[6n'; x=$(dd bs=1 count=6 2>/dev/null | tr '\033' E); echo "answer $x"`
	h := newHost(t, Options{Screen: true})
	if _, err := h.Run(limited(t), shell(ask)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(h.Tail(0), "answer E[1;1R") {
		t.Errorf("headless: %q", h.Tail(0))
	}
	p := newPane(t, 24, 80)
	p.watch(t)
	h = newHost(t, Options{Screen: true, Terminal: p.tty})
	done := background(t, h, shell(ask))
	eventually(t, "the question", func() bool { return strings.Contains(p.out.String(), "\x1b[6n") })
	p.press(t, "\x1b[7;8R")
	endOf(t, done)
	if !strings.Contains(h.Tail(0), "answer E[7;8R") {
		t.Errorf("in a pane: %q", h.Tail(0))
	}
}

// Whoever only asks and never reads does not stop the model.
// Echoed, answers that come after the last line would scroll it away.
func TestAnswersNobodyReads(t *testing.T) {
	h := newHost(t, Options{Screen: true})
	exit, err := h.Run(limited(t), shell(`stty -echo; i=0; while [ $i -lt 2000 ]; do printf '\033[6n\033[c\033[5n'; i=$((i+1)); done; printf 'done\n'`))
	if err != nil || exit.Code != 0 {
		t.Fatalf("%+v, %v", exit, err)
	}
	eventually(t, "the screen shows the end", func() bool {
		c, err := h.Capture(limited(t), 0, false)
		return err == nil && c.Screen && strings.Contains(c.Text, "done")
	})
}

func TestCaptureAfterExit(t *testing.T) {
	for _, withScreen := range []bool{true, false} {
		h := newHost(t, Options{Screen: withScreen})
		if _, err := h.Run(limited(t), shell(`printf '\033[2J\033[Hone\n\033[32mtwo\033[0m\nthree\n'`)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the capture", func() bool {
			c, err := h.Capture(limited(t), 2, false)
			return err == nil && c.Text == "two\nthree\n" && c.Screen == withScreen
		})
		if c, err := h.Capture(limited(t), 2, true); err != nil || !strings.Contains(c.Text, "\x1b[32mtwo") {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// A capture does not wait for a model that is stuck.
func TestCaptureWithAStuckScreen(t *testing.T) {
	h := newHost(t, Options{Screen: true})
	if _, err := h.Run(limited(t), shell("echo tail")); err != nil {
		t.Fatal(err)
	}
	h.screen.turn <- struct{}{}
	defer func() { <-h.screen.turn }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := h.Capture(ctx, 1, false); err == nil {
		t.Error("the caller's limit is not kept")
	}
	c, err := h.Capture(limited(t), 1, false)
	if err != nil || c.Screen || !c.Truncated || c.Text != "tail\n" {
		t.Errorf("%+v, %v", c, err)
	}
}

// A count without measure must not keep the model busy for minutes.
func TestHostileCounts(t *testing.T) {
	s, r := runScreen(t, 1<<20, nil)
	bombs := "x" + strings.Repeat("\x1b[999999999b\x1b[2147483647S\x1b[99999999999999999999L\x1b[999999999I\x1b[899\x1099999999999J", 100)
	got, _ := shown(t, s, r, bombs+"\x1b]0;"+strings.Repeat("x", 2*maxSequence)+"\a\x1b[2J\x1b[1;1H\x1b[38;5;200mfine", true)
	if strings.TrimRight(got, " \n") != "\x1b[38;5;200mfine\x1b[m" {
		t.Errorf("%q", got)
	}
}

// Any bytes: the model may be wrong about them but must not take the host down.
func FuzzScreen(f *testing.F) {
	for _, seed := range []string{
		"\x1b[2J\x1b[H", "\x1b[1000000b", "x\x1b[99999999b", "\x1b[5;2r\x1b[999L\x1b[999M\x1b[999@\x1b[999P", "\x1bP+q\x1b\\\x1b]8;;x\a",
		"\x1b[?1049h\x1b[?1049l\x1b8\x1b7", "\x1b[999999999;999999999H", "e\u0301\u200d\U0001F469", "\x1b[0;0r\x1b[-1S\x1b[65535T", "\x1b#8",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		s := newScreen(newRing(1024), 4, 10, nil)
		defer s.end()
		s.feed(p)
		s.resize(t.Context(), 1, 1)
		s.feed(p)
		s.resize(t.Context(), 30, 3)
		s.feed(p)
		s.text(t.Context(), true)
		s.text(t.Context(), false)
		s.redraw(t.Context())
	})
}

func TestRing(t *testing.T) {
	r := newRing(100)
	var all []byte
	place, readAll := int64(0), []byte(nil)
	for range 200 {
		p := []byte(strings.Repeat(string(rune('a'+rand.IntN(26))), rand.IntN(60)))
		all = append(all, p...)
		r.write(p)
		for {
			got := r.read(place, 17)
			if got.gap {
				t.Fatal("a gap for a reader that keeps up")
			}
			if got.wait != nil {
				break
			}
			readAll, place = append(readAll, got.data...), got.next
		}
	}
	if string(readAll) != string(all) {
		t.Error("the reader got something else")
	}
	if got := r.read(0, 17); !got.gap || !strings.HasSuffix(string(all), string(got.data)) || len(got.data) < 100 || got.next != int64(len(all)) {
		t.Errorf("after a gap: %d bytes", len(got.data))
	}
	if tail, end, cut := r.tail(10); string(tail) != string(all[len(all)-10:]) || end != int64(len(all)) || !cut {
		t.Errorf("tail %q at %d", tail, end)
	}
	wait := r.read(place, 1).wait
	r.close()
	<-wait
	if !r.read(place, 1).closed {
		t.Error("not closed")
	}
	r.write(make([]byte, 1000)) // larger than all
	if len(r.buf) > 200 {
		t.Errorf("%d bytes in a ring of 100", len(r.buf))
	}
}
