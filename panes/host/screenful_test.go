package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// modelled is what a fresh model of 5 by 20 shows of p, with colours.
func modelled(t *testing.T, p []byte) string {
	t.Helper()
	s := newScreen(newRing(1024), 5, 20, nil)
	defer s.end()
	s.feed(p)
	got, _, _, err := s.text(limited(t), true)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLastScreenful(t *testing.T) {
	lines := func(form string) string {
		var all strings.Builder
		for i := range 40 {
			fmt.Fprintf(&all, form, i)
		}
		return all.String()
	}
	for _, c := range []struct {
		name, text string
		shorter    bool
	}{
		{"lines", lines("line %d\r\n"), true},
		{"a line begun", lines("line %d\r\n") + "and", true},
		{"longer than the screen", lines("a line that is longer than the screen %d\r\n"), true},
		{"colours", lines("\x1b[32mline\x1b[0m \x1b[1;4m%d\x1b[m\x1b[K\r\n"), true},
		{"a colour from before", "\x1b[31m" + lines("line %d\r\n"), true},
		{"two colours from before", "\x1b[31m\x1b[44m\x1b[0m\x1b[1m\x1b[35m" + lines("line %d\r\n"), true},
		{"wide", lines("研究 %d\r\n"), true},
		{"progress", lines("10%%\r20%%\b\bx\tline %d\r\n"), true},
		{"few lines", "one\r\ntwo\r\n", false},
		{"without returns", lines("line %d\n"), false},
		{"moved at the end", lines("line %d\r\n") + "\x1b[2Atwo up", false},
		{"kept lines", "\x1b[3;5r" + lines("line %d\r\n"), false},
		{"other screen", "\x1b[?1049h" + lines("line %d\r\n"), false},
		{"back a line", lines("line %d\r\n\x1bM"), false},
		{"other characters", "\x0e" + lines("line %d\r\n"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cut := lastScreenful([]byte(c.text), 5)
			if shorter := len(cut) < len(c.text); shorter != c.shorter {
				t.Errorf("%d of %d bytes stay", len(cut), len(c.text))
			}
			if got, want := modelled(t, cut), modelled(t, []byte(c.text)); got != want {
				t.Errorf("shows\n%q, all of it shows\n%q", got, want)
			}
		})
	}
}

// FuzzLastScreenful: whatever is left out is not missed.
func FuzzLastScreenful(f *testing.F) {
	f.Add([]byte("\x1b[31m"), []byte("a\r\n"))
	f.Add([]byte("\x1b[3;4r"), []byte("\x1b[2;2Hb\r\n\x1b[m"))
	f.Add([]byte("\xe7\xa0"), []byte("\x94\r\n\t\bx"))
	f.Fuzz(func(t *testing.T, begin, line []byte) {
		if len(begin)+len(line) > 512 {
			return
		}
		all := append(bytes.Clone(begin), bytes.Repeat(line, 12)...)
		cut := lastScreenful(bytes.Clone(all), 5)
		if got, want := modelled(t, cut), modelled(t, all); got != want {
			t.Errorf("of %q stays %q, which shows\n%q, all of it shows\n%q", all, cut, got, want)
		}
	})
}
