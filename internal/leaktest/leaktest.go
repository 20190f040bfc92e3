// Package leaktest proves that the tests of a package leave no goroutine behind, also on a
// machine on which that takes a while.
package leaktest

import (
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
	for end := time.Now().Add(time.Minute); code == 0 && goleak.Find() != nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	return code
}
