// Command relay opens a way to each address that it is given, and prints the addresses of
// its own ends, one a line. SIGUSR1 cuts all ways, SIGUSR2 mends them, SIGTERM ends it. A
// demo lets a machine reach an engine by it, so that its network can be cut without any
// right.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

func main() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGINT)
	var ways []*natstest.Relay
	for _, target := range os.Args[1:] {
		r, err := natstest.NewRelay(target)
		if err != nil {
			fmt.Fprintln(os.Stderr, "relay:", err)
			os.Exit(1)
		}
		ways = append(ways, r)
		fmt.Println(r.URL())
	}
	for s := range signals {
		switch s {
		case syscall.SIGUSR1:
			for _, r := range ways {
				r.Cut()
			}
		case syscall.SIGUSR2:
			for _, r := range ways {
				r.Mend()
			}
		default:
			return
		}
	}
}
