package integration_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHousePaths: no tracked file names a folder of the machine it was written
// on: this checkout, the caches of Go, or the folders of a build machine.
func TestHousePaths(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	alternatives := []string{`/wo[r]k/(main|shared|[.]library)`, `/tmp/br[i]ef`, `/tmp/go-bu[i]ld[0-9]`}
	folders := []string{root}
	for _, variable := range []string{"GOMODCACHE", "GOCACHE"} {
		if out, err := exec.Command("go", "env", variable).Output(); err == nil {
			folders = append(folders, strings.TrimSpace(string(out)))
		}
	}
	for _, folder := range folders {
		if !strings.HasPrefix(folder, "/tmp/") { // a clone in /tmp/x: examples are named so, too
			alternatives = append(alternatives, regexp.QuoteMeta(folder))
		}
	}
	// The expression begins with the slash that all have: so it is found fast.
	forbidden := regexp.MustCompile(`(` + strings.Join(alternatives, "|") + `)([^A-Za-z0-9_-]|$)`)

	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout: there are no tracked files to look at")
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted in the work tree, or a link that leads nowhere
		}
		if !forbidden.Match(data) { // almost all, at once
			continue
		}
		for n, line := range bytes.Split(data, []byte("\n")) {
			if m := forbidden.Find(line); m != nil {
				t.Errorf("%s:%d names a folder of one machine: %s", name, n+1, m)
			}
		}
	}
}
