//go:build !linux

package integration_test

import "testing"

func readOnlyWorks(*testing.T) bool { return false }

func makeReadOnly(t *testing.T, _ string) (release func()) {
	t.Helper()
	t.Skip("only Linux mounts a folder on itself")
	return func() {}
}

func makeSmall(t *testing.T, _ *gang, _ int) {
	t.Helper()
	t.Skip("only Linux mounts a small file system")
}
