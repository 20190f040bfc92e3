// Package interop is the proof against the real agents: Claude Code as a teammate and as
// the lead, and each agent of agents.tsv at its prompt and as a worker. Its tests run the
// programs, unmodified, in panes of a private tmux server, with a home of its own and a
// key that is none; instead of a model, a server on this machine answers from scripts
// (model_test.go, formats_test.go). They need the programs below the folder that
// LEADLIGHT_INTEROP names, as .ci/interop fetches them, and are skipped without; the
// script server itself is tested always.
package interop
