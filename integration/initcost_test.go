package integration_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// initLimit is what the initialisation of one package may cost, in milliseconds:
// every verb pays for it, every time.
const initLimit = 0.5

// dearPackages may cost more, up to the given limit.
func dearPackages() map[string]struct {
	limit float64
	why   string
} {
	return map[string]struct {
		limit float64
		why   string
	}{}
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// TestHouseInitCosts asks the runtime what each package costs before main. The
// least of several runs counts: a busy machine only ever adds.
func TestHouseInitCosts(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "leadlight")
	build := exec.Command("go", "build", "-trimpath", "-o", bin, "./cmd/leadlight")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	least := map[string]float64{}
	for range 10 {
		for name, ms := range initCosts(t, bin) {
			least[name] = min(ms, orInf(least, name))
		}
	}
	total := 0.0
	for name, ms := range least {
		total += ms
		limit, dear := initLimit, dearPackages()[name]
		if dear.why != "" {
			limit = dear.limit
		}
		if ms > limit {
			t.Errorf("%s costs %.2f ms at every start, the limit is %.2f", name, ms, limit)
		}
	}
	t.Logf("%d packages with initialisation, %.2f ms together", len(least), total)
}

func orInf(m map[string]float64, key string) float64 {
	if v, ok := m[key]; ok {
		return v
	}
	return math.Inf(1)
}

func initCosts(t *testing.T, bin string) map[string]float64 {
	t.Helper()
	cmd := exec.Command(bin, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("leadlight version: %v\n%s", err, stderr.String())
	}
	costs := map[string]float64{}
	for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
		ms, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatalf("%q: %v", m[0], err)
		}
		costs[m[1]] = ms
	}
	if len(costs) == 0 {
		t.Fatal("the runtime told no initialisation costs")
	}
	return costs
}
