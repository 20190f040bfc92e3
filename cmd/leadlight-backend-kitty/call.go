package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// The frame of a command and of its answer.
const (
	frameStart = "\x1bP@kitty-cmd"
	frameEnd   = "\x1b\\"
)

// maxAnswer bounds what is read from kitty in bytes.
const maxAnswer = 64 << 20

// spoken is the version that commands claim: kitty refuses those of a newer one than it
// is, and what we use is as old as this.
func spoken() []int { return []int{0, 26, 0} }

// call runs one command on a connection of its own and returns its data.
func (b *Backend) call(ctx context.Context, cmd string, payload map[string]any) (json.RawMessage, error) {
	asked := ctx
	select {
	case <-asked.Done():
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	}
	if err := asked.Err(); err != nil {
		return nil, fault.New(fault.Of(err).Code, "ask kitty to %s: %w", cmd, err)
	}
	limit := b.opt.Limit
	if cmd == "launch" && limit == callLimit { // a pane may take longer to open, as leadlight knows
		limit = launchLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	data, err := b.exchange(ctx, cmd, payload)
	if _, refused := errors.AsType[refusal](err); refused {
		return nil, fault.New(fault.BackendUnavailable, "kitty (%s) could not %s: %w", b.opt.Socket, cmd, err)
	}
	if err != nil {
		if asked.Err() != nil {
			err = asked.Err()
		} else if errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
			return nil, fault.New(fault.BackendUnavailable, "kitty (%s) did not answer %s within %s", b.opt.Socket, cmd, limit).
				WithHint("a dialog may be waiting for an answer in it")
		}
		e := fault.Of(fault.New(fault.BackendUnavailable, "ask kitty (%s) to %s: %w", b.opt.Socket, cmd, err))
		if notRunning(err) {
			e = e.WithHint("that kitty has ended; inside another one, or with --backend tmux, it works")
		}
		return nil, e
	}
	return data, nil
}

// exchange sends a command and reads what comes back.
func (b *Backend) exchange(ctx context.Context, cmd string, payload map[string]any) (json.RawMessage, error) {
	line, err := json.Marshal(map[string]any{"cmd": cmd, "version": spoken(), "no_response": false, "payload": payload})
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, b.opt.Socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := conn.Write([]byte(frameStart + string(line) + frameEnd)); err != nil {
		return nil, err
	}
	return readAnswer(conn)
}

// connect connects to kitty. While it is so busy that its queue is full, it is tried again.
func connect(ctx context.Context, path string) (net.Conn, error) {
	tick := time.Tick(50 * time.Millisecond)
	for d := (net.Dialer{}); ; {
		conn, err := d.DialContext(ctx, "unix", path)
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-tick:
		}
	}
}

// refusal is why kitty did not do something.
type refusal string

func (r refusal) Error() string { return string(r) }

// readAnswer reads the data of an answer, which is JSON within the frame.
func readAnswer(r io.Reader) (json.RawMessage, error) {
	var a struct {
		OK    bool            `json:"ok"`
		Data  json.RawMessage `json:"data"`
		Error string          `json:"error"`
	}
	start := make([]byte, len(frameStart))
	if _, err := io.ReadFull(r, start); err != nil {
		return nil, err
	}
	if string(start) != frameStart {
		return nil, fmt.Errorf("its answer is no answer: %.80q", start)
	}
	body := &io.LimitedReader{R: r, N: maxAnswer}
	if err := json.NewDecoder(body).Decode(&a); err != nil {
		if body.N == 0 {
			return nil, fmt.Errorf("its answer is longer than %d bytes", maxAnswer)
		}
		return nil, fmt.Errorf("its answer is no answer: %w", err)
	}
	if !a.OK {
		return nil, refusal(strings.ToValidUTF8(firstLine(a.Error), "?"))
	}
	return a.Data, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line == "" {
		return "it gave no reason"
	}
	return fmt.Sprintf("%.200s", line)
}
