package integration_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What the initialisation of one package may cost: every verb pays for it, every time, and so
// does each host. Bytes are the same on every machine; a busy one only adds to the time.
const (
	initBytes = 16 << 10 // a small expression that is compiled takes as much
	initTime  = 0.5      // milliseconds
)

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes`)

// TestHouseInitCosts asks the runtime what each package costs before main. The least of
// several runs counts.
func TestHouseInitCosts(t *testing.T) {
	t.Parallel()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]initCost{}
	slow := func() (name string) {
		for name, c := range least {
			if c.ms > initTime {
				return name
			}
		}
		return ""
	}
	for runs := 0; runs < 10 || runs < 100 && slow() != ""; runs++ {
		for name, c := range initCosts(t, bin) {
			if was, known := least[name]; known {
				c.ms, c.bytes = min(c.ms, was.ms), min(c.bytes, was.bytes)
			}
			least[name] = c
		}
	}
	if name := slow(); name != "" {
		t.Errorf("%s costs %.2f ms at every start, the limit is %.2f", name, least[name].ms, initTime)
	}
	total := 0.0
	for name, c := range least {
		if total += c.ms; c.bytes > initBytes {
			t.Errorf("%s makes %d bytes at every start, the limit is %d", name, c.bytes, initBytes)
		}
	}
	t.Logf("%d packages with initialisation, %.2f ms together", len(least), total)
}

// initCost is what the initialisation of a package takes.
type initCost struct {
	ms    float64
	bytes int
}

func initCosts(t *testing.T, bin string) map[string]initCost {
	t.Helper()
	cmd := exec.Command(bin, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("leadlight version: %v\n%s", err, stderr.String())
	}
	costs := map[string]initCost{}
	for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
		ms, err := strconv.ParseFloat(m[2], 64)
		bytes, numErr := strconv.Atoi(m[3])
		if err != nil || numErr != nil {
			t.Fatalf("%q: %v, %v", m[0], err, numErr)
		}
		costs[m[1]] = initCost{ms, bytes}
	}
	if len(costs) == 0 {
		t.Fatal("the runtime told no initialisation costs")
	}
	return costs
}
