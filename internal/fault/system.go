package fault

import (
	"context"
	"io/fs"
	"syscall"
)

// systemCauses maps failures of the system to codes, so that a full disk is
// called a full disk by every verb. ENOSPC and EDQUOT come first: both are also
// wrapped by *fs.PathError, like everything else here.
func systemCauses() []systemCause {
	return []systemCause{
		{syscall.ENOSPC, DiskFull},
		{syscall.EDQUOT, DiskFull},
		{fs.ErrPermission, PermissionDenied},
		{syscall.EROFS, PermissionDenied},
		{context.DeadlineExceeded, Timeout},
	}
}
