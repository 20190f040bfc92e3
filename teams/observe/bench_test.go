package observe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

var mib = flag.Int("mib", 64, "size of the benchmark's stream in MiB")

// typeFirst writes a line's members in the order of stream-json. As they are they
// stand as in a transcript, where the type comes late.
func typeFirst(line string) string {
	head, last, ok := strings.Cut(line, `,"type":"assistant"}`)
	kind := "assistant"
	if !ok {
		head, last, ok = strings.Cut(line, `,"type":"user"}`)
		kind = "user"
	}
	if !ok || last != "" {
		return line
	}
	return `{"type":"` + kind + `",` + head[1:] + "}"
}

// writeStream writes a stream of about that many bytes, one line in a hundred a
// team's, in one session that goes on and on.
func writeStream(w io.Writer, size int, order func(string) string) error {
	out := bufio.NewWriterSize(w, 1<<20)
	prose := strings.Repeat("The parser reads a line, Then it looks for \\\"names\\\" in it.\\n", 20)
	others := []string{
		said(prose),
		use("toolu_0000000000000001", "Bash", object{"command": "go test ./... | tail -40", "description": "run the tests"}),
		result("toolu_0000000000000001", strings.Repeat("ok  \texample.org/a/package\t0.012s\n", 60), object{"stdout": strings.Repeat("ok\n", 300), "interrupted": false}),
		use("toolu_0000000000000002", "Read", object{"file_path": "/srv/demo/main.go"}),
		result("toolu_0000000000000002", strings.Repeat("     1→func main() { fmt.Println(\"Some text\") }\n", 80), nil),
		`{"type":"system","subtype":"task_progress","task_id":"a01","usage":{"total_tokens":100,"tool_uses":1,"duration_ms":232},"session_id":"S1"}`,
	}
	written, n, teamLines := 0, 0, join(create("toolu_c", "a"), spawn("toolu_s", "a", "ann"))
	for written < size {
		line := others[n%len(others)]
		if n%100 == 0 {
			if len(teamLines) == 0 {
				teamLines = moreTeam(n)
			}
			line, teamLines = teamLines[0], teamLines[1:]
		}
		n++
		k, err := out.WriteString(order(line) + "\n")
		if err != nil {
			return err
		}
		written += k
	}
	return out.Flush()
}

// moreTeam goes round: a task is made, started, completed, deleted.
func moreTeam(n int) []string {
	id := fmt.Sprintf("toolu_%016d", n)
	number := fmt.Sprint(n)
	return join(task(id+"a", number), update(id+"b", number, object{"status": inProgress, "owner": "ann"}),
		update(id+"c", number, object{"status": completed}), update(id+"d", number, object{"status": deleted}))
}

// BenchmarkThroughput compares with what a program would do that decodes every
// line: x-any is the ratio to encoding/json into map[string]any, x-struct to the
// same into a struct of a few fields that leaves the rest undecoded.
func BenchmarkThroughput(b *testing.B) {
	b.Run("stream-json", func(b *testing.B) { throughput(b, typeFirst) })
	b.Run("transcript", func(b *testing.B) { throughput(b, func(line string) string { return line }) })
}

func throughput(b *testing.B, order func(string) string) {
	var buf bytes.Buffer
	buf.Grow(*mib<<20 + 1<<16)
	if err := writeStream(&buf, *mib<<20, order); err != nil {
		b.Fatal(err)
	}
	stream := buf.Bytes()
	rate := func(f func()) float64 {
		begin := time.Now()
		f()
		return float64(len(stream)) / time.Since(begin).Seconds() / (1 << 20)
	}
	floor := func(target func() any) float64 {
		return rate(func() {
			for line := range bytes.Lines(stream) {
				if err := json.Unmarshal(line, target()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	anyRate := floor(func() any { return new(map[string]any) })
	structRate := floor(func() any { return new(wireLine) })
	b.SetBytes(int64(len(stream)))
	var ours float64
	b.ResetTimer()
	for b.Loop() {
		var count counter
		ours = max(ours, rate(func() {
			if err := Run(context.Background(), Options{In: bytes.NewReader(stream), Out: &count}); err != nil {
				b.Fatal(err)
			}
		}))
		if count.n == 0 {
			b.Fatal("no events")
		}
	}
	b.ReportMetric(ours, "MiB/s")
	b.ReportMetric(ours/anyRate, "x-any")
	b.ReportMetric(ours/structRate, "x-struct")
}

// BenchmarkLatency measures from a line written into a pipe to its event read out
// of another.
func BenchmarkLatency(b *testing.B) {
	in, w := io.Pipe()
	r, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Run(context.Background(), Options{In: in, Out: out})
		_ = out.Close()
		ended <- err
	}()
	events := bufio.NewReader(r)
	pass := func(lines ...string) {
		for _, l := range lines {
			if _, err := io.WriteString(w, l+"\n"); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := events.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	pass(create("c", "a")...)
	pass(task("t", "1")...)
	var times []time.Duration
	for n := 0; b.Loop(); n++ {
		lines := update(fmt.Sprintf("tu_%d", n), "1", object{"subject": fmt.Sprint(n)})
		if _, err := io.WriteString(w, lines[0]+"\n"); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		pass(lines[1])
		times = append(times, time.Since(begin))
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-µs")
}
