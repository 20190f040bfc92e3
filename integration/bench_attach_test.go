package integration_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/nats-io/nats.go"
)

// BenchmarkKeyEchoThere: from a key to its echo in front of an attached teammate, here and on
// another machine, and in the same run a bare request and its reply over the same engine. The
// limit is twice the time here and one of those.
func BenchmarkKeyEchoThere(b *testing.B) {
	engine, here, there := twoMachines(b)
	joined(engine, here, there)
	program := []string{"sh", "-c", "stty -icanon; echo =ready=; exec cat >/dev/null"} // its terminal echoes
	here.must(append([]string{"spawn", "near", "--"}, program...)...)
	here.must(append([]string{"spawn", "far", "--machine", "hub", "--cwd", there.path("work"), "--"}, program...)...)
	near, far, bare := attachedTo(b, here, "near"), attachedTo(b, here, "far"), roundTrip(b, engine.URL)
	var local, elsewhere, trips []time.Duration
	for b.Loop() {
		for i := range 200 {
			local, elsewhere, trips = append(local, near(i)), append(elsewhere, far(i)), append(trips, bare(i))
		}
	}
	l, e, r := median(local), median(elsewhere), median(trips)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(l.Seconds()*1e3, "here-ms")
	b.ReportMetric(e.Seconds()*1e3, "there-ms")
	b.ReportMetric(r.Seconds()*1e3, "roundtrip-ms")
	b.ReportMetric(e.Seconds()/(2*l+r).Seconds(), "of-limit")
}

// attachedTo attaches to a teammate, and returns how long a key takes until it is seen.
func attachedTo(b *testing.B, r *rig, name string) func(int) time.Duration {
	b.Helper()
	r.eventually("it is ready", func() bool { return strings.Contains(r.must("capture", name), "=ready=") })
	v := &viewed{cmd: exec.Command(r.bin, "attach", name)}
	v.cmd.Dir, v.cmd.Env = r.path("work"), append(append([]string{}, r.env...), "TERM=xterm-256color")
	var err error
	v.tty, err = pty.StartWithSize(v.cmd, &pty.Winsize{Rows: 24, Cols: 160})
	ensure(b, err)
	b.Cleanup(v.end)
	press := clocked(func(i int) {
		key := string(rune('a' + i%26))
		_, err := v.tty.WriteString(key)
		ensure(b, err)
		_, err = v.until(key)
		ensure(b, err)
	})
	_, err = v.until("and then d leaves")
	ensure(b, err)
	_, err = v.tty.WriteString("!") // the way out goes from the screen, which is drawn anew before it
	ensure(b, err)
	_, err = v.until("!")
	ensure(b, err)
	return press
}

// roundTrip returns how long a bare request takes until its reply.
func roundTrip(b *testing.B, url string) func(int) time.Duration {
	b.Helper()
	var ends [2]*nats.Conn
	for i := range ends {
		var err error
		ends[i], err = nats.Connect(url)
		ensure(b, err)
		b.Cleanup(ends[i].Close)
	}
	_, err := ends[1].Subscribe("bare", func(m *nats.Msg) { _ = m.Respond(m.Data) })
	ensure(b, err)
	ensure(b, ends[1].Flush())
	return clocked(func(int) {
		_, err := ends[0].Request("bare", []byte("k"), 10*time.Second)
		ensure(b, err)
	})
}
