package fault

import (
	"context"
	"io/fs"
	"syscall"
)

// Starved is the way out where the system has no process, file or memory left to give.
const Starved = "see which limit is reached, of processes (ulimit -u), of open files (ulimit -n) or of memory; raise it, or end something, and try again"

// systemCauses maps failures of the system to codes, so that a full disk is
// called a full disk by every verb. ENOSPC and EDQUOT come first: both are also
// wrapped by *fs.PathError, like everything else here.
func systemCauses() []systemCause {
	return []systemCause{
		{syscall.ENOSPC, DiskFull, ""},
		{syscall.EDQUOT, DiskFull, ""},
		{fs.ErrPermission, PermissionDenied, ""},
		{syscall.EROFS, PermissionDenied, ""},
		{context.DeadlineExceeded, Timeout, ""},
		{syscall.EMFILE, Failed, Starved},
		{syscall.ENFILE, Failed, Starved},
		{syscall.EAGAIN, Failed, Starved},
		{syscall.ENOMEM, Failed, Starved},
	}
}
