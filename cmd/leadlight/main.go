// Command leadlight runs teams of agents in terminal panes. What it can do is in
// package cli; here it only meets the system.
package main

import (
	"os"
	"path/filepath"

	"github.com/leadlight-dev/leadlight/cmd/internal/cli"
	"github.com/leadlight-dev/leadlight/internal/environ"
)

func main() {
	environ.KeepDescriptors()
	environ.KeepAccess()
	std := cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	args := os.Args[1:]
	switch filepath.Base(os.Args[0]) { // called by Claude Code,
	case "tmux": // who asks for panes
		args = append([]string{"tmux-shim"}, args...)
	case cli.TeammateLink: // or starts a teammate
		os.Exit(cli.TeammateCommand(os.Args, std, os.Environ()))
	}
	os.Exit(cli.Main(args, std, os.Environ()))
}
