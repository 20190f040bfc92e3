package hooks

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// interpreter is a kind of program that runs what it reads from standard input when no
// argument gives it a program.
type interpreter struct {
	name   string // a pattern
	given  string // letters of the options that give a program
	valued string // letters of those whose next word is theirs
	shell  bool
}

func interpreters() []interpreter {
	return []interpreter{
		{`(ba|da|z|k|mk|a|fi|c|tc|nu)?sh`, "c", "oO", true},
		{`python[0-9.]*`, "cm", "WX", false},
		{`node|deno|bun`, "ep", "rC", false},
		{`perl[0-9.]*`, "eE", "", false},
		{`ruby[0-9.]*`, "e", "rICEFK", false},
		{`php[0-9.]*`, "r", "", false},
		{`lua[0-9.]*|tclsh[0-9.]*|osascript|pwsh`, "e", "l", false},
	}
}

// wrappers are programs that run the program which their arguments name.
var wrappers = []string{"env", "exec", "command", "builtin", "nohup", "setsid", "nice", "ionice", "time", "timeout", "stdbuf", "sudo", "doas", "busybox", "unbuffer"}

var (
	plainWords = pattern(`^[\w./:, \t+=-]+$`) // a program and its arguments, and nothing else
	ofWrapper  = pattern(`^(-.*|\w+=.*|[0-9.]+[smhd]?)$`)
	longGiven  = pattern(`^--(eval|print|command|file)\b`)
	longValued = pattern(`^--(rcfile|init-file|require|import)$`)
	ownInput   = pattern(`^(/dev/(stdin|fd/0)|/proc/self/fd/0)$`)
)

// pattern compiles when it is used first: every start of the program would pay for it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// ReadsProgram tells why a command may not be run whose program is what it reads: what it
// is told, the words of a task among it, would be run. "" if it may.
func ReadsProgram(argv []string) string {
	words := argv
	for len(words) > 0 && (slices.Contains(wrappers, filepath.Base(words[0])) || len(words) < len(argv) && ofWrapper().MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	name := filepath.Base(words[0])
	for _, in := range interpreters() {
		if known, _ := regexp.MatchString("^("+in.name+")$", name); known {
			return in.reads(name, words[1:])
		}
	}
	return ""
}

// lineReadsProgram is ReadsProgram of a line for the shell. One that is more than a program
// and its arguments is not looked into.
func lineReadsProgram(line string) string {
	if !plainWords().MatchString(line) {
		return ""
	}
	return ReadsProgram(append([]string{"env"}, strings.Fields(line)...)) // it may begin with variables
}

// reads tells why the interpreter would run what it reads, when it has these arguments.
func (in interpreter) reads(name string, args []string) string {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch dashed := strings.TrimLeft(word, "-+"); {
		case ownInput().MatchString(word), word == "-" && !in.shell, in.shell && !strings.HasPrefix(word, "--") && dashed != word && strings.Contains(dashed, "s"):
			args = nil
		case word == "-", word == "--":
		case dashed == word, longGiven().MatchString(word):
			return "" // a script, or a program
		case strings.HasPrefix(word, "--"):
			if longValued().MatchString(word) && len(args) > 0 {
				args = args[1:]
			}
		case strings.ContainsAny(dashed, in.given):
			if in.shell && len(args) > 0 {
				return lineReadsProgram(args[0])
			}
			return ""
		case strings.ContainsAny(dashed, in.valued) && len(args) > 0:
			args = args[1:]
		}
	}
	return name + " without a script would run what it is told: name the script"
}
