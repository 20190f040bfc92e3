package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Explain makes an error of a file operation fit to be told: operation, full
// path and cause, with the code and the way out where the cause has one.
// errors.Is still finds the cause.
func Explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	cause := bare(err)
	for _, known := range explanations() {
		if cause != syscall.ENOENT && errors.Is(cause, known.cause) { // what is not there is looked for all the time
			return fault.New(known.code, "%s %s: %w", op, path, cause).WithHint("%s", known.hint)
		}
	}
	return &fs.PathError{Op: op, Path: path, Err: cause}
}

type explanation struct {
	cause error
	code  fault.Code
	hint  string
}

func explanations() []explanation {
	return []explanation{
		{syscall.ENOSPC, fault.DiskFull, "free some space (df -h) or files (df -i) on that file system and try again"},
		{syscall.EDQUOT, fault.DiskFull, "free some space below your quota and try again"},
		{syscall.EROFS, fault.PermissionDenied, "that file system is read-only, as one becomes after an error of its disk: see why, mount it writable again, and repeat this"},
		{fs.ErrPermission, fault.PermissionDenied, "check the owner and the mode of that path and of its folder"},
		{syscall.ENOLCK, fault.Unsupported, "that file system gives no locks: put the base directory on another with --base-dir, or start the lock service of its server"},
		{syscall.EIO, fault.Failed, "its disk fails: see why (dmesg) before anything there is changed"},
		{syscall.ENOTDIR, fault.Failed, "a file stands where a folder belongs, there or above it: move it away"},
		{syscall.EISDIR, fault.Failed, "a folder stands where a file belongs: move it away"},
		{errNotRegular, fault.CorruptFile, "put a real file in its place"},
		{errNowhere, fault.InvalidArgument, "make the folder that the link names, or name another one"},
		{errLink, fault.PermissionDenied, "put a real file or folder in its place"},
	}
}

// Unreadable tells whether a file could not be read for a reason that says nothing about what
// is in it.
func Unreadable(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EIO)
}

// bare takes off the wrappings that name a path relative to the root.
func bare(err error) error {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		case interface{ Unwrap() []error }: // errors.Join of one
			if len(e.Unwrap()) != 1 {
				return err
			}
			err = e.Unwrap()[0]
		default:
			return err
		}
	}
}
