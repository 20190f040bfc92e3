package dial

import (
	"errors"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestXS34_XS44_WhyTheDaemonDidNotComeUp: its last word keeps its code, its file and its
// hint.
func TestXS34_XS44_WhyTheDaemonDidNotComeUp(t *testing.T) {
	for _, c := range []struct {
		last string
		code fault.Code
		text string
		hint string
	}{
		{`{"error":{"code":"CORRUPT_FILE","message":"the database /x.db is damaged","hint":"move it away"}}`, fault.CorruptFile, "the daemon did not come up: the database /x.db is damaged", "move it away"},
		{`{"error":{"code":"DISK_FULL","message":"the database /x.db"}}`, fault.DiskFull, "the daemon did not come up: the database /x.db", ""},
		{"panic: x", fault.Failed, "the daemon did not come up: exit status 2\nno daemon runs: panic: x", "leadlight daemon run shows more"},
		{"", fault.Failed, "the daemon did not come up: exit status 2\nno daemon runs", "leadlight daemon run shows more"},
	} {
		err := fault.Of(failure(errors.New("exit status 2"), c.last))
		if err.Code != c.code || err.Message != c.text || err.Hint != c.hint || !errors.Is(err, ErrNone) {
			t.Errorf("%q: %+v", c.last, err)
		}
	}
}
