package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes the manual pages, from the same source as the help.
func manCommand(*app) *cobra.Command {
	c := page("man")
	c.Hidden, c.Args = true, takes(1, 1)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := writeManual(c.Root(), args[0]); err != nil {
			return fmt.Errorf("write the manual: %w", err)
		}
		return nil
	}
	return c
}

func writeManual(root *cobra.Command, dir string) error {
	var walk func(c *cobra.Command) error
	walk = func(c *cobra.Command) error {
		if c.Hidden {
			return nil
		}
		if err := writePage(dir, c.CommandPath(), manPage(c)); err != nil {
			return err
		}
		for _, sub := range c.Commands() {
			if err := walk(sub); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return err
	}
	for _, t := range topics() {
		var text bytes.Buffer
		t.write(&text)
		name := root.Name() + " " + t.name
		if err := writePage(dir, name, manHead(name, t.short)+manVerbatim("DESCRIPTION", text.String())); err != nil {
			return err
		}
	}
	return nil
}

func writePage(dir, name, page string) error {
	return os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".1"), []byte(page), 0o644)
}

func manHead(name, short string) string {
	title := strings.ReplaceAll(name, " ", "-")
	return fmt.Sprintf(".TH %s 1 \"%s\" leadlight\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(title)), version().day, roff(title), roff(short))
}

func manPage(c *cobra.Command) string {
	var b strings.Builder
	b.WriteString(manHead(c.CommandPath(), c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n.SH DESCRIPTION\n%s\n", roff(usageLine(c)), roff(strings.TrimSpace(c.Long)))
	manFlags(&b, "OPTIONS", c.LocalNonPersistentFlags())
	manFlags(&b, "GLOBAL OPTIONS", globalFlags(c))
	if c.Example != "" {
		b.WriteString(manVerbatim("EXAMPLES", c.Example))
	}
	var also []string
	if c.HasParent() {
		also = append(also, strings.ReplaceAll(c.Parent().CommandPath(), " ", "-"))
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			also = append(also, strings.ReplaceAll(sub.CommandPath(), " ", "-"))
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s(1)\n", roff(strings.Join(also, "(1), ")))
	}
	return b.String()
}

func manFlags(b *strings.Builder, title string, fs *pflag.FlagSet) {
	if !fs.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			synopsis, usage := flagSynopsis(f)
			fmt.Fprintf(b, ".TP\n%s\n%s\n", roff(strings.TrimSpace(synopsis)), roff(usage))
		}
	})
}

func manVerbatim(title, text string) string {
	return fmt.Sprintf(".SH %s\n.nf\n%s\n.fi\n", title, roff(strings.TrimRight(text, "\n")))
}

// roff protects text from the formatter: backslashes, hyphens, and a dot or quote
// at the beginning of a line.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
