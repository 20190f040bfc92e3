package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usage is a mistake in the command line.
func usage(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, format, args...)
}

// flagError explains a flag that cannot be taken.
func flagError(c *cobra.Command, err error) error {
	hint := func(e *fault.Error) error {
		return e.WithHint("%s --help shows its flags; text that begins with - wants -- before it", c.CommandPath())
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if words := c.Flags().Args(); len(words) > 0 && takesCommands(c) {
			return unknownVerb(c, words[0]) // the flag is that verb's
		}
		name := e.GetSpecifiedName()
		if e.GetSpecifiedShortnames() != "" {
			return hint(usage("%s has no flag -%s", c.CommandPath(), name))
		}
		return hint(usage("%s has no flag --%s%s", c.CommandPath(), name, flagMeant(c, name)))
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return hint(usage("the flag --%s needs a value", e.GetFlag().Name))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		cause := e.Unwrap()
		if coded, ok := errors.AsType[*fault.Error](cause); ok {
			return fault.New(coded.Code, "--%s: %s", e.GetFlag().Name, coded.Message).WithHint("%s", coded.Hint)
		}
		return hint(usage("%s: %v", strings.TrimSpace("--"+e.GetFlag().Name+" "+store.Shown(e.GetValue())), cause))
	}
	return hint(usage("%v", err))
}

func flagMeant(c *cobra.Command, name string) string {
	var names []string
	collect := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	c.Flags().VisitAll(collect) // the global ones, too
	near := map[string]string{"tail": "lines", "background": "detach", "quiet": "json", "broadcast": "all"}[name]
	if !slices.Contains(names, near) {
		near = config.Nearest(name, names)
	}
	if near != "" {
		return "; did you mean --" + near + "?"
	}
	return ""
}

// otherWords are what peers, or earlier versions, call a command of ours.
func otherWords() map[string]string {
	return map[string]string{
		"list": "ps", "ls": "ps", "status": "ps", "kill": "stop", "end": "stop", "remove": "stop", "rm": "stop", "start": "up", "create": "team create", "delete": "team delete",
		"logs-f": "logs --follow", "tail": "logs --follow", "broadcast": "send --all", "message": "send", "msg": "send", "mail": "inbox", "focus": "attach", "join": "attach",
		"select": "attach", "exec": "attach", "peek": "capture", "screen": "capture", "send-keys": "keys", "press": "keys", "takeover": "team takeover", "delegate": "team delegate",
		"permission": "requests", "permissions": "requests", "plans": "requests", "reject": "deny", "refuse": "deny", "allow": "approve", "shutdown": "stop", "item": "run item",
		"items": "run item", "runs": "run", "tasks": "task ls", "claim": "task claim", "done": "task done", "api": "daemon schema", "schema": "daemon schema", "backend-test": "backend test",
		"dashboard": "top", "ui": "top", "watch": "top", "serve": "daemon run", "server": "daemon run", "check": "doctor", "clean": "gc", "prune": "gc", "config": "doctor -v", "new": "spawn", "add": "spawn", "run-team": "up",
		"attach-session": "attach", "select-pane": "attach", "capture-pane": "capture", "list-panes": "ps", "list-sessions": "team ls", "split-window": "spawn", "new-window": "spawn",
		"new-session": "up --detach", "kill-pane": "stop", "kill-window": "stop", "kill-session": "down", "kill-server": "down", "pause": "run pause", "unpause": "run resume", "resume": "run resume", "monitor": "top",
		"inspect": "team show", "show": "team show", "view": "team show", "info": "doctor", "stats": "top", "issue": "task", "issues": "task ls", "reply": "send", "answer": "approve",
	}
}

// otherSubcommands are the same below a command.
func otherSubcommands() map[string]string {
	return map[string]string{
		"plan ls": "requests", "plan list": "requests", "plan approve": "approve", "plan reject": "deny", "task list": "task ls", "task create": "task add", "task delete": "task rm",
		"task complete": "task done", "task close": "task done", "task reopen": "task release", "task view": "task show", "task edit": "task update", "team view": "team show", "team list": "team ls", "team new": "team create", "team info": "team show", "task assign": "task update", "task start": "task claim", "team rm": "team delete", "run list": "run ls", "run start": "run create", "run stop": "run cancel", "run view": "run show", "run watch": "top",
	}
}

// unknownVerb refuses what is no command of c.
func unknownVerb(c *cobra.Command, word string) error {
	path := c.CommandPath()
	near := config.Nearest(word, shownNames(c))
	if near != "" {
		near = path + " " + near
	}
	if other, ok := otherWords()[word]; ok && !c.HasParent() {
		near = path + " " + other
	} else if other, ok := otherSubcommands()[strings.TrimPrefix(path, c.Root().Name()+" ")+" "+word]; ok {
		near = c.Root().Name() + " " + other
	}
	text := fmt.Sprintf("%s has no command %q", path, store.Shown(word))
	if near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return usage("%s", text).WithHint("%s --help lists its commands", path)
}

// takes checks the number of arguments; most -1 means any number.
func takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		synopsis := strings.TrimSpace(strings.TrimPrefix(c.Use, c.Name()))
		switch {
		case len(args) < least:
			return usage("%s needs %s", c.CommandPath(), synopsis).WithHint("%s --help shows how it is called", c.CommandPath())
		case most >= 0 && len(args) > most:
			want, way := "no arguments", "the name of a team wants --team before it"
			if synopsis != "" {
				want, way = synopsis+" and no more", "text of several words wants quotes"
			}
			return usage("%s takes %s, not %q", c.CommandPath(), want, store.Shown(args[most])).
				WithHint("%s --help shows how it is called; %s", c.CommandPath(), way)
		case least == 0 && slices.Contains(args, ""): // a script whose variable is empty must not mean the only one, or all
			return usage("%s: %s is empty", c.CommandPath(), strings.Trim(synopsis, "[]…")).WithHint("%s --help says what it does without it", c.CommandPath())
		}
		return nil
	}
}

// flagValue is a flag whose text is taken by a function.
type flagValue struct {
	words []string // the few that it takes; nil: any text
	take  func(string) error
}

func (f flagValue) String() string     { return "" }
func (f flagValue) Type() string       { return cmp.Or(strings.Join(f.words, "|"), "text") }
func (f flagValue) Set(v string) error { return f.take(v) }

// valueOf is a flag whose text is turned into a value.
func valueOf[T any](to *T, parse func(string) (T, error)) flagValue {
	return flagValue{take: func(v string) (err error) {
		*to, err = parse(v)
		return err
	}}
}

// choice is a flag that takes one of a few words.
func choice[S ~string](to *S, words []string) flagValue {
	f := valueOf(to, func(v string) (S, error) {
		word, err := oneOf(v, words)
		return S(word), err
	})
	f.words = words
	return f
}

// maybeChoice is a choice that tells "not given" (nil).
func maybeChoice(to **string, words []string) flagValue {
	f := valueOf(to, func(v string) (*string, error) {
		word, err := oneOf(v, words)
		return &word, err
	})
	f.words = words
	return f
}

// synonyms are the words of tasks for items, and the other way round.
func synonyms() map[string]string {
	return map[string]string{"done": "completed", "todo": "pending", "completed": "done", "pending": "todo"}
}

// oneOf returns the one of the words that v means.
func oneOf(v string, words []string) (string, error) {
	if slices.Contains(words, v) {
		return v, nil
	}
	if other := synonyms()[v]; slices.Contains(words, other) {
		return other, nil
	}
	return "", errors.New("it takes " + strings.Join(words, ", ") + meant(v, words))
}

// span is a flag that takes a time, such as 30s.
func span(to *time.Duration) flagValue { return valueOf(to, config.ParseDuration) }

// given is a flag of text that changes what is meant, such as a path or a name. An empty one is
// refused: a script whose variable is empty must not mean that there is none.
func given(to *string) flagValue {
	return valueOf(to, func(v string) (string, error) {
		if strings.TrimSpace(v) == "" {
			return "", errors.New("it is empty")
		}
		return v, nil
	})
}

// givenList is a flag that takes texts with commas between them, and none that is empty.
func givenList(to *[]string) flagValue {
	return flagValue{take: func(v string) error {
		for text := range strings.SplitSeq(v, ",") {
			if text = strings.TrimSpace(text); text == "" {
				return errors.New("it, or a part of it, is empty")
			}
			*to = append(*to, text)
		}
		return nil
	}}
}

// count is a flag that takes a number that is not negative.
func count(to *int) flagValue {
	return valueOf(to, func(v string) (int, error) {
		n, err := strconv.ParseUint(v, 10, 30)
		if err != nil {
			return 0, errors.New("it takes a number that is not negative")
		}
		return int(n), nil
	})
}

// maybe is a text flag that tells "not given" (nil) from "empty".
func maybe(to **string) flagValue {
	return valueOf(to, func(v string) (*string, error) { return &v, nil })
}
