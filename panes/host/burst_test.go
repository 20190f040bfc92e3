//go:build !race

package host

// burstSize is what a program writes at once in the tests.
const burstSize = 30 << 20
