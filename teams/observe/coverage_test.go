package observe

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// At least four fifths of the statements are run by the quick tests alone.
func TestO20_Coverage(t *testing.T) {
	const inner = "OBSERVE_TEST_COVERAGE"
	if os.Getenv(inner) != "" || testing.Short() || testing.CoverMode() != "" {
		t.Skip("measured by the outer run")
	}
	cmd := exec.Command("go", "test", "-short", "-cover", ".")
	cmd.Env = append(os.Environ(), inner+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`coverage: ([0-9.]+)% of statements`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no figure in %s", out)
	}
	if got, err := strconv.ParseFloat(string(m[1]), 64); err != nil || got < 80 {
		t.Errorf("%s%% of the statements are covered, want 80%%", m[1])
	}
}
