package host

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// AttachOptions connect a viewer: either a Terminal, which is put into raw mode
// and followed in size, or In and Out.
type AttachOptions struct {
	Terminal *os.File
	In       io.Reader // nil = nothing is typed; its end detaches
	Out      io.Writer
	ReadOnly bool // nothing is typed; the detach keys work

	// Banner stands in the last line for a moment, or until something is typed. It holds no
	// control characters, and fits into the line.
	Banner string

	// Rows and Cols are the size that is wanted without a Terminal; 0: as it is. A host
	// without a terminal obeys it, if nobody else looks.
	Rows, Cols int
}

// The keys that detach: ctrl-\ and then d. A ctrl-\ for the program itself is
// typed twice.
const (
	detachPrefix = 0x1c
	detachKey    = 'd'
)

// Attach shows the pane and types into it until the viewer detaches, the host
// closes, or ctx ends (its error). A viewer that falls too far behind is cut:
// LIMIT_REACHED, or, if it takes nothing at all, ErrHungUp.
func (c *Client) Attach(ctx context.Context, o AttachOptions) (detached bool, _ error) {
	v := viewing{in: o.In, out: o.Out, readOnly: o.ReadOnly, modes: newModes(), banner: banner{text: o.Banner}}
	params := attachParams{ReadOnly: o.ReadOnly, Rows: o.Rows, Cols: o.Cols}
	if o.Terminal != nil {
		t, err := openTerminal(o.Terminal)
		if err != nil {
			return false, err
		}
		defer t.close()
		v.terminal, v.in, v.out = t, t.file, t.file
		params.Rows, params.Cols, _ = t.size()
	}
	conn, r, hangUp, err := c.begin(ctx, opAttach, params)
	if err != nil {
		return false, err
	}
	defer hangUp()
	v.conn = conn
	if err := c.answer(ctx, opAttach, r, nil); err != nil {
		return false, err
	}
	err = v.show(ctx, r)
	if v.detached.Load() {
		return true, nil
	}
	if err == nil {
		return false, nil
	}
	return false, fmt.Errorf("%s: %w", opAttach, cmp.Or(ctx.Err(), err))
}

// viewing is one Attach.
type viewing struct {
	conn     net.Conn
	terminal *terminal // nil with In and Out
	in       io.Reader
	out      io.Writer
	readOnly bool
	modes    *modes // as the output has set them, to be taken back
	banner   banner

	send     sync.Mutex
	detached atomic.Bool
}

// show copies both ways until one of them ends.
func (v *viewing) show(ctx context.Context, r *bufio.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if v.terminal != nil {
		go v.terminal.followSize(ctx, v.resized)
	}
	if v.in != nil {
		go v.type_()
	}
	defer time.AfterFunc(bannerTime, v.dropBanner).Stop()
	defer func() { v.out.Write(append(v.modes.undoing(), "\x1b[0m"...)) }()
	for {
		kind, payload, err := readFrame(r)
		if hungUp(err) {
			return fmt.Errorf("%w: %w", ErrHungUp, err)
		} else if err != nil {
			return err
		}
		switch kind {
		case frameOutput:
			if err := v.output(payload); err != nil {
				return err
			}
		case frameCut:
			return fault.New(fault.LimitReached, "%s", payload).WithHint("attach again")
		case frameEnd:
			return nil
		}
	}
}

func (v *viewing) frame(kind byte, payload []byte) error {
	v.send.Lock()
	defer v.send.Unlock()
	return writeFrame(v.conn, kind, payload)
}

func (v *viewing) resized(rows, cols int) {
	size := binary.BigEndian.AppendUint16(nil, uint16(rows))
	v.frame(frameResize, binary.BigEndian.AppendUint16(size, uint16(cols)))
}

// type_ sends what is typed, until the detach keys or the end of input.
func (v *viewing) type_() {
	keys := detacher{}
	buf := make([]byte, 4096)
	for {
		n, err := v.in.Read(buf)
		through, detach := keys.read(buf[:n])
		if n > 0 {
			v.dropBanner()
		}
		if len(through) > 0 && !v.readOnly {
			if v.frame(frameInput, through) != nil {
				return
			}
		}
		if detach || errors.Is(err, io.EOF) {
			v.detached.Store(true)
			v.conn.Close()
			return
		}
		if err != nil {
			return
		}
	}
}

// reportedPrefix is ctrl-\ as a terminal sends it, and its end, to a program that has asked for
// kitty's or xterm's reports of keys: caps lock and num lock count, too.
var reportedPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[(?:27;5;92~|92[\d:]*;(?:(?:5|69|133|197)(?::1)?|\d+:3)u)`)
})

// detacher looks for the detach keys in what is typed, also across reads.
type detacher struct{ prefix bool }

// read returns what is meant for the program; detach if the keys were there,
// which drops what follows them.
func (d *detacher) read(p []byte) (through []byte, detach bool) {
	p = reportedPrefix().ReplaceAllFunc(p, func(key []byte) []byte {
		if bytes.HasSuffix(key, []byte(":3u")) {
			return nil
		}
		return []byte{detachPrefix}
	})
	for _, b := range p {
		switch {
		case d.prefix && b == detachKey:
			return through, true
		case d.prefix && b == detachPrefix:
			d.prefix = false
			through = append(through, b)
		case d.prefix:
			d.prefix = false
			through = append(through, detachPrefix, b)
		case b == detachPrefix:
			d.prefix = true
		default:
			through = append(through, b)
		}
	}
	return through, false
}
