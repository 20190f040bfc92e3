package store

import "testing"

// Hints of two watches come as one until both have ended, and are never waited for.
func TestTogether(t *testing.T) {
	t.Parallel()
	one, two := make(chan struct{}), make(chan struct{})
	both := Together(one, two)
	for range 3 {
		one <- struct{}{} // nobody takes them
	}
	close(one)
	<-both
	two <- struct{}{}
	<-both
	close(two)
	for range both { // it ends
	}
}
