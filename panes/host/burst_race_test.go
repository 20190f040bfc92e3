//go:build race

package host

// burstSize under the race detector, which makes everything ten times slower.
const burstSize = 4 << 20
