package storetest

import (
	"time"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// Reader reads a mailbox with list after each hint, as who watches it does. seen waits for a
// message, which is the newest when it comes, and tells when it was read. It is for one
// goroutine, and ends when hints is closed.
func Reader(hints <-chan struct{}, list func() ([]store.Message, error)) (seen func(id string) time.Time) {
	type arrival struct {
		id string
		at time.Time
	}
	arrived := make(chan arrival, 1000)
	go func() {
		known := ""
		for range hints {
			msgs, err := list()
			if n := len(msgs); err == nil && n > 0 && msgs[n-1].ID != known {
				known = msgs[n-1].ID
				arrived <- arrival{known, time.Now()}
			}
		}
	}()
	return func(id string) time.Time {
		a := <-arrived
		for a.id != id {
			a = <-arrived
		}
		return a.at
	}
}
