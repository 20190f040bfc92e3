// Command leadlight runs teams of agents in terminal panes. What it can do is in
// package cli; here it only meets the system.
package main

import (
	"os"

	"github.com/leadlight-dev/leadlight/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
