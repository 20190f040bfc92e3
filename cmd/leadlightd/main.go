// Command leadlightd is leadlight's second program: the daemon, the server of tools for
// models and the dashboard. leadlight starts it.
package main

import (
	"os"

	"github.com/leadlight-dev/leadlight/cmd/internal/cli"
	"github.com/leadlight-dev/leadlight/cmd/internal/longlived"
	"github.com/leadlight-dev/leadlight/internal/environ"
)

func main() {
	environ.KeepDescriptors()
	environ.KeepAccess()
	os.Exit(longlived.Main(os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
