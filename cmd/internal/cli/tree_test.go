package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the golden files anew")

// run runs one command line with an environment of its own.
func run(t *testing.T, stdin string, env []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = Main(args, Stdio{In: strings.NewReader(stdin), Out: &out, Err: &errs}, env)
	return status, out.String(), errs.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// each calls f for every command, hidden ones too.
func each(t *testing.T, f func(t *testing.T, c *cobra.Command)) {
	t.Helper()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		t.Run(c.CommandPath(), func(t *testing.T) { f(t, c) })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := rootCommand(newApp(Stdio{}, nil), "")
	root.InitDefaultHelpCmd()
	walk(root)
}

func TestEveryCommandIsDocumented(t *testing.T) {
	each(t, func(t *testing.T, c *cobra.Command) {
		if c.Name() != strings.Fields(c.Use)[0] || !strings.HasPrefix(usageLine(c), c.CommandPath()) {
			t.Errorf("usage %q does not begin with its own name", usageLine(c))
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || len(c.Short) > 72 {
			t.Errorf("short description %q", c.Short)
		}
		if c.Long == "" {
			t.Error("no description")
		}
		for line := range strings.Lines(c.Long) {
			if len(strings.TrimRight(line, "\n")) > 102 {
				t.Errorf("a long line: %q", line)
			}
		}
		if c.HasSubCommands() && c.HasParent() {
			return
		}
		if !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("no example calls it: %q", c.Example)
		}
		if c.ValidArgsFunction == nil && c.ValidArgs == nil && c.HasParent() && !c.Hidden {
			t.Error("completion would offer files")
		}
	})
}

func TestEveryFlagIsDocumentedOnce(t *testing.T) {
	each(t, func(t *testing.T, c *cobra.Command) {
		global := c.Root().PersistentFlags()
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if _, found := c.GetFlagCompletionFunc(f.Name); strings.Contains(f.Value.Type(), "|") && !found {
				t.Errorf("--%s takes %s, and completion would offer files", f.Name, f.Value.Type())
			}
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("--%s: usage %q", f.Name, f.Usage)
			}
			if global.Lookup(f.Name) != nil {
				t.Errorf("--%s hides a global flag", f.Name)
			}
			if f.Shorthand != "" && global.ShorthandLookup(f.Shorthand) != nil {
				t.Errorf("-%s hides a global flag", f.Shorthand)
			}
			if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(f.Name) {
				t.Errorf("--%s: not lower-case words", f.Name)
			}
		})
	})
}

// An example with a flag that does not exist is worse than none.
func TestExamplesUseFlagsThatExist(t *testing.T) {
	each(t, func(t *testing.T, c *cobra.Command) {
		if c.DisableFlagParsing {
			return
		}
		for line := range strings.Lines(c.Example) {
			_, rest, found := strings.Cut(line, c.CommandPath()+" ")
			if !found || !c.HasParent() {
				continue
			}
			rest, _, _ = strings.Cut(rest, " -- ")
			for _, word := range strings.Fields(rest) {
				name, isFlag := strings.CutPrefix(word, "--")
				name, _, _ = strings.Cut(name, "=")
				if isFlag && name != "" && c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%q: no flag --%s", strings.TrimSpace(line), name)
				}
			}
		}
	})
}

func TestTheNamesInTheListOfVerbs(t *testing.T) {
	for _, v := range verbs() {
		if got := v.command(newApp(Stdio{}, nil)).Name(); got != v.name {
			t.Errorf("the verb %s is listed as %s", got, v.name)
		}
	}
}

func TestEveryCommandIsInHelp(t *testing.T) {
	_, all, _ := run(t, "", nil, "help")
	for _, v := range verbs() {
		if listed := strings.Contains(all, "\n  "+v.name+" "); listed != (v.group != "") {
			t.Errorf("%s listed: %v", v.name, listed)
		}
	}
	each(t, func(t *testing.T, c *cobra.Command) {
		if c.Name() == "help" {
			return
		}
		words := strings.Fields(c.CommandPath())[1:]
		for _, args := range [][]string{append([]string{"help"}, words...), append(slices.Clone(words), "--help")} {
			if status, out, errs := run(t, "", nil, args...); status != 0 || errs != "" || !strings.Contains(out, usageLine(c)) {
				t.Errorf("%v: %d, %q, %q", args, status, out, errs)
			}
		}
	})
}

// The surface is what scripts rely on: nothing of it goes away unseen.
func TestTheSurface(t *testing.T) {
	var b strings.Builder
	each(t, func(t *testing.T, c *cobra.Command) {
		if c.Hidden {
			return
		}
		fmt.Fprintf(&b, "%s\n", usageLine(c))
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				synopsis, _ := flagSynopsis(f)
				fmt.Fprintf(&b, "    %s\n", synopsis)
			}
		})
	})
	golden(t, "surface.golden", b.String())
}

func TestTheJSONAnswers(t *testing.T) {
	_, out, _ := run(t, "", nil, "help", "json")
	golden(t, "json.golden", out)
	least := map[string]string{
		"team show, team create": "name description createdAt leadAgentId members metadata path mailbox",
		"ps": "name agentId agentType kind profile model color state isActive backendType tmuxPaneId pid exitCode signal " +
			"startedAt lastActivityAt unread task cwd reason",
		"spawn, restart NAME":             "name agentId state tmuxPaneId backendType pid",
		"stop, down":                      "members ok",
		"  members, each":                 "name outcome requestId durationMs leftovers",
		"send":                            "id to timestamp",
		"send --all, or to several names": "id to timestamp",
		"events, observe, each":           "seq at type team member data",
		"observe --emit state, each":      "name role members tasks agents",
		"daemon status, start":            "pid socket version uptimeMs teams members tasks mail",
		"inbox":                           "id from text summary timestamp color read type",
		"task ls":                         "id subject description activeForm status owner blocks blockedBy metadata ready createdAt updatedAt result",
		"doctor":                          "checks ok",
		"  checks, each":                  "name status detail fix",
		"errors, on standard error: {\"error\": …}": "code message hint",
	}
	for _, a := range jsonAnswers() {
		have := jsonFields(reflect.TypeOf(a.of))
		for _, f := range strings.Fields(least[a.verbs]) {
			if !slices.Contains(have, f) {
				t.Errorf("%s: no field %s", a.verbs, f)
			}
		}
		delete(least, a.verbs)
	}
	if len(least) > 0 {
		t.Errorf("not in the table: %v", least)
	}
}

func TestTopicsComeFromTheTables(t *testing.T) {
	for _, tc := range []struct{ topic, word string }{
		{"exit-codes", "ACTIVE_MEMBERS"}, {"exit-codes", "130"}, {"environment", "LEADLIGHT_TMUX_SOCKET"}, {"files", "config.json"},
		{"team-file", "blockedBy"}, {"team-file", "onLeadExit"}, {"agents", "shell"}, {"json", "tmuxPaneId"},
	} {
		if status, out, _ := run(t, "", nil, "help", tc.topic); status != 0 || !strings.Contains(out, tc.word) {
			t.Errorf("help %s: %d, without %s", tc.topic, status, tc.word)
		}
	}
	_, out, _ := run(t, "", nil, "help", "exit-codes")
	for _, g := range fault.Table() {
		for _, c := range g.Codes {
			if !strings.Contains(out, " "+string(c)) {
				t.Errorf("exit-codes lacks %s", c)
			}
		}
	}
}

func TestTheManual(t *testing.T) {
	dir := t.TempDir()
	if status, _, errs := run(t, "", nil, "man", dir); status != 0 {
		t.Fatal(errs)
	}
	each(t, func(t *testing.T, c *cobra.Command) {
		if c.Hidden || c.HasParent() && c.Parent().Hidden || c.Name() == "help" {
			return
		}
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, ".") && !regexp.MustCompile(`^\.(TH|SH|TP|nf|fi)\b`).MatchString(line) {
				t.Errorf("text that reads as a request: %q", line)
			}
		}
	})
	if status, _, errs := run(t, "", nil, "man", filepath.Join(dir, "no")); status != 3 && status != 1 || errs == "" {
		t.Errorf("into a folder that does not exist: %d %s", status, errs)
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if status, out, _ := run(t, "", nil, "completion", shell); status != 0 || !strings.Contains(out, "leadlight") {
			t.Errorf("%s: %d", shell, status)
		}
	}
}
