package integration_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What the initialisation of packages may cost: every verb pays for it, every time, and so
// does each host. Bytes are the same on every machine; a busy one only adds to the time.
const (
	initBytes = 14 << 10 // one package from outside; a small expression that is compiled takes as much
	ownBytes  = 2 << 10  // one package of ours
	allBytes  = 84 << 10
	initTime  = 0.5 // milliseconds, one package
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
	var total initCost
	for name, c := range least {
		total.ms, total.bytes = total.ms+c.ms, total.bytes+c.bytes
		limit := initBytes
		if strings.HasPrefix(name, module+"/") {
			limit = ownBytes
		}
		if c.bytes > limit {
			t.Errorf("%s makes %d bytes at every start, the limit is %d", name, c.bytes, limit)
		}
	}
	if total.bytes > allBytes {
		t.Errorf("the packages make %d bytes at every start, the limit is %d", total.bytes, allBytes)
	}
	t.Logf("%d packages with initialisation, %.2f ms and %d bytes together", len(least), total.ms, total.bytes)
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
