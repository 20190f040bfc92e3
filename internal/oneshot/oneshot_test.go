package oneshot_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/oneshot"
)

// What a program leaves running may hold its output open: it has answered all the same.
func TestOutputIsHeldOpen(t *testing.T) {
	out, err := oneshot.Output(exec.CommandContext(t.Context(), "sh", "-c", "echo said; sleep 3 &"))
	if err != nil || string(out) != "said\n" {
		t.Errorf("%q, %v", out, err)
	}
	var said strings.Builder
	c := exec.CommandContext(t.Context(), "sh", "-c", "echo said; sleep 3 & exit 4")
	c.Stdout = &said
	exit := (*exec.ExitError)(nil)
	if err := oneshot.Run(c); !errors.As(err, &exit) || exit.ExitCode() != 4 || said.String() != "said\n" {
		t.Errorf("%q, %v", said.String(), err)
	}
}
