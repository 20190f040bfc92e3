package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// The size of every pane, in cells.
const (
	columns = 120
	rows    = 40
)

const (
	answerLimit = 3 * time.Second // for one question to a holder
	closeLimit  = time.Second     // a program has between HUP and KILL
)

// question is what a holder is asked, in one line: whether it is there, or to close.
type question struct{ Close *backend.Mark }

// answer is its answer, in one line.
type answer struct {
	PID    int // 0: the program has not begun
	Mark   backend.Mark
	Refuse bool // the mark is another one
}

// ask asks a holder. One that is gone is backend.ErrGone, and its socket is removed.
func ask(ctx context.Context, socket string, q question) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		_ = os.Remove(socket)
		_ = os.Remove(filepath.Dir(socket)) // succeeds only when it is empty
		fallthrough
	case errors.Is(err, fs.ErrNotExist):
		return answer{}, fault.New(fault.BackendUnavailable, "pane %s: %w", filepath.Base(socket), backend.ErrGone)
	case err != nil:
		return answer{}, fault.New(fault.BackendUnavailable, "reach the holder: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var a answer
	if err = json.NewEncoder(conn).Encode(q); err == nil {
		err = json.NewDecoder(conn).Decode(&a)
	}
	switch {
	case ctx.Err() != nil:
		return a, fault.New(fault.BackendUnavailable, "the holder does not answer: %w", ctx.Err())
	case err != nil: // it went while it was asked
		return a, fault.New(fault.BackendUnavailable, "pane %s: %w", filepath.Base(socket), backend.ErrGone)
	case a.Refuse:
		return a, fault.New(fault.Unproven, "the pane is left alone: it carries another mark")
	}
	return a, nil
}

// heard waits for a holder's word: an empty line, or what went wrong.
func heard(r *bufio.Reader) error {
	line, err := r.ReadString('\n')
	if text := strings.TrimSpace(line); text != "" {
		return errors.New(text)
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the holder ended")
	}
	return err
}

// holder is the process that keeps one pane. Its program begins, with a word on standard
// input, when everything that belongs to the pane is there.
type holder struct {
	spec   backend.Spec
	socket string

	mu    sync.Mutex
	begun *exec.Cmd
	ended chan struct{}
}

// hold is the life of a holder, on standard input and output until its program begins.
func hold(socket string) int {
	in := bufio.NewReader(os.Stdin)
	h := &holder{socket: socket, ended: make(chan struct{})}
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &h.spec)
	}
	var l net.Listener
	if err == nil {
		l, err = h.listen()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.Remove(filepath.Dir(socket)) // succeeds only when it is empty
	defer l.Close()                       // removes the socket
	go h.serve(l)
	fmt.Println()
	if _, err := in.ReadBytes('\n'); err != nil {
		return 0 // sent home before it began
	}
	if err := h.begin(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println()
	<-h.ended
	return 0
}

// listen makes the folder, which whoever closes the last pane removes, and the socket.
func (h *holder) listen() (net.Listener, error) {
	for try := 0; ; try++ {
		if err := os.MkdirAll(filepath.Dir(h.socket), 0o700); err != nil {
			return nil, err
		}
		l, err := net.Listen("unix", h.socket)
		if err == nil || try == 5 || !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
	}
}

// begin starts the program on a terminal of its own, whose output nobody keeps.
func (h *holder) begin() error {
	cmd := exec.Command(h.spec.Argv[0], h.spec.Argv[1:]...)
	cmd.Dir = h.spec.Dir
	cmd.Env = append(backend.Without(os.Environ(), backend.TerminalVariables()), "TERM=xterm-256color", "PWD="+h.spec.Dir)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.begun = cmd
	h.mu.Unlock()
	go func() {
		_, _ = io.Copy(io.Discard, tty)
	}()
	go func() {
		_ = cmd.Wait()
		close(h.ended)
	}()
	return nil
}

func (h *holder) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go h.answer(conn)
	}
}

func (h *holder) answer(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(answerLimit))
	var q question
	if json.NewDecoder(conn).Decode(&q) != nil {
		return
	}
	a := answer{Mark: h.spec.Mark}
	h.mu.Lock()
	begun := h.begun
	h.mu.Unlock()
	if begun != nil {
		a.PID = begun.Process.Pid
	}
	if q.Close != nil {
		if a.Refuse = *q.Close != h.spec.Mark; !a.Refuse {
			h.close(begun)
			return // and no answer: it is gone
		}
	}
	_ = json.NewEncoder(conn).Encode(a)
}

// close hangs up on the program, and kills it if it stays. Then the holder goes.
func (h *holder) close(begun *exec.Cmd) {
	_ = os.Remove(h.socket)
	if begun == nil {
		os.Exit(0)
	}
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
		_ = syscall.Kill(-begun.Process.Pid, sig)
		select {
		case <-h.ended:
			return
		case <-time.After(closeLimit):
		}
	}
}
