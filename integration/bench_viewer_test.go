package integration_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/leadlight-dev/leadlight/panes/host"
)

// viewed is one pane with a viewer in front of it: the terminal is the test's, in it
// runs a host, or the floor: the least program that passes bytes both ways between two
// terminals.
type viewed struct {
	tty    *os.File
	socket string // of the host
	cmd    *exec.Cmd
}

// view starts a program in a host or in the floor's proxy.
func view(b *testing.B, hosted bool, argv ...string) *viewed {
	b.Helper()
	exe, err := os.Executable()
	ensure(b, err)
	v := &viewed{}
	if hosted {
		dir, err := os.MkdirTemp("/tmp", "llv")
		ensure(b, err)
		b.Cleanup(func() { _ = os.RemoveAll(dir) })
		v.socket = filepath.Join(dir, "s")
		v.cmd = exec.Command(exe, append([]string{"stub", "hosted", v.socket}, argv...)...)
	} else {
		v.cmd = exec.Command(exe, append([]string{"stub", "proxy"}, argv...)...)
	}
	v.tty, err = pty.StartWithSize(v.cmd, &pty.Winsize{Rows: 50, Cols: 160})
	ensure(b, err)
	b.Cleanup(v.end)
	return v
}

func (v *viewed) end() {
	_ = v.tty.Close()
	_ = v.cmd.Wait()
}

// until reads up to a mark and returns how many bytes came.
func (v *viewed) until(mark string) (int, error) {
	buf, last, total := make([]byte, 64<<10), []byte{}, 0
	for {
		n, err := v.tty.Read(buf)
		total += n
		last = append(last, buf[:n]...)
		if bytes.Contains(last, []byte(mark)) {
			return total, nil
		}
		if err != nil {
			return total, fmt.Errorf("%q has not come: %w", mark, err)
		}
		last = append(last[:0], last[max(0, len(last)-len(mark)):]...)
	}
}

// What a screenful of coloured output is cut from, and its end.
const (
	blastLine = "\x1b[32mok\x1b[0m   some output of a program, with 研究 in it\r\n"
	blastEnd  = "=the-end="
)

// stubBlast writes that many megabytes as fast as they are taken, when a key comes.
func stubBlast(args []string) {
	mb, _ := strconv.Atoi(args[0])
	fmt.Print("=ready=")
	_, _ = os.Stdin.Read(make([]byte, 1))
	piece := []byte(strings.Repeat(blastLine, 64<<10/len(blastLine)))
	for n := 0; n < mb<<20; n += len(piece) {
		_, _ = os.Stdout.Write(piece)
	}
	fmt.Print(blastEnd)
	stay()
}

// stubProxy is the floor: a program on a terminal of its own, and two copies.
func stubProxy(args []string) {
	if _, err := term.MakeRaw(0); err != nil {
		os.Exit(1)
	}
	inner, err := pty.StartWithSize(exec.Command(args[0], args[1:]...), &pty.Winsize{Rows: 50, Cols: 160})
	if err != nil {
		os.Exit(1)
	}
	go func() { _, _ = io.Copy(inner, os.Stdin); os.Exit(0) }()
	_, _ = io.Copy(os.Stdout, inner)
}

// stubHosted is the product: our host, with its screen model.
func stubHosted(args []string) {
	h, err := host.New(host.Options{ID: "bench-" + strconv.Itoa(os.Getpid()), Socket: args[0], Terminal: os.Stdin, Screen: true})
	if err != nil {
		os.Exit(1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-h.Closing(); cancel() }()
	_, _ = h.Run(ctx, host.Command{Argv: args[1:], Dir: "/", Env: os.Environ()})
	_ = h.Close()
}

// BenchmarkViewers: eight panes write as fast as they can, and each has a viewer.
func BenchmarkViewers(b *testing.B) {
	const panes, megabytes = 8, 16
	exe, err := os.Executable()
	ensure(b, err)
	var floors, products []time.Duration
	behind := time.Duration(0)
	round := func(hosted bool) time.Duration {
		all := make([]*viewed, panes)
		for i := range all {
			all[i] = view(b, hosted, exe, "stub", "blast", strconv.Itoa(megabytes))
			_, err := all[i].until("=ready=")
			ensure(b, err)
		}
		start, took := time.Now(), time.Duration(0)
		var wg sync.WaitGroup
		var mu sync.Mutex
		for _, v := range all {
			wg.Go(func() {
				_, _ = v.tty.WriteString("\r")
				if _, err := v.until(blastEnd); err != nil {
					b.Error(err)
				}
				seen := time.Since(start)
				late := v.behind(b)
				mu.Lock()
				took, behind = max(took, seen), max(behind, late)
				mu.Unlock()
			})
		}
		wg.Wait()
		for _, v := range all {
			v.end()
		}
		return took
	}
	for b.Loop() {
		for range 3 {
			floors, products = append(floors, round(false)), append(products, round(true))
		}
	}
	f, p := median(floors), median(products)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(panes*megabytes/f.Seconds(), "floor-MB/s")
	b.ReportMetric(panes*megabytes/p.Seconds(), "product-MB/s")
	b.ReportMetric(f.Seconds()/p.Seconds(), "of-floor-throughput")
	b.ReportMetric(behind.Seconds(), "behind-s")
}

// lookEvery is the pause between two looks at a screen: looking without one would take
// the processor from the panes that are not at their end yet.
const lookEvery = 20 * time.Millisecond

// behind is how long after the viewer the screen model shows the end.
func (v *viewed) behind(b *testing.B) time.Duration {
	if v.socket == "" {
		return 0
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
	defer cancel()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for ; ; <-again.C {
		c, err := host.Dial(v.socket).Capture(ctx, 0, false)
		if err != nil {
			b.Error(err)
			return time.Since(start)
		}
		if c.Screen && strings.Contains(c.Text, blastEnd) {
			return time.Since(start)
		}
	}
}

// BenchmarkKeyEcho: from a key to its echo, one after the other.
func BenchmarkKeyEcho(b *testing.B) {
	program := []string{"sh", "-c", "echo =ready=; exec cat"}
	floor, product := view(b, false, program...), view(b, true, program...)
	echo := func(v *viewed) func(int) time.Duration {
		return clocked(func(i int) {
			key := string(rune('a' + i%26))
			_, err := v.tty.WriteString(key)
			ensure(b, err)
			_, err = v.until(key)
			ensure(b, err)
		})
	}
	for _, v := range []*viewed{floor, product} { // earlier the test's own terminal would echo
		_, err := v.until("=ready=")
		ensure(b, err)
	}
	duel(b, 200, echo(floor), echo(product))
}
