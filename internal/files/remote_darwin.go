package files

import "golang.org/x/sys/unix"

// remote tells whether another machine may change what lies at path: the kernel
// sends no events for that.
func remote(path string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return true
	}
	return st.Flags&unix.MNT_LOCAL == 0
}
