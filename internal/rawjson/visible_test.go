package rawjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

func visible(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(rawjson.Visible(&b))
	enc.SetIndent("", "  ")
	if err := enc.Encode([]string{text}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestXF16_JSONShowsWhatWouldAct(t *testing.T) {
	text := "a\u009b2J \u0085\u007f\u202ex\u2066y\u200f\u061c 研究 é\t\n\u2028\u2029\u200b\u2060\ufeff\U000e0041 👩\u200d💻"
	got := visible(t, text)
	if strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), rawjson.Unseen) || !strings.Contains(got, `a\u009b2J \u0085\u007f\u202ex\u2066y\u200f\u061c 研究 é\t\n\u2028\u2029\u200b\u2060\ufeff\udb40\udc41 👩‍💻`) {
		t.Errorf("%q", got)
	}
}

func FuzzXF16_Visible(f *testing.F) {
	f.Add("a\u009b\u202e")
	f.Add("\x7f\xff{}")
	f.Fuzz(func(t *testing.T, text string) {
		got := visible(t, text)
		var back []string
		if err := json.Unmarshal([]byte(got), &back); err != nil || utf8.ValidString(text) && back[0] != text {
			t.Errorf("%q became %q: %q, %v", text, got, back, err)
		}
	})
}
