package serve

import (
	"bufio"
	"net"
	"testing"
)

// TestXF06_ALineThatIsTooLong: what a line has too much is passed over, and the next one is
// read as it is.
func TestXF06_ALineThatIsTooLong(t *testing.T) {
	mine, theirs := net.Pipe()
	defer mine.Close()
	go func() {
		for _, part := range []string{"0123", "456789ab", "cdef", "\nnext\n"} {
			_, _ = theirs.Write([]byte(part))
		}
		theirs.Close()
	}()
	s := bufio.NewScanner(&limitedConn{Conn: mine, max: 10})
	for _, want := range []string{"0123456789", "next"} {
		if !s.Scan() || s.Text() != want {
			t.Errorf("%q, not %q", s.Text(), want)
		}
	}
	if s.Scan() || s.Err() != nil {
		t.Errorf("more: %q, %v", s.Text(), s.Err())
	}
}
