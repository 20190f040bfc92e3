package hooks

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxVerdict is how much of a hook's standard output is kept, in bytes.
const maxVerdict = 1 << 20

// verdict reads what a hook that exits with 0 says on standard output: it may object in
// JSON, too (https://docs.anthropic.com/en/docs/claude-code/hooks). What is no JSON
// object says nothing.
func verdict(event, output string) (reason string, objects bool) {
	var said struct {
		Continue *bool  `json:"continue"`
		Stop     string `json:"stopReason"`
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	if !strings.HasPrefix(output, "{") || json.Unmarshal([]byte(output), &said) != nil {
		return "", false
	}
	if slices.Contains([]string{"block", "deny"}, said.Decision) {
		return said.Reason, true
	}
	// Who is not to continue may well go idle.
	if said.Continue != nil && !*said.Continue && event != TeammateIdle {
		return cmp.Or(said.Stop, said.Reason), true
	}
	return "", false
}

// interpreters are the programs that run what they read from standard input when no
// argument gives them a program, and onlyFlags an argument that gives none. Each is
// compiled when it is used first: every start of the program would pay for it.
var (
	interpreters = pattern(`^((ba|da|z|k|mk|a|fi|c|tc|nu)?sh|python[0-9.]*|node|deno|bun|perl|ruby|php|lua|tclsh|osascript|pwsh)$`)
	onlyFlags    = pattern(`^(-[BEIOSeilsuvx]*|--(login|norc|noprofile|posix|verbose))$`)
	plainWords   = pattern(`^[\w./ \t+=-]+$`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// readsProgram tells why a hook may not be run whose program is what it reads: what it
// is told, the words of a task among it, would be run. "" if it may.
func (h Hook) readsProgram() string {
	words := append([]string{h.Command}, h.Args...)
	if !h.Exec {
		if !plainWords().MatchString(h.Command) {
			return "" // a line for the shell that is more than a program and its arguments
		}
		words = strings.Fields(h.Command)
	}
	for len(words) > 1 && slices.Contains([]string{"env", "exec", "command", "nohup", "setsid"}, filepath.Base(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || !interpreters().MatchString(filepath.Base(words[0])) {
		return ""
	}
	if slices.Contains(words[1:], "-s") || !slices.ContainsFunc(words[1:], func(w string) bool { return !onlyFlags().MatchString(w) }) {
		return filepath.Base(words[0]) + " without a script would run what the hook is told: name the script"
	}
	return ""
}
