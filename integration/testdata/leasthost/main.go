// Command leasthost is the least that a host in Go does: it runs a program on a terminal
// of its own and passes bytes both ways. A floor of the benchmarks opens it in each pane.
package main

import (
	"io"
	"os"
	"os/exec"

	"github.com/creack/pty"
)

func main() {
	inner, err := pty.Start(exec.Command(os.Args[1], os.Args[2:]...))
	if err != nil {
		panic(err)
	}
	go func() { _, _ = io.Copy(inner, os.Stdin) }()
	_, _ = io.Copy(os.Stdout, inner)
}
