// Package interop is the proof against the real Claude Code client. Its tests run
// the client, unmodified, in panes of a private tmux server, with a home of its own
// and a key that is none; instead of a model, a server on this machine answers from
// scripts (model_test.go). They need the clients below the folder that
// LEADLIGHT_INTEROP names, each as VERSION/bin/claude, and are skipped without it;
// the script server itself is tested always.
package interop
