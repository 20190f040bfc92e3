package storetest

import "testing"

func smallDisk(t *testing.T) string {
	t.Skip("needs a small file system, which is made on Linux only")
	return ""
}
