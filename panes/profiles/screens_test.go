package profiles_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/panes/screen"
)

// profileOf says by whose rules the screens of a folder are read.
func profileOf(folder string) string {
	if folder == "claude" {
		return "claude-interactive"
	}
	return folder
}

func reader(t testing.TB, profile string) *screen.Reader {
	t.Helper()
	r, err := screen.NewReader(profiles.NewSet(nil)[profile].Screen())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recorded is one screen of the corpus and the right answer.
type recorded struct {
	name, profile, text string
	state               screen.State
	question            string // how it begins
	choices             int
}

// corpus reads panes/screen/testdata/corpus.tsv: file, state, number of choices, question.
func corpus(t testing.TB) []recorded {
	t.Helper()
	table, err := os.ReadFile("../screen/testdata/corpus.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []recorded
	for line := range strings.Lines(string(table)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		text, err := os.ReadFile(filepath.Join("../screen/testdata", f[0]))
		if err != nil {
			t.Fatal(err)
		}
		r := recorded{name: f[0], profile: profileOf(filepath.Dir(f[0])), text: string(text), state: screen.State(f[1])}
		if len(f) > 2 {
			fmt.Sscan(f[2], &r.choices)
			r.question = f[3]
		}
		out = append(out, r)
	}
	return out
}

// Every recorded screen of every agent is read right.
func TestXH03_RecordedScreens(t *testing.T) {
	all := corpus(t)
	if len(all) < 60 {
		t.Errorf("only %d screens", len(all))
	}
	for _, rec := range all {
		got := reader(t, rec.profile).Read(screen.Screen{Text: rec.text})
		if got.State != rec.state || len(got.Choices) != rec.choices || !strings.HasPrefix(got.Question, rec.question) || (rec.question == "") != (got.Question == "") {
			t.Errorf("%s: %s %q %q, want %s, %d choices, %q", rec.name, got.State, got.Question, got.Choices, rec.state, rec.choices, rec.question)
		}
		if ours := strings.Contains(got.Input, "[leadlight]"); got.MayType().Valid() != (rec.state == screen.Ready && !ours) {
			t.Errorf("%s: may be typed into: %v", rec.name, got.MayType().Valid())
		}
	}
}
