package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goneWords are names of the first version that said nothing to a stranger. The field's
// words took their place, and they do not return.
const goneWords = `mate mates Bury enlist equip newcomer rearm armGuest litter Flight courier typist hasty comeIn
	hunt forges forged ForgedFor nudge`

// TestHouseWords: no tracked source, script or page uses one of them.
func TestHouseWords(t *testing.T) {
	t.Parallel()
	gone := map[string]bool{}
	for word := range strings.FieldsSeq(goneWords) {
		gone[word] = true
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "ls-files", "-z", "*.go", "*.md", "*.txtar", "*.yaml", "*.tsv")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout: there are no tracked files to look at")
	}
	noLetter := func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || strings.HasSuffix(name, "integration/words_test.go") {
			continue
		}
		for n, line := range strings.Split(string(data), "\n") {
			for word := range strings.FieldsFuncSeq(line, noLetter) {
				if gone[word] {
					t.Errorf("%s:%d: %q is not a word of the field", name, n+1, word)
				}
			}
		}
	}
}
