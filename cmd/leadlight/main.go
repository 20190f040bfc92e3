// Command leadlight runs teams of agents in terminal panes. What it can do is in
// package cli; here it only meets the system.
package main

import (
	"os"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/cmd/internal/cli"
)

func main() {
	args := os.Args[1:]
	if filepath.Base(os.Args[0]) == "tmux" { // Claude Code asks for panes
		args = append([]string{"tmux-shim"}, args...)
	}
	os.Exit(cli.Main(args, cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
