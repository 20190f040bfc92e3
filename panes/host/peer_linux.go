package host

import (
	"net"

	"golang.org/x/sys/unix"
)

// PeerUID returns the user at the other end, see SO_PEERCRED in unix(7).
func PeerUID(conn *net.UnixConn) (int, error) {
	uid := -1
	raw, err := conn.SyscallConn()
	if err != nil {
		return uid, err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			inner = err
			return
		}
		uid = int(cred.Uid)
	})
	if err != nil {
		return uid, err
	}
	return uid, inner
}
