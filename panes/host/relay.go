package host

import (
	"bufio"
	"context"
	"io"
	"net"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Relay lets a viewer attach that is not on this machine: all that its Attach says comes over
// viewer, and is passed on to the host, whose answer and frames go back. Nothing but attach
// is passed on, and one that is readOnly types nothing, whatever it says. It returns when the
// viewer leaves, the host hangs up, or ctx ends.
func (c *Client) Relay(ctx context.Context, viewer io.ReadWriter, readOnly bool) error {
	typed := bufio.NewReader(viewer)
	q, err := readRequest(typed)
	if err != nil {
		return err
	}
	var p attachParams
	if err := decodeParams(q.Params, &p); err != nil {
		return err
	}
	if q.Op != opAttach {
		return fault.New(fault.Unsupported, "%.40q cannot be asked of a host on another machine", q.Op)
	}
	p.ReadOnly = p.ReadOnly || readOnly
	conn, shown, end, err := c.begin(ctx, opAttach, p)
	if err != nil {
		return err
	}
	defer end()
	go func() {
		_, _ = io.Copy(conn, typed) // whoever is gone types nothing more
		if half, ok := conn.(*net.UnixConn); ok {
			_ = half.CloseWrite() // the host hangs up
		}
	}()
	_, _ = io.Copy(viewer, shown) // the end of which is the end, whoever hung up
	return ctx.Err()
}
