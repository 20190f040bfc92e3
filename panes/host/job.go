package host

import (
	"bytes"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// startJob gives the program pipes and a session without a terminal, so that the
// pane's keys do not reach it.
func (h *Host) startJob(p *program, c Command) error {
	var ends []*os.File // of its input, its output and its errors, each to read from and to write to
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			f.Close()
		}
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ends...)
			return fault.New(fault.SpawnFailed, "open a pipe: %w", err)
		}
		ends = append(ends, r, w)
	}
	in, stdout, stderr, ours := ends[0], ends[3], ends[5], []*os.File{ends[1], ends[2], ends[4]}
	defer closeAll(stdout, stderr)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, stdout, stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.launch(c); err != nil {
		closeAll(append(ours, in)...)
		return err
	}
	p.sources, p.input, p.fed = ours, in, make(chan bool, 1)
	if c.Talk != nil {
		if err := p.takeKeys(c.Talk.Keys); err != nil {
			h.opt.Log.Warn("nothing can be typed into it", "error", err)
		}
	}
	h.setProgram(p)
	h.pumpJob(p, c, ours)
	return nil
}

// takeKeys passes what is typed on to whoever speaks with a job.
func (p *program) takeKeys(to io.Writer) error {
	keys, typed, err := os.Pipe()
	if err != nil {
		return err
	}
	p.queue = newQueue(typed)
	p.sources = append(p.sources, typed)
	go func() {
		_, _ = io.Copy(to, keys) // until drain closes the other end
		keys.Close()
	}()
	return nil
}

// pumpJob feeds a job's input and passes on both of its outputs.
func (h *Host) pumpJob(p *program, c Command, files []*os.File) {
	feed, stdout, stderr := files[0], files[1], files[2]
	input, pump := io.Reader(bytes.NewReader(c.Stdin)), func(from *os.File, to io.Writer) { h.out.pump(from, to, true) }
	if c.Talk != nil {
		input, pump = c.Talk.Input, func(from *os.File, to io.Writer) { _, _ = io.Copy(to, from) }
	}
	go func() {
		_, err := io.Copy(feed, input) // a job that does not read its input gets a closed pipe in the end
		p.fed <- err == nil
		feed.Close()
	}()
	var both sync.WaitGroup
	both.Go(func() { pump(stdout, c.Stdout) })
	both.Go(func() { pump(stderr, c.Stderr) })
	go func() {
		both.Wait()
		close(p.pumped)
	}()
}

// tookInput tells whether a job that has ended has read all of its input.
func (p *program) tookInput() bool {
	if p.input == nil {
		return false
	}
	left := hasData(p.input)
	p.input.Close() // who still writes gets to know it
	if p.queue != nil {
		return !left // it was spoken to: who speaks ends the rest
	}
	select {
	case all := <-p.fed:
		return all && !left
	case <-time.After(abortLimit): // a spared process holds it open, and does not read it
		return false
	}
}

// hasData tells whether something can be read from a pipe now.
func hasData(f *os.File) bool {
	err := control(f, func(fd int) error {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 0); err != nil || n == 0 {
			return io.EOF
		}
		if n, err := unix.Read(fd, make([]byte, 1)); err != nil || n == 0 { // the end can be "read", too
			return io.EOF
		}
		return nil
	})
	return err == nil
}
