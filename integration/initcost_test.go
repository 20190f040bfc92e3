package integration_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
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
	t.Parallel()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]float64{}
	for runs := 0; runs < 10 || runs < 100 && len(tooDear(least)) > 0; runs++ {
		for name, ms := range initCosts(t, bin) {
			least[name] = min(ms, orInf(least, name))
		}
	}
	for _, dear := range tooDear(least) {
		t.Error(dear)
	}
	total := 0.0
	for _, ms := range least {
		total += ms
	}
	t.Logf("%d packages with initialisation, %.2f ms together", len(least), total)
}

// tooDear says which packages cost more than they may.
func tooDear(costs map[string]float64) (found []string) {
	for name, ms := range costs {
		limit, dear := initLimit, dearPackages()[name]
		if dear.why != "" {
			limit = dear.limit
		}
		if ms > limit {
			found = append(found, fmt.Sprintf("%s costs %.2f ms at every start, the limit is %.2f", name, ms, limit))
		}
	}
	return found
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
