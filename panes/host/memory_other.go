//go:build !linux

package host

// releaseProgram does nothing: only Linux tells which pages are whose.
func releaseProgram() error { return nil }
