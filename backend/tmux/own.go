package tmux

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/shell"
)

// serverOption marks a server of ours that has its settings.
const serverOption = "@leadlight-server"

// serverOptions make a server that is ours alone pleasant to work in, once: what a person
// changes there afterwards stays. History is read when a pane is made, so they come before
// the first one.
func (b *Backend) serverOptions() []command {
	if !b.opt.Own {
		return nil
	}
	var set []string
	for _, words := range [][]string{
		{"-s", serverOption, "1"},
		exitWhenEmpty("on")[1:], // it may have been started ahead, also by one that was killed then
		{"-s", "escape-time", "10"},
		{"-g", "mouse", "on"},
		{"-g", "history-limit", "50000"},
		{"-g", "status-left-length", "80"},
		{"-g", "status-left", "#[bold]#{session_name}#[default] " + counts() + " "},
		{"-g", "status-interval", "5"},
		{"-g", "status-right-length", "80"},
		{"-g", "status-right", "#{?" + statusOption + ",#(#{" + statusOption + "}),} C-b d leaves "},
	} {
		set = append(set, shell.Line(append([]string{"set-option"}, words...)...))
	}
	return []command{{"start-server"}, {"if-shell", "-F", "#{" + serverOption + "}", "", strings.Join(set, " ; ")}}
}

// counts is the format of how many teammates a session shows, and in which state they
// are. tmux counts by the length of a text with one letter for each.
func counts() string {
	number := func(condition string) string { return "#{n:#{W:#{P:#{?" + condition + ",x,}}}}" }
	all := number("#{!=:#{" + markOption + "},}")
	text := "· " + all + " #{?#{==:" + all + ",1},teammate,teammates}"
	for _, state := range []string{"waiting", "active", "idle", "failed"} {
		n := number("#{==:#{" + stateOption + "}," + state + "}")
		text += "#{?#{!=:" + n + ",0}, · " + n + " " + state + ",}"
	}
	return text
}

// sessionOptions are what a session of ours relies on, whatever the person has set for all
// sessions or looks at with a small terminal elsewhere. Who looks at it is taken to another
// session of theirs when it ends, not thrown out of tmux.
func (b *Backend) sessionOptions(spec backend.Spec) []command {
	target := "=" + spec.Name + ":"
	set := []command{
		{"set-option", "-t", target, sessionOption, "1"},
		{"set-option", "-t", target, "destroy-unattached", "off"},
		{"set-option", "-t", target, "detach-on-destroy", "off"},
		{"set-option", "-t", target, "default-size", strconv.Itoa(detachedCols) + "x" + strconv.Itoa(detachedRows)},
		{"resize-window", "-t", target, "-x", strconv.Itoa(detachedCols), "-y", strconv.Itoa(detachedRows)},
		{"set-option", "-w", "-t", target, "window-size", "latest"},
	}
	if b.opt.Own && b.opt.Status != nil {
		set = append(set, command{"set-option", "-t", target, statusOption, shell.Line(b.opt.Status(spec.Mark)...)})
	}
	return set
}

// errTaken says that a session has this name already.
var errTaken = errors.New("the name is in use")

// mayStart refuses to start a server where one runs whose socket is gone, or where the
// variable TMUX says that one runs: nobody would see the new one.
func (b *Backend) mayStart(ctx context.Context) error {
	dead := b.dial()
	if dead == nil {
		return nil
	}
	if err := b.reach(ctx, dead); err != nil {
		return err
	}
	in, inside, err := ParseInside(b.opt.Getenv("TMUX"))
	if err != nil || !inside || in.Socket != b.opt.Socket {
		return nil
	}
	return fault.New(fault.BackendUnavailable, "the variable TMUX names a tmux server that does not run (%s)", b.opt.Socket).
		WithHint("unset TMUX, or name another server with --tmux-socket")
}
