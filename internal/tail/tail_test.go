package tail

import (
	"slices"
	"testing"
)

func TestTailKeepsTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name   string
		writes []string
		want   string
	}{
		{"short", []string{"a", "b"}, "ab"},
		{"cut", []string{"0123456789", "abcdefgh"}, "abcdefgh"},
		{"many", slices.Repeat([]string{"x"}, 100), "xxxxxxxx"},
		{"never inside a character", []string{"aaaa", "研究員"}, "究員"},
		{"nor after a lot of it", slices.Repeat([]string{"研究員"}, 3), "究員"},
		{"bytes that are no text", []string{"ok\xff"}, "ok�"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := New(8)
			for _, w := range tc.writes {
				if n, err := out.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got := out.String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if len(out.buf) > 2*out.limit+len(tc.writes[0]) {
				t.Errorf("holds %d bytes", len(out.buf))
			}
		})
	}
}
