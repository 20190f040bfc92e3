package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goneWords are names of the first version that said nothing to a stranger. The field's
// words took their place, and they do not return.
const goneWords = `mates?|Bury|enlist|equip|newcomer|rearm|armGuest|litter|Flight|courier|typist|hasty|comeIn|hunt|forge[sd]|ForgedFor|nudge|looks\.Member`

// TestHouseWords: no tracked source, script or page uses one of them.
func TestHouseWords(t *testing.T) {
	gone := regexp.MustCompile(`(^|[^A-Za-z])(` + goneWords + `)([^A-Za-z]|$)`)
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
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || strings.HasSuffix(name, "integration/words_test.go") {
			continue
		}
		for n, line := range strings.Split(string(data), "\n") {
			if m := gone.FindStringSubmatch(line); m != nil {
				t.Errorf("%s:%d: %q is not a word of the field", name, n+1, m[2])
			}
		}
	}
}
