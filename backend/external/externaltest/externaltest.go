// Package externaltest is the suite of the frame: what a backend's program has to keep to
// whatever its terminal is. It adds to package backendtest, which asks about panes, and
// speaks the protocol line by line, as no good client would. The program
// (leadlight backend test) puts it to strangers.
package externaltest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/backend/backendtest"
	"github.com/leadlight-dev/leadlight/backend/external/wire"
	"github.com/leadlight-dev/leadlight/internal/tail"
)

// Program is what is tried.
type Program struct {
	Argv     []string // absolute
	Environ  []string
	StateDir string
	NoReopen bool // its panes end with it
	// List looks at the panes by another run of the program, and Close closes one.
	List  func(t backendtest.T) []backend.Pane
	Close func(t backendtest.T, p backend.Pane)
}

// How long an answer, and an end, may take.
const (
	answerLimit = 10 * time.Second
	endLimit    = 5 * time.Second
)

// Cases are the promises of the frame.
func Cases(p Program) []backendtest.Case {
	cases := []backendtest.Case{
		{Name: "Frame_Initialize", Run: func(t backendtest.T) { start(t, p).greet() }},
		{Name: "Frame_UnknownMethod", Run: p.unknownMethod},
		{Name: "Frame_Garbage", Run: p.garbage},
		{Name: "Frame_Unknowns", Run: p.unknowns},
		{Name: "Frame_EndOfInput", Run: p.endOfInput},
		{Name: "Frame_Shutdown", Run: p.shutdown},
	}
	if !p.NoReopen {
		cases = append(cases, backendtest.Case{Name: "Frame_PanesStayWhenItIsKilled", Run: p.killed})
	}
	return cases
}

func (p Program) unknownMethod(t backendtest.T) {
	r := start(t, p)
	r.greet()
	if m := r.ask("no-such-method", wire.Nothing{}); m.Error == nil || m.Error.Code != wire.MethodNotFound {
		t.Errorf("an unknown method is answered with %s, not with the error %d", show(m), wire.MethodNotFound)
	}
	r.lists()
}

// A line that is no message is answered with an error or with nothing; it is not the end.
func (p Program) garbage(t backendtest.T) {
	r := start(t, p)
	r.greet()
	for _, line := range []string{"", "hello?", "{", "[]", `{"jsonrpc":"1.0","id":"odd","method":"list"}`, "\x00\xff", `{"jsonrpc":"2.0","id":"bad","method":"open","params":7}`} {
		if _, err := io.WriteString(r.in, line+"\n"); err != nil {
			t.Fatalf("after %q it reads no more: %v", line, err)
		}
		r.context = fmt.Sprintf("after the line %q: ", line)
		r.lists()
	}
}

// What is not known is passed over: notifications, members of objects.
func (p Program) unknowns(t backendtest.T) {
	r := start(t, p)
	r.greet()
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"$/no-such-notification","params":{"a":[1]}}`,
		`{"jsonrpc":"2.0","method":"$/cancel","params":{"id":12345}}`,
	} {
		if _, err := io.WriteString(r.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if m := r.ask(wire.List, json.RawMessage(`{"new":{"things":[]}}`)); m.Error != nil {
		t.Errorf("an unknown member of the parameters: %s", show(m))
	}
	r.lists()
}

func (p Program) endOfInput(t backendtest.T) {
	r := start(t, p)
	r.greet()
	_ = r.in.Close()
	r.ends("its input has ended")
}

func (p Program) shutdown(t backendtest.T) {
	r := start(t, p)
	r.greet()
	if m := r.ask(wire.Shutdown, wire.Nothing{}); m.Error != nil && m.Error.Code != wire.MethodNotFound {
		t.Errorf("shutdown: %s", show(m))
	}
	_ = r.in.Close()
	r.ends("it was told to, and its input has ended")
}

// killed opens a pane, kills the program with its whole process group, and looks again.
func (p Program) killed(t backendtest.T) {
	r := start(t, p)
	r.greet()
	mark := backend.Mark{Base: "frame", Team: "team", Agent: "stays", Host: "host-" + strconv.Itoa(os.Getpid()) + strconv.FormatInt(time.Now().UnixNano(), 36)}
	m := r.ask(wire.Open, wire.OpenParams{Panes: []backend.Spec{{
		Argv: []string{"/bin/sh", "-c", "sleep 1000"}, Dir: "/", Place: backend.Session, Name: "stays", Mark: mark, Label: backend.Label{Name: "stays"},
	}}})
	var opened wire.OpenResult
	if err := json.Unmarshal(m.Result, &opened); err != nil || len(opened.Panes) != 1 || opened.Panes[0].Pane == nil {
		t.Fatalf("open: %s", show(m))
	}
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	r.ends("it was killed")
	found := false
	for _, pane := range p.List(t) {
		if pane.Mark == mark {
			found = true
			p.Close(t, pane)
		}
	}
	if !found {
		t.Errorf("the pane %s ended with the program that had opened it", opened.Panes[0].Pane.ID)
	}
}

// run is one run of the program, spoken to line by line.
type run struct {
	t     backendtest.T
	p     Program
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
	gone  chan struct{}
	last  int
	errs  *tail.Tail

	context string // what came before, for people
}

func start(t backendtest.T, p Program) *run {
	t.Helper()
	r := &run{t: t, p: p, cmd: exec.Command(p.Argv[0], p.Argv[1:]...), lines: make(chan []byte, 64), gone: make(chan struct{}), errs: tail.New(300)}
	r.cmd.Env, r.cmd.WaitDelay = p.Environ, time.Second
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.in, r.cmd.Stdout, r.cmd.Stderr = in, to, r.errs
	err = r.cmd.Start()
	_ = to.Close()
	if err != nil {
		_ = out.Close()
		t.Fatalf("start %s: %v", filepath.Base(p.Argv[0]), err)
	}
	go r.follow(out)
	t.Cleanup(func() {
		select {
		case <-r.gone:
		default:
			_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
			<-r.gone
		}
	})
	return r
}

// follow reads lines until the program ends. What it said last is read before its output is
// closed, unless another holds that open.
func (r *run) follow(out *os.File) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(r.lines)
		for reader := wire.NewReader(out); ; {
			line, err := reader.Next()
			if err != nil {
				return
			}
			select {
			case r.lines <- line:
			case <-r.t.Context().Done():
				return
			}
		}
	}()
	_ = r.cmd.Wait()
	select {
	case <-read:
	case <-time.After(time.Second):
	}
	_ = out.Close()
	close(r.gone)
}

// greet initializes, with more in the greeting than the specification knows.
func (r *run) greet() {
	r.t.Helper()
	m := r.ask(wire.Initialize, struct {
		wire.Greeting
		New []int `json:"x-new"`
	}{wire.Greeting{Protocol: wire.Version, Host: wire.Peer{Name: "leadlight"}, StateDir: r.p.StateDir}, []int{1}})
	var h wire.Hello
	if err := json.Unmarshal(m.Result, &h); m.Error != nil || err != nil {
		r.t.Fatalf("initialize: %s", show(m))
	}
	if h.Protocol != wire.Version || h.Backend.Name == "" {
		r.t.Fatalf("initialize is answered with %s; it wants the version %d and a name", show(m), wire.Version)
	}
}

// lists asks for the panes, to see whether it still serves.
func (r *run) lists() {
	r.t.Helper()
	var list wire.PaneList
	if m := r.ask(wire.List, wire.Nothing{}); m.Error != nil || json.Unmarshal(m.Result, &list) != nil {
		r.t.Errorf("%slist: %s", r.context, show(m))
	}
}

// ask asks and waits for the answer with the same id; what else is said meanwhile is
// passed over, if it is a message.
func (r *run) ask(method string, params any) wire.Message {
	r.t.Helper()
	r.last++
	id := json.RawMessage(strconv.Itoa(r.last))
	encoded, err := wire.Encode(params)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := wire.NewWriter(r.in).Send(wire.Message{ID: id, Method: method, Params: encoded}); err != nil {
		r.t.Fatalf("%s: it does not read: %v", method, err)
	}
	late := time.After(answerLimit)
	for {
		select {
		case line, ok := <-r.lines:
			if !ok {
				r.t.Fatalf("%s%s: it %s", r.context, method, r.end())
			}
			m, bad := wire.Decode(line)
			if bad != nil {
				r.t.Fatalf("%s%s: it said %.200q: %s", r.context, method, line, bad.Message)
			}
			if string(m.ID) == string(id) && m.Method == "" {
				return m
			}
		case <-late:
			r.t.Fatalf("%s%s: no answer within %v", r.context, method, answerLimit)
		}
	}
}

// end says how it ended, and what it said last.
func (r *run) end() string {
	select {
	case <-r.gone:
		return fmt.Sprintf("ended (%s)%s", r.cmd.ProcessState, r.said())
	case <-time.After(endLimit):
		return "closed its output"
	}
}

// ends waits for its end.
func (r *run) ends(why string) {
	r.t.Helper()
	select {
	case <-r.gone:
	case <-time.After(endLimit):
		r.t.Errorf("it still runs %v after %s", endLimit, why)
	}
}

// said is what people would want to read of what it wrote last.
func (r *run) said() string {
	if text := strings.Join(strings.Fields(r.errs.String()), " "); text != "" {
		return "; at last it said: " + text
	}
	return ""
}

func show(m wire.Message) string {
	line, _ := wire.Encode(m) // of what was decoded
	return string(line[:min(len(line), 500)])
}
