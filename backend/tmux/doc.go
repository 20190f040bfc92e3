// Package tmux holds panes in a tmux server, version 3.2 or newer.
//
// # How it talks to tmux
//
// Every action is one run of the tmux client with an explicit socket (-S), UTF-8
// forced (-u), TMUX and TMUX_PANE taken out of its environment, nothing on stdin,
// a process group of its own and a time limit. Several commands share one run,
// joined by ";": tmux executes such a line without letting anybody in between,
// so what must happen together (is this still our pane? then close it) is one
// line with the question asked inside the server.
//
// Targets are ids that tmux gave out (%1, @1, $1), checked for form before use,
// because tmux takes an empty or odd target for the current pane. Names only
// ever appear as =name; indexes, titles and formats of the user's never. Answers
// are lists of ids, numbers and our own encoded marks; a title, a folder or a
// command is never among their fields, so nothing a program in a pane does can
// confuse them. An answer that cannot be read is an error, not an empty list.
//
// # What is written on a pane
//
// The mark and the label are pane options (@leadlight, @leadlight-name,
// @leadlight-state), out of reach of a program's escape sequences, and end with
// the pane. So does the border's format with the colour, set on our panes alone. One option of a window is changed, from tmux 3.3 on: pane-border-status,
// if it was off. What it was ("off", or not set in this window) is kept in the
// window option @leadlight-border and restored when the last of our panes there
// is closed, or by Tidy when they ended by themselves.
//
// # Identity
//
// A pane is known by the server's process id and start time, its id, and the mark,
// which holds the host's id. The start time is the server's own #{start_time}
// (seconds since 1970): it comes in the same answer as the rest and means the same
// on every system.
//
// # What it does not do
//
// Nothing is typed or pasted, no hook is set and no control client is held: hosts take
// text and report exits by their own sockets. So tmux's limits on keys, its crash on a
// paste into a dead pane, its lossy exit hooks and its 1 Hz subscriptions cannot touch a
// team. Programs get their environment from the host, not from tmux's.
//
// # gotmux
//
// github.com/GianlucaP106/gotmux does the chores around the panes (chores.go): is
// tmux there, is a session name taken, window options back to what they were, take
// the person's client to another session. Panes are opened, marked, listed, captured
// and closed by the thin layer in run.go instead, because gotmux (v0.5.0) has no time
// limit, does not tell the id of a pane it split, wraps commands in quotes for a
// shell, replaces tmux's reasons by "failed to …", addresses names by prefix, and
// joins list fields by "-:-" so that a pane's title can make it panic.
package tmux
