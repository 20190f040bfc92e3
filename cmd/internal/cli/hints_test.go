package cli

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestXS40_EveryHintIsACommandLine takes each command line that a text of the program
// names, and asks the command whether it takes it so: its words, flags and arguments.
func TestXS40_EveryHintIsACommandLine(t *testing.T) {
	root := rootCommand(newApp(Stdio{}, nil), "")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	seen := 0
	for _, l := range literals(t, filepath.Join("..", "..", "..")) {
		for _, line := range commandLines(l.text) {
			c, rest := commandOf(root, line)
			switch {
			case c == root && l.hint && !strings.HasPrefix(line[0], "-") && !slices.Contains(proseWords(), line[0]):
				t.Errorf("%s: there is no verb %q in %q", l.at, line[0], l.text)
			case c != root:
				seen++
				if err := tryLine(c, rest, placeholder); err != nil {
					t.Errorf("%s: %q: %v", l.at, l.text, err)
				}
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d command lines were found", seen)
	}
}

// proseWords follow the name of the program where it is no verb but a subject.
func proseWords() []string {
	return []string{"started", "may", "made", "needs", "itself", "inside", "does", "that", "of", "works", "will", "is", "has", "and", "to", "can", "or", "for", "on"}
}

// literal is a text in the source.
type literal struct {
	at, text string
	hint     bool // what WithHint takes
}

// literals are the texts in the sources below a folder.
func literals(t *testing.T, root string) (out []literal) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "integration"):
			return filepath.SkipDir
		case filepath.Base(path) == "help.txt" || filepath.Base(path) == "files.txt":
			text, err := os.ReadFile(path)
			out = append(out, literal{path, string(text), false})
			return err
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		hints := map[ast.Expr]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "WithHint" && len(n.Args) > 0 {
					hints[n.Args[0]] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(text, "leadlight ") {
					out = append(out, literal{set.Position(n.Pos()).String(), text, hints[n]})
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// commandLines are the words behind each "leadlight" in a text, as far as they may belong to a
// command line: up to a mark of punctuation.
func commandLines(text string) (out [][]string) {
	_, text, _ = strings.Cut(" "+text, " leadlight ")
	for rest := range strings.SplitSeq(text, "leadlight ") {
		line, _, _ := strings.Cut(rest, "\n")
		if end := regexp.MustCompile(`[;:,)]|\. |\.$| \(`).FindStringIndex(line); end != nil {
			line = line[:end[0]]
		}
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

// commandOf finds the command that the first words name, and what follows.
func commandOf(root *cobra.Command, words []string) (*cobra.Command, []string) {
	c := root
	for i, word := range words {
		j := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == word || sub.HasAlias(word) })
		if j < 0 {
			return c, words[i:]
		}
		c = c.Commands()[j]
	}
	return c, nil
}

// tryLine asks a command for the flags and arguments that follow, as far as each word that is
// no flag is an argument. Without arguments the command is only named.
func tryLine(c *cobra.Command, words []string, argument func(word string) bool) error {
	var args []string
	if c.DisableFlagParsing {
		return nil
	}
	for i := 0; i < len(words) && words[i] != "--"; i++ { // what follows -- is another program's
		word := words[i]
		if word == "-" || !strings.HasPrefix(word, "-") {
			if !argument(word) {
				break
			}
			if word = strings.Trim(word, "[]…"); c.HasParent() && c.Parent().Name() == "task" && placeholder(word) {
				word = "1" // the id of a task is looked at
			}
			args = append(args, word)
			continue
		}
		takesNext, err := flagOf(c, word)
		if err != nil {
			return err
		}
		if takesNext {
			i++
		}
	}
	if len(args) == 0 || c.HasSubCommands() {
		return nil
	}
	return c.ValidateArgs(args)
}

// placeholder tells whether a word of a hint is an argument: a lower-case one begins a sentence.
func placeholder(word string) bool {
	return regexp.MustCompile(`^(%[sq]|[A-Z[][A-Za-z.…\[\]]*|@FILE.*)$`).MatchString(word)
}

// flagOf asks a command for a flag, and tells whether the next word is its value.
func flagOf(c *cobra.Command, word string) (takesNext bool, err error) {
	name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
	flag := c.Flag(name)
	if !strings.HasPrefix(word, "--") {
		flag = cmp.Or(c.Flags().ShorthandLookup(name), c.PersistentFlags().ShorthandLookup(name), c.InheritedFlags().ShorthandLookup(name))
	}
	if flag == nil && name != "help" {
		return false, usage("%s has no flag %s", c.CommandPath(), word)
	}
	return flag != nil && flag.NoOptDefVal == "" && !given, nil
}
