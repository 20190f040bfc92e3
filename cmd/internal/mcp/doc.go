// Package mcp lets a model lead a team, or work in one, by tools: a server of the
// Model Context Protocol over a pair of streams or over HTTP on this machine.
//
// The tools are the verbs of teams.Service under the names that Claude Code gives
// its own: TeamCreate, Task, SendMessage and so on, with their parameters. Each
// answers with a structured result and a short text. What fails answers with an
// object error{code, message, hint}; errors.go holds the table of codes.
//
// A Server speaks with any number of clients at once and leads at most one team. It
// watches the teams it has been asked about, from the first question on, so that
// WaitForEvents and subscribers of resources miss nothing; the watch never holds up
// a tool.
package mcp
