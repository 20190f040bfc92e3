package leaktest

import (
	"errors"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

// TestSettle: who rests at one place is not waited for long; who can run, or moves on, is.
func TestSettle(t *testing.T) {
	const steps = 5 * looks
	stay := make(chan struct{})
	go func() { <-stay }()
	rests := goleak.Find()
	close(stay)
	if rests == nil {
		t.Fatal("a goroutine that stays was not found")
	}
	var over atomic.Bool
	go func() {
		for !over.Load() { // it runs
		}
	}()
	runs := goleak.Find()
	over.Store(true)
	if runs == nil {
		t.Fatal("a goroutine that runs was not found")
	}
	for _, tc := range []struct {
		name string
		find func(n int) error
		want int
	}{
		{"rests", func(int) error { return rests }, looks},
		{"runs", func(int) error { return runs }, steps},
		{"moves on", func(n int) error { return []error{rests, errors.New("elsewhere")}[n%2] }, steps},
	} {
		n := 0
		settle(func() error {
			if n++; n == steps {
				return nil
			}
			return tc.find(n)
		})
		if n != tc.want {
			t.Errorf("who %s was looked at %d times, want %d", tc.name, n, tc.want)
		}
	}
}
