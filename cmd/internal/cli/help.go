package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// writeHelp describes one command; all adds the flags that every command takes.
func writeHelp(w io.Writer, c *cobra.Command, all bool) {
	text := cmp.Or(c.Long, c.Short)
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(text), usageLine(c))
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.TrimRight(c.Example, "\n"))
	}
	writeCommands(w, c)
	if !c.HasParent() {
		fmt.Fprintf(w, "\nTopics (leadlight help TOPIC):\n")
		for _, t := range topics() {
			fmt.Fprintf(w, "  %-12s %s\n", t.name, t.short)
		}
	}
	writeFlags(w, "Flags:", c.LocalNonPersistentFlags())
	if all {
		writeFlags(w, "Global flags:", globalFlags(c))
	} else {
		fmt.Fprintf(w, "\nEvery command also takes -t TEAM, --json and -v; leadlight help lists all such flags.\n")
	}
}

// globalFlags are the flags that every command takes.
func globalFlags(c *cobra.Command) *pflag.FlagSet { return c.Root().PersistentFlags() }

// printHelp is writeHelp in the width of the terminal.
func (a *app) printHelp(c *cobra.Command, all bool) {
	var b strings.Builder
	writeHelp(&b, c, all)
	a.printFolded(b.String())
}

func (a *app) printFolded(text string) { io.WriteString(a.out, folded(text, width(a.out.w))) }

// folded fits help into cols columns; 0 leaves it as it is.
func folded(text string, cols int) string {
	if cols == 0 {
		return text
	}
	var lines []string
	full := false // the line before is of a paragraph that goes on
	for line := range strings.SplitSeq(text, "\n") {
		prose := line != "" && line[0] != ' '
		if prose && full {
			lines[len(lines)-1] += " " + line
		} else {
			lines = append(lines, line)
		}
		full = prose && len(line) > fullLine
	}
	for i, line := range lines {
		lines[i] = foldedLine(line, max(cols, leastLine))
	}
	return strings.Join(lines, "\n")
}

const (
	fullLine  = 75 // a line of prose that is as long was broken only because it was full
	leastLine = 40
)

// foldedLine breaks a line between words. What follows begins below the text behind a flag.
func foldedLine(line string, cols int) string {
	head := displaywidth.TruncateString(line, cols*5/9, "")
	if strings.HasSuffix(head, "  ") { // what would begin later begins here, in each line of a table
		line = head + strings.TrimLeft(line[len(head):], " ")
	}
	if displaywidth.String(line) <= cols {
		return line
	}
	at := len(line) - len(strings.TrimLeft(line, " "))
	if gap := strings.LastIndex(head, "  ") + 2; gap > at+2 {
		at = gap
	}
	var b strings.Builder
	b.WriteString(line[:at])
	indent := displaywidth.String(line[:at])
	col := indent
	for word := range strings.FieldsSeq(line[at:]) {
		w := displaywidth.String(word)
		switch {
		case col == indent:
		case col+1+w > cols:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			col = indent
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += w
	}
	return b.String()
}

// usageLine is how a command is called.
func usageLine(c *cobra.Command) string {
	line := c.Use
	if c.HasParent() {
		line = c.Parent().CommandPath() + " " + c.Use
	}
	if takesCommands(c) {
		return c.CommandPath() + " COMMAND"
	}
	if !c.HasAvailableLocalFlags() {
		return line
	}
	if before, after, dash := strings.Cut(line, " [-- "); dash {
		return before + " [flags] [-- " + after
	}
	return line + " [flags]"
}

func writeCommands(w io.Writer, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	for _, g := range groups {
		fmt.Fprintf(w, "\n%s:\n", g.Title)
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && !sub.Hidden {
				fmt.Fprintf(w, "  %-12s %s\n", sub.Name(), sub.Short)
			}
		}
	}
}

func writeFlags(w io.Writer, title string, fs *pflag.FlagSet) {
	var lines [][2]string
	widest := 0
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		left, usage := flagSynopsis(f)
		lines = append(lines, [2]string{left, usage})
		widest = max(widest, len(left))
	})
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for _, l := range lines {
		fmt.Fprintf(w, "  %-*s  %s\n", widest, l[0], l[1])
	}
}

// flagSynopsis is a flag as help shows it, such as "-t, --team NAME", and what it
// means.
func flagSynopsis(f *pflag.Flag) (synopsis, usage string) {
	name, usage := pflag.UnquoteUsage(f)
	synopsis = "    --" + f.Name
	if f.Shorthand != "" {
		synopsis = "-" + f.Shorthand + ", --" + f.Name
	}
	if name != "" && f.Value.Type() != "bool" {
		synopsis += " " + name
	}
	return synopsis, usage
}

// helpCommand shows a command or a topic.
func helpCommand(a *app) *cobra.Command {
	c := page("help")
	c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return helpWords(c.Root(), args), cobra.ShellCompDirectiveNoFileComp
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		for _, t := range topics() {
			if len(args) == 1 && t.name == args[0] {
				var b strings.Builder
				t.write(&b)
				a.printFolded(b.String())
				return nil
			}
		}
		target, rest, _ := c.Root().Find(args) // what is left over says whether all was found
		if len(rest) > 0 {
			return unknownHelp(target, rest[0])
		}
		a.printHelp(target, a.allHelp || len(args) == 0)
		return nil
	}
	return c
}

// unknownHelp refuses a word that is neither a command nor a topic.
func unknownHelp(c *cobra.Command, word string) error {
	if c.HasParent() {
		return unknownVerb(c, word)
	}
	return usage("there is no command or topic %q%s", word, meant(word, helpWords(c, nil))).
		WithHint("leadlight help lists both")
}

// shownNames are the names of a command's own commands, as help lists them.
func shownNames(c *cobra.Command) []string {
	return picked(c.Commands(), (*cobra.Command).Name, func(sub *cobra.Command) bool { return !sub.Hidden })
}

// helpWords are the words that can come after help and args.
func helpWords(root *cobra.Command, args []string) []string {
	c, rest, _ := root.Find(args)
	if len(rest) > 0 {
		return nil
	}
	words := shownNames(c)
	if c == root {
		for _, t := range topics() {
			words = append(words, t.name)
		}
	}
	return words
}
