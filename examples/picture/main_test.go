package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	var out strings.Builder
	if err := draw(strings.NewReader("\x1b[7m title \x1b[0m\n\x1b[31m<red>\x1b[39m \x1b[1m研究\x1b[0m & \x1b[2mfaint\n"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"&lt;red&gt;", `fill="#e06c75"`, `font-weight="bold">研究<`, `opacity="0.55"`, `<rect x="10.0"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}

// Of several screens one is seen at a time, and the last one where nothing moves.
func TestDrawMoves(t *testing.T) {
	var out strings.Builder
	if err := draw(strings.NewReader("one\n\f\ntwo\n\f\nthree\nrows\n\f\n"), &out); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for want, n := range map[string]int{"<g>": 1, `<g visibility="hidden">`: 2, "<animate ": 3,
		`values="visible;hidden" keyTimes="0;0.2000"`: 1, `values="hidden;visible;hidden" keyTimes="0;0.2000;0.4000"`: 1,
		`values="hidden;visible" keyTimes="0;0.4000"`: 1, `height="100%"`: 1, `viewBox="0 0 62 56"`: 1} {
		if strings.Count(got, want) != n {
			t.Errorf("%d of %s, want %d, in\n%s", strings.Count(got, want), want, n, got)
		}
	}
}

// Whatever was on the screen, the picture is well-formed.
func FuzzDraw(f *testing.F) {
	for _, s := range []string{"\x1b[31mx\x1b[0m", "\x1b[", "\x1b[999;m<&>\"'", "\x1b[38;5;300;48;2;1;2;3;1mx", "\x1b[38;5mx", "研\xff\x00\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out strings.Builder
		if draw(strings.NewReader(s), &out) != nil {
			return // a line longer than a screen has
		}
		for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatalf("%q: %v\n%s", s, err, out.String())
			}
		}
	})
}
