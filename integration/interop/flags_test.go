package interop_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes/profiles"
)

// helps are the commands whose help names what the profiles of an agent use. The programs
// print it on either output.
func helps() map[string][]string {
	return map[string][]string{
		"codex":    {"codex --help", "codex exec --help", "codex resume --help"},
		"gemini":   {"gemini --help"},
		"opencode": {"opencode --help", "opencode run --help", "opencode acp --help", "opencode agent list"},
		"qwen":     {"qwen --help"},
		"copilot":  {"copilot --help"},
		"claude":   {"claude --help"},
	}
}

// TestFlags looks for each flag of the built-in profiles, and for the value that the
// profile gives it, in what the agent's own program says of itself.
func TestFlags(t *testing.T) {
	flag := regexp.MustCompile(`^--?[a-z][a-z-]*`)
	for _, v := range vendors() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			version, dir := installed(t, v.name)
			r := newRig(t, version, dir)
			r.settle(v)
			said := ""
			for _, help := range helps()[v.name] {
				argv := strings.Fields(help)
				argv[0] = filepath.Join(dir, argv[0])
				out, errs, _ := r.run(argv...)
				said += out + errs
			}
			known := func(word string) bool {
				return regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(word) + `($|[^\w-])`).MatchString(said)
			}
			for _, profile := range []string{v.profile, v.worker} {
				for _, args := range argsOf(profiles.NewSet(nil)[profile]) {
					for i, word := range args {
						name := flag.FindString(word)
						_, value, _ := strings.Cut(word, "=")
						if name == "" && i > 0 && flag.FindString(args[i-1]) == args[i-1] {
							value = word // of the flag before it
						}
						for _, word := range []string{name, value} {
							if word != "" && !strings.ContainsAny(word, "{ ") && !known(word) {
								t.Errorf("%s %q: %s %s does not speak of %s", profile, args, v.name, version, word)
							}
						}
					}
				}
			}
			if t.Failed() {
				t.Log(said)
			}
		})
	}
}

// argsOf are the lists of arguments of a profile. A script for a shell is taken apart.
func argsOf(p profiles.Profile) [][]string {
	command := p.Command
	if p.Program != "" {
		command = slices.DeleteFunc(strings.Fields(strings.Join(command[2:], " ")), func(word string) bool { return !strings.HasPrefix(word, "-") })
	}
	all := [][]string{command, p.ModelArgs, p.PlanArgs, p.SessionArgs, p.ResumeArgs}
	if len(p.ACP) > 0 && len(p.Command) > 0 && p.ACP[0] == p.Command[0] {
		all = append(all, p.ACP)
	}
	for _, args := range p.ModeArgs {
		all = append(all, args)
	}
	return all
}
