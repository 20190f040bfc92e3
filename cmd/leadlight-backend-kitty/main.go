package main

import (
	"os"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/external/plugin"
)

func main() {
	plugin.Main(plugin.Info{Name: "kitty", Version: "1.0"}, func(h plugin.Host) (backend.Backend, error) {
		return open(h, os.Getenv)
	})
}

// open returns the backend in the kitty that leadlight was told before, else in the one we
// run in.
func open(h plugin.Host, getenv func(string) string) (*Backend, error) {
	socket := h.Terminal
	if socket == "" {
		var err error
		if socket, err = Socket(getenv); err != nil {
			return nil, err
		}
	}
	return New(Options{Socket: socket, Getenv: getenv})
}

// Terminal is the address by which this kitty is reached from anywhere.
func (b *Backend) Terminal() string { return b.opt.Socket }
