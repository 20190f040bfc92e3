// Package tmuxshim answers, in tmux's place, what Claude Code asks tmux when it puts its
// teammates into panes: a lead outside tmux thereby gets its panes in whichever backend
// there is, or without a terminal.
//
// The verbs are those that the client uses, in the forms that it uses (Verbs is the
// table, with the versions); every other verb, flag and option is refused by name, so that
// a client which has come to ask for more is noticed. Each call is a run of the program.
// What a tmux server would remember lies in a file of the run folder, one for each server
// that is named with -L or -S, and is changed under one lock; it goes with the last pane.
//
// A pane is first an entry in that file: the client asks for a pane, and only later for
// its program. Then it becomes a pane of the backend with a host (package panes/host) in
// it. It is there as long as its host is. Where panes stand, and how large they are, is
// decided as for our own teammates; what the client says about it is taken and not obeyed.
package tmuxshim

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Version is what the shim says it is: the tmux whose answers it was compared with.
const Version = "tmux 3.3a"

// Shim answers one call.
type Shim struct {
	Keeper Keeper
	Out    io.Writer
	Err    io.Writer
}

// refusal is an error in tmux's own words, which the client may look for.
type refusal string

func (r refusal) Error() string { return string(r) }

// Run carries out the arguments of one call and returns the exit status. An error is what
// the shim cannot do at all: fault.Unsupported, and whatever a backend says.
func (s Shim) Run(ctx context.Context, args []string) (status int, err error) {
	server, args, version, err := serverOf(args)
	switch {
	case err != nil:
		return 0, err
	case version:
		_, err := fmt.Fprintln(s.Out, Version)
		return 0, err
	}
	c, err := parse(args)
	if err != nil {
		return 0, err
	}
	out, err := s.Keeper.with(ctx, server, c)
	if words, ok := err.(refusal); ok { // never wrapped
		fmt.Fprintln(s.Err, string(words))
		return 1, nil
	}
	if err == nil && out != "" {
		_, err = fmt.Fprintln(s.Out, out)
	}
	return 0, err
}

// serverOf takes what stands before the verb: which server is meant.
func serverOf(args []string) (server string, rest []string, version bool, err error) {
	server = "default"
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch flag := args[0]; {
		case flag == "-V":
			return "", nil, true, nil
		case flag == "-u" || flag == "-2":
			args = args[1:]
		case (flag == "-L" || flag == "-S" || flag == "-f") && len(args) > 1:
			if flag != "-f" {
				server = args[1]
			}
			args = args[2:]
		default:
			return "", nil, false, unsupported("the flag %s of tmux", flag)
		}
	}
	return server, args, false, nil
}

func unsupported(format string, args ...any) error {
	return fault.New(fault.Unsupported, "tmux-shim does not know %s", fmt.Sprintf(format, args...)).
		WithHint("leadlight help tmux-shim lists what it knows; in tmux itself it is not needed")
}

// call is a verb with its flags and words.
type call struct {
	verb  *Verb
	flags map[byte]string // those that were given; a switch has ""
	words []string
}

func (c call) has(flag byte) bool { _, ok := c.flags[flag]; return ok }

// parse reads a verb with its flags as tmux does.
func parse(args []string) (call, error) {
	if len(args) == 0 {
		return call{}, unsupported("tmux without a verb")
	}
	table := Verbs()
	i := slices.IndexFunc(table, func(v Verb) bool { return v.Name == args[0] || slices.Contains(v.aliases, args[0]) })
	if i < 0 {
		return call{}, unsupported("the tmux verb %.40q", args[0])
	}
	c := call{verb: &table[i], flags: map[byte]string{}}
	rest := args[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		word := rest[0]
		if rest = rest[1:]; word == "--" {
			break
		}
		for k := 1; k < len(word); k++ {
			at := strings.IndexByte(c.verb.flags, word[k])
			if at < 0 || word[k] == ':' {
				return call{}, unsupported("the flag -%c of the tmux verb %s", word[k], c.verb.Name)
			}
			if at+1 == len(c.verb.flags) || c.verb.flags[at+1] != ':' {
				c.flags[word[k]] = ""
				continue
			}
			value := word[k+1:]
			if value == "" {
				if len(rest) == 0 {
					return call{}, refusal(c.verb.Name + ": -" + word[k:k+1] + " expects an argument")
				}
				value, rest = rest[0], rest[1:]
			}
			c.flags[word[k]] = value
			break
		}
	}
	c.words = rest
	if slices.Contains(rest, ";") {
		return call{}, unsupported("several tmux commands in one line")
	}
	if len(rest) > c.verb.words {
		return call{}, unsupported("%d words after the tmux verb %s", len(rest), c.verb.Name)
	}
	return c, nil
}
