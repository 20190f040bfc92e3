// Package leaktest proves that the tests of a package leave no goroutine behind, also on a
// machine on which that takes a while.
package leaktest

import (
	"regexp"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, for its TestMain, and ends the program.
func Main(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient lets what the tests have begun come to its end: on a busy machine that takes longer
// than goleak waits.
type patient struct{ m *testing.M }

// Run runs the tests.
func (p patient) Run() int {
	code := p.m.Run()
	if code == 0 {
		settle(func() error { return goleak.Find() })
	}
	return code
}

// looks is how often the same goroutines are found resting at the same places before they are
// taken to stay there. goleak looks for half a second each time, on a busy machine longer.
const looks = 8

// canRun is a goroutine, in goleak's words, that rests nowhere.
var canRun = regexp.MustCompile(`(?m)Goroutine \d+ in state (running|runnable)\b`)

// settle waits until find finds nothing, or only what is not on its way to its end.
func settle(find func() error) {
	before, same := "", 0
	for end := time.Now().Add(time.Minute); same < looks && time.Now().Before(end); same++ {
		err := find()
		if err == nil {
			return
		}
		if now := err.Error(); now != before || canRun.MatchString(now) {
			before, same = now, 0
		}
	}
}
