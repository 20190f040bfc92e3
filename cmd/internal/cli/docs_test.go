package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestXD11_TheCommandsOfTheDocsAreThere asks each command that the README and the docs show
// whether it takes the line: its words, flags and arguments.
func TestXD11_TheCommandsOfTheDocsAreThere(t *testing.T) {
	root := rootCommand(newApp(Stdio{}, nil), "")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, "../../../README.md", "../../../CONTRIBUTING.md", "../../../examples/claude-plugin/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range shownLines(string(text)) {
			seen++
			c, rest := commandOf(root, line)
			if c == root && !strings.HasPrefix(line[0], "-") {
				t.Errorf("%s: there is no verb %q in %q", filepath.Base(page), line[0], line)
			} else if err := tryLine(c, rest, func(string) bool { return true }); err != nil {
				t.Errorf("%s: %q: %v", filepath.Base(page), line, err)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d command lines were found", seen)
	}
}

// shownLines are the words behind each "leadlight" of a page, in an example or in a sentence,
// as far as a shell would give them to it.
func shownLines(page string) (out [][]string) {
	quoted := regexp.MustCompile(`'[^'\n]*'|"[^"\n]*"`)
	spoken, example := regexp.MustCompile("`leadlight ([^`]+)`"), regexp.MustCompile(`(?m)^leadlight (.+)$`)
	for i, part := range strings.Split(page, "```") { // every second one is an example
		found := spoken
		if i%2 == 1 {
			found = example
		}
		for _, m := range found.FindAllStringSubmatch(part, -1) {
			line := quoted.ReplaceAllString(m[1], "QUOTED")
			line, _, _ = strings.Cut(line, " #")
			for _, end := range []string{" | ", " && ", " >", " …"} {
				line, _, _ = strings.Cut(line, end)
			}
			if words := strings.Fields(line); len(words) > 0 {
				out = append(out, words)
			}
		}
	}
	return out
}
