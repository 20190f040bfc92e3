// Package iterm2test is an iTerm2 for tests, on any system: what the program's scripting
// interface is described to do, on a unix socket, with a real program on a real
// pseudo-terminal in each session. It checks the handshake as iTerm2 does, takes a cookie
// once only, moves the focus to what is new, and breaks on demand: it may be frozen, be
// killed, refuse, hang up in the middle of a request.
//
// It knows the interface from its public description alone and was never compared with
// the real program: what passes here agrees with that description.
package iterm2test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// test is what a server needs of the test it serves; *testing.T has it.
type test interface {
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Size of the first session.
const (
	firstCols = 200
	firstRows = 60
)

// Server is one iTerm2. Its methods are safe for concurrent use.
type Server struct {
	// Home is a home folder in which the socket lies where iTerm2 puts it.
	Home   string
	Socket string
	// Lead is the session that is there at the beginning, in a window of its own.
	Lead string

	listener net.Listener
	http     *http.Server

	gate sync.RWMutex // held by whoever freezes the server

	mu      sync.Mutex // guards the next
	serial  int
	windows []*window
	key     *window
	cookies map[string]bool // handed out, not yet used; true: good for one connection
	conns   map[*websocket.Conn]bool
	started map[*session]bool // programs that run, also of sessions that were closed
	helper  string            // what is put before the PATH of programs
	refusal int
	hangup  func(*wire.Request) bool
	distort func(*wire.Response)
	seen    []*wire.Request
	dead    bool
	running sync.WaitGroup // programs

	visitors []*os.Process
	serving  sync.WaitGroup // connections
}

// Start starts a server with one window, one tab and one session in it, and ends it with
// the test.
func Start(t test) *Server {
	dir, err := os.MkdirTemp("/tmp", "it")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Home: dir, Socket: filepath.Join(dir, "Library", "Application Support", "iTerm2", "private", "socket"), cookies: map[string]bool{}, conns: map[*websocket.Conn]bool{}, started: map[*session]bool{}}
	t.Cleanup(func() {
		s.Kill()
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder of the socket: %v", err)
		}
	})
	if err := os.MkdirAll(filepath.Dir(s.Socket), 0o700); err != nil {
		t.Fatal(err)
	}
	if s.listener, err = net.Listen("unix", s.Socket); err != nil {
		t.Fatal(err)
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.accept), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.http.Serve(s.listener) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	lead, err := s.start(map[string]any{"Custom Command": "Yes", "Command": "/bin/cat"}, firstCols, firstRows)
	if err != nil {
		t.Fatal(err)
	}
	s.openWindow(lead)
	s.Lead = lead.id
	return s
}

// Cookie hands out a cookie, good for one connection, and the key of the script.
func (s *Server) Cookie(context.Context) (cookie, key string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cookie = s.next("cookie")
	s.cookies[cookie] = true
	return cookie, "key", nil
}

// Helper puts a program into the folder dir that hands out a cookie as osascript does, and
// dir on the PATH of the programs in the sessions.
func (s *Server) Helper(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cookies["standing"], s.helper = false, dir+":"
	// A process that is just being started must not have the file open for writing.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(filepath.Join(dir, "osascript"), []byte("#!/bin/sh\necho standing key\n"), 0o700)
}

func (s *Server) next(what string) string {
	s.serial++
	return fmt.Sprintf("%s-%d", what, s.serial)
}

// Freeze lets the server answer nothing, as one does that shows a dialog, until thaw.
func (s *Server) Freeze() (thaw func()) {
	s.gate.Lock()
	return sync.OnceFunc(s.gate.Unlock)
}

// Refuse answers every handshake with this HTTP status; 0: no more.
func (s *Server) Refuse(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = status
}

// HangUp breaks the connection instead of answering the next request for which it is
// true; the request is carried out all the same.
func (s *Server) HangUp(when func(*wire.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangup = when
}

// Distort lets f change each answer from now on.
func (s *Server) Distort(f func(*wire.Response)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.distort = f
}

// Requests returns what was asked so far.
func (s *Server) Requests() []*wire.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*wire.Request(nil), s.seen...)
}

// Kill ends the server, and the programs in its sessions, without a goodbye.
func (s *Server) Kill() {
	s.mu.Lock()
	if s.dead {
		s.mu.Unlock()
		return
	}
	s.dead = true
	for ws := range s.conns {
		_ = ws.CloseNow()
	}
	for _, p := range s.visitors {
		_ = p.Kill()
	}
	for x := range s.started {
		x.hangUp()
		_ = syscall.Kill(-x.cmd.Process.Pid, syscall.SIGKILL)
	}
	s.mu.Unlock()
	_ = s.http.Close()
	_ = os.Remove(s.Socket)
	s.running.Wait()
	s.serving.Wait()
}

// accept does the checks of the handshake, in iTerm2's order.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	s.gate.RLock()
	status := s.check(r)
	s.gate.RUnlock()
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"api.iterm2.com"}})
	if err != nil {
		return
	}
	ws.SetReadLimit(1 << 24)
	s.mu.Lock()
	if s.dead {
		s.mu.Unlock()
		_ = ws.CloseNow()
		return
	}
	s.conns[ws] = true
	s.serving.Add(1)
	s.mu.Unlock()
	defer s.serving.Done()
	s.serve(r.Context(), ws)
	s.mu.Lock()
	delete(s.conns, ws)
	s.mu.Unlock()
	_ = ws.CloseNow()
}

func (s *Server) check(r *http.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := r.Header
	library := strings.Fields(h.Get("X-Iterm2-Library-Version"))
	host, _, _ := strings.Cut(r.Host, ":")
	switch {
	case s.refusal != 0:
		return s.refusal
	case r.Method != http.MethodGet || r.URL.Path != "/":
		return http.StatusBadRequest
	case !strings.EqualFold(h.Get("Upgrade"), "websocket") || !strings.EqualFold(h.Get("Connection"), "Upgrade"):
		return http.StatusBadRequest
	case len(h.Values("Sec-Websocket-Protocol")) != 1 || h.Get("Sec-Websocket-Protocol") != "api.iterm2.com":
		return http.StatusBadRequest
	case h.Get("Sec-Websocket-Key") == "" || h.Get("Sec-Websocket-Version") != "13":
		return http.StatusBadRequest
	case host != "localhost" || h.Get("Origin") != "ws://localhost/" && h.Get("Origin") != "http://localhost":
		return http.StatusBadRequest
	case len(library) != 2:
		return http.StatusNotAcceptable
	}
	once, ok := s.cookies[h.Get("X-Iterm2-Cookie")]
	switch {
	case !ok:
		return http.StatusUnauthorized
	case once:
		delete(s.cookies, h.Get("X-Iterm2-Cookie"))
	}
	return 0
}

// serve answers one client.
func (s *Server) serve(ctx context.Context, ws *websocket.Conn) {
	for {
		_, data, err := ws.Read(ctx)
		if err != nil {
			return
		}
		var req wire.Request
		answer, stay := &wire.Response{Error: new("malformed request")}, true
		if wire.Unmarshal(data, &req) == nil {
			s.gate.RLock()
			answer, stay = s.handle(&req)
			s.gate.RUnlock()
		}
		if !stay {
			return
		}
		answer.ID = req.ID
		if ws.Write(ctx, websocket.MessageBinary, wire.Marshal(answer)) != nil {
			return
		}
	}
}
