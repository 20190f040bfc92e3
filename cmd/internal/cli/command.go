package cli

import (
	"context"
	_ "embed" // for the pages
	"strings"

	"github.com/leadlight-dev/leadlight/teams"
	"github.com/spf13/cobra"
)

// helpPages is what help says of each command. A page begins with the command's name, how it
// is called, and what it does in a few words.
//
//go:embed help.txt
var helpPages string

// page makes a command of its page; name is without leadlight's own.
func page(name string) *cobra.Command {
	_, text, found := strings.Cut(helpPages, "\n=== "+name+"\n")
	if !found {
		panic("help.txt has no page " + name)
	}
	text, _, _ = strings.Cut(text, "\n\n===")
	text, examples, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n\nExamples:\n")
	use, text, _ := strings.Cut(text, "\n")
	short, long, _ := strings.Cut(text, "\n\n")
	return &cobra.Command{Use: use, Short: short, Long: long, Example: examples}
}

// command makes the command of a verb, which is run with its options as flags and arguments
// have set them. offers completes the arguments.
func command[O any](a *app, name string, run func(context.Context, *app, O) error, o *O, args cobra.PositionalArgs, offers words) *cobra.Command {
	c := page(name)
	c.Args, c.ValidArgsFunction = args, offers
	c.RunE = func(c *cobra.Command, _ []string) error { return run(c.Context(), a, *o) }
	return c
}

// plain makes the command of a verb that has no options and takes no arguments.
func plain(a *app, name string, run func(context.Context, *app) error) *cobra.Command {
	bare := func(ctx context.Context, a *app, _ struct{}) error { return run(ctx, a) }
	return command(a, name, bare, &struct{}{}, takes(0, 0), noFiles)
}

// group makes a command that only holds others.
func group(name string, subs ...*cobra.Command) *cobra.Command {
	c := page(name)
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownVerb(c, args[0])
		}
		return c.Help()
	}
	c.AddCommand(subs...)
	return c
}

// takesCommands tells whether the first argument of a command is one of its own commands.
func takesCommands(c *cobra.Command) bool {
	return c.HasAvailableSubCommands() && !strings.Contains(c.Use, " ")
}

// taking gives keep the arguments, if their number is right; most -1 means any number.
func taking(least, most int, keep func(args []string) error) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := takes(least, most)(c, args); err != nil {
			return err
		}
		return keep(args)
	}
}

// one takes one argument.
func one(to *string) cobra.PositionalArgs {
	return taking(1, 1, func(args []string) error {
		*to = args[0]
		return nil
	})
}

// optional takes one argument, or none, which is "": an empty one is refused.
func optional(to *string) cobra.PositionalArgs {
	return taking(0, 1, func(args []string) error {
		*to = first(args)
		return nil
	})
}

// several takes a list of arguments.
func several(least int, to *[]string) cobra.PositionalArgs {
	return taking(least, -1, func(args []string) error {
		*to = args
		return nil
	})
}

// oneTask takes the id of a task.
func oneTask(to *string) cobra.PositionalArgs {
	return taking(1, 1, func(args []string) (err error) {
		*to, err = taskID(args[0])
		return err
	})
}

// only makes the command of a verb that has no options but its arguments.
func only[O any](a *app, name string, run func(context.Context, *app, O) error, args func(*O) cobra.PositionalArgs, offers words) *cobra.Command {
	var o O
	return command(a, name, run, &o, args(&o), offers)
}

// options that have more to read than the command line, and to check, do so before the team is
// looked for: a mistake of the caller's comes before all else.
type options interface{ complete(a *app) error }

// ofTeam runs a verb with the Service and the team that it is about.
func ofTeam[O any](run func(ctx context.Context, a *app, svc *teams.Service, team string, o O) error) func(context.Context, *app, O) error {
	return func(ctx context.Context, a *app, o O) error {
		if o, ok := any(&o).(options); ok {
			if err := o.complete(a); err != nil {
				return err
			}
		}
		svc, team, err := a.serve(ctx)
		if err != nil {
			return err
		}
		return run(ctx, a, svc, team, o)
	}
}

// byLead runs a verb that is refused to teammates; what says what it does.
func byLead[O any](what string, run func(context.Context, *app, O) error) func(context.Context, *app, O) error {
	return func(ctx context.Context, a *app, o O) error {
		if err := a.leadOnly(what); err != nil {
			return err
		}
		return run(ctx, a, o)
	}
}
