package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// farTeammates is how many BenchmarkMachinesPs lists.
const farTeammates = 200

// BenchmarkMachinesPs measures `ps` of 200 teammates, which run on three machines that share
// an engine: two of them are asked how theirs are doing. It has no floor.
func BenchmarkMachinesPs(b *testing.B) {
	engine := natstest.For(b)
	names := []string{"desk", "hub", "shed"}
	var rigs []*rig
	for _, name := range names {
		r := newRig(b, "")
		r.env = append(r.env, "LEADLIGHT_BACKEND=headless", "LEADLIGHT_TEAM=many")
		r.must("machine", "join", engine.URL, "--name", name)
		b.Cleanup(func() { r.run("machine", "leave", "--force") })
		rigs = append(rigs, r)
	}
	var members []any
	for i := range farTeammates {
		at := i % len(rigs)
		members = append(members, map[string]any{"name": fmt.Sprintf("m%03d", i), "machine": names[at], "cwd": rigs[at].path("work"), "command": []string{"sleep", "1000"}})
	}
	file, err := json.Marshal(map[string]any{"team": "many", "engine": engine.URL, "members": members, "lifecycle": map[string]any{"maxTeammates": farTeammates}})
	ensure(b, err)
	desk := rigs[0]
	ensure(b, os.WriteFile(desk.path("work", "leadlight.yaml"), file, 0o600))
	b.Cleanup(func() { desk.run("down", "many", "--force", "--timeout", "1s") })
	began := time.Now()
	desk.must("up", "--detach")
	up := time.Since(began)
	seen := map[string]int{}
	for _, m := range into[[]api.Member](desk, "ps") {
		if m.State == api.StateActive || m.State == api.StateIdle {
			seen[m.Machine]++
		}
	}
	for _, name := range names {
		if seen[name] < farTeammates/len(names) {
			b.Fatalf("seen running: %v", seen)
		}
	}
	var took []time.Duration
	for b.Loop() {
		for range 15 { // just after up the daemons still look at who is new
			took = append(took, clocked(func(int) { desk.must("ps") })(0))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(up.Seconds(), "up-s")
	b.ReportMetric(median(took).Seconds()*1e3, "ps-ms")
}
