package tmux_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/tmux"
	"github.com/leadlight-dev/leadlight/backend/tmux/tmuxtest"
)

// BenchmarkOpen opens panes, marked and labelled, and compares with tmux alone opening as
// many with one command line. ratio is product by floor, measured in turn.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 10, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := tmuxtest.Server(b)
			lead := s.NewSession("200x50")
			tm := newBackend(b, tmux.Options{Socket: s.Socket})
			var product, floor time.Duration
			for b.Loop() {
				start := time.Now()
				s.Run(rawLine(n, lead)...)
				floor += time.Since(start)
				s.Run("kill-window", "-a", "-t", lead)

				start = time.Now()
				open(b, tm, windows(n, lead)...)
				product += time.Since(start)
				s.Run("kill-window", "-a", "-t", lead)
			}
			b.ReportMetric(floor.Seconds()*1e3/float64(b.N), "floor-ms")
			b.ReportMetric(product.Seconds()*1e3/float64(b.N), "open-ms")
			b.ReportMetric(product.Seconds()/floor.Seconds(), "ratio")
		})
	}
}

func rawLine(n int, lead string) []string {
	var args []string
	for range n {
		args = append(args, "new-window", "-d", "-t", "$0:", "-n", "w", "-c", "/", "-P", "-F", "#{pane_id}", "--", "sleep", "1000", ";")
	}
	return args[:len(args)-1]
}

func windows(n int, lead string) []backend.Spec {
	var specs []backend.Spec
	for i := range n {
		sp := spec(fmt.Sprintf("b%02d", i), lead)
		sp.Place = backend.Window
		specs = append(specs, sp)
	}
	return specs
}

// BenchmarkColumn is the usual case: a column of ten beside the lead.
func BenchmarkColumn(b *testing.B) {
	s := tmuxtest.Server(b)
	lead := s.NewSession("200x60")
	window := s.Format(lead, "#{window_id}")
	tm := newBackend(b, tmux.Options{Socket: s.Socket})
	var specs []backend.Spec
	var raw []string
	for i := range 10 {
		sp, target, side, size := spec(fmt.Sprint(i), lead), lead, "-h", "119"
		if i > 0 {
			sp.Chain, sp.Below = 1, true
			target, side, size = window+".{bottom-right}", "-v", fmt.Sprint(100*(10-i)/(11-i), "%")
			raw = append(raw, ";")
		}
		specs = append(specs, sp)
		raw = append(raw, "split-window", "-d", side, "-l", size, "-t", target, "-c", "/", "-P", "-F", "#{pane_id}", "--", "sleep", "1000")
	}
	var product, floor time.Duration
	for b.Loop() {
		start := time.Now()
		s.Run(raw...)
		floor += time.Since(start)
		s.Run("kill-pane", "-a", "-t", lead)
		start = time.Now()
		open(b, tm, specs...)
		product += time.Since(start)
		s.Run("kill-pane", "-a", "-t", lead)
	}
	b.ReportMetric(floor.Seconds()*1e3/float64(b.N), "floor-ms")
	b.ReportMetric(product.Seconds()*1e3/float64(b.N), "open-ms")
	b.ReportMetric(product.Seconds()/floor.Seconds(), "ratio")
}

func BenchmarkList50(b *testing.B) {
	s := tmuxtest.Server(b)
	tm := newBackend(b, tmux.Options{Socket: s.Socket})
	open(b, tm, windows(50, s.NewSession("200x50"))...)
	for b.Loop() {
		if list, err := tm.List(b.Context()); err != nil || len(list) != 50 {
			b.Fatal(len(list), err)
		}
	}
}
