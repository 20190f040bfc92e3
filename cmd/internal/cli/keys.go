package cli

import (
	"context"
	"io"
	"strings"

	"github.com/leadlight-dev/leadlight/panes/host"
	"github.com/leadlight-dev/leadlight/teams"
	"github.com/spf13/cobra"
)

type keysOptions struct {
	Name string
	Keys []string
}

// pressed is the answer of keys.
type pressed struct {
	Name string   `json:"name"`
	Keys []string `json:"keys"`
}

func keysCommand(a *app, run func(context.Context, *app, keysOptions) error) *cobra.Command {
	var o keysOptions
	args := taking(2, -1, func(args []string) error {
		o = keysOptions{args[0], args[1:]}
		return nil
	})
	return command(a, "keys", run, &o, args, func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return host.KeyNames(), cobra.ShellCompDirectiveNoFileComp
		}
		return completeTeammates(a, 1)(c, args, toComplete)
	})
}

// tmuxKeys are tmux's names of keys for which the host has another one.
func tmuxKeys() map[string]string {
	return map[string]string{
		"btab": "shift-tab", "bspace": "backspace", "ic": "insert", "dc": "delete", "ppage": "pageup", "pgup": "pageup", "npage": "pagedown", "pgdn": "pagedown",
		"esc": "escape", "return": "enter",
	}
}

// keyName is the host's name of a key that is given by tmux's, such as C-M-a.
func keyName(key string) string {
	before := ""
	for more := true; more; {
		more = false
		for _, m := range [][2]string{{"c-", "ctrl-"}, {"^", "ctrl-"}, {"m-", "alt-"}, {"s-", "shift-"}} {
			if n := len(m[0]); len(key) > n && strings.EqualFold(key[:n], m[0]) {
				before, key, more = before+m[1], key[n:], true
			}
		}
	}
	if other, ok := tmuxKeys()[strings.ToLower(key)]; ok {
		key = other
	}
	return before + key
}

func runKeys(ctx context.Context, a *app, svc *teams.Service, team string, o keysOptions) error {
	err := svc.Keys(ctx, team, o.Name, mapped(o.Keys, keyName))
	return a.answer(pressed(o), err, func(io.Writer) {})
}
