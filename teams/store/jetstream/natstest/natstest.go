// Package natstest starts a real engine for tests: the program nats-server, with JetStream
// on a scratch folder and on a free port of the loopback. The tests end it.
package natstest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// programVar names the program, if it is neither on PATH nor in bin/.
const programVar = "LEADLIGHT_NATS_SERVER"

// ErrNone says that there is no program to start.
var ErrNone = errors.New("there is no nats-server: `make machines` builds bin/nats-server")

// Program finds nats-server: what LEADLIGHT_NATS_SERVER names, bin/nats-server of this
// repository, or that on PATH.
func Program() (string, error) {
	if path := os.Getenv(programVar); path != "" {
		return path, nil
	}
	_, file, _, _ := runtime.Caller(0)
	folder, _ := os.Getwd() // built with -trimpath a file's name is no path: the tests run in their own folder
	for _, dir := range []string{filepath.Dir(file), folder} {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			path := filepath.Join(dir, "bin", "nats-server")
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	if path, err := exec.LookPath("nats-server"); err == nil {
		return path, nil
	}
	return "", ErrNone
}

// Server is a running engine. It listens on a free port of the loopback, and keeps what it
// has in a folder.
type Server struct {
	URL  string
	Dir  string // of what it keeps
	cmd  *exec.Cmd
	port string
	own  bool // the folder is ours
	more []string
	led  chan struct{} // closed when the nodes of its cluster have chosen who leads them
}

// readyLimit is how long a server may take to listen.
const readyLimit = time.Minute

// Start starts an engine that keeps what it has in dir, "" for a scratch folder. more are
// further arguments.
func Start(dir string, more ...string) (*Server, error) {
	if _, err := Program(); err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, port: "-1", more: more}
	if dir == "" {
		var err error
		if s.Dir, err = os.MkdirTemp("", "llnats"); err != nil {
			return nil, err
		}
		s.own = true
	}
	return s, s.Restart()
}

// test is the test that an engine is for, a testing.TB.
type test interface {
	Helper()
	Skip(...any)
	Fatal(...any)
	Cleanup(func())
}

// For starts an engine, which ends with the test. Where there is no program the test is skipped.
func For(t test, more ...string) *Server {
	t.Helper()
	s, err := Start("", more...)
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

var listening = regexp.MustCompile(`Listening for client connections on [^:]+:(\d+)`)

// Restart starts the engine again, on the same port, after Kill. Somebody may have the port for a
// moment: also one who tries to connect to it from it.
func (s *Server) Restart() (err error) {
	same := s.port != "-1"
	for end := time.Now().Add(readyLimit); ; time.Sleep(100 * time.Millisecond) {
		if err = s.begin(); !same || !errors.Is(err, errEnded) || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		s.Stop()
	}
	return err
}

var errEnded = errors.New("it has ended")

// begin starts the engine once.
func (s *Server) begin() error {
	program, err := Program()
	if err != nil {
		return err
	}
	s.cmd = exec.Command(program, append([]string{"-js", "-sd", s.Dir, "-a", "127.0.0.1", "-p", s.port}, s.more...)...)
	out, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ready, led := make(chan string, 1), make(chan struct{})
	s.led = led
	chosen := sync.OnceFunc(func() { close(led) })
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			if m := listening.FindStringSubmatch(scanner.Text()); m != nil {
				s.port = m[1]
			}
			if strings.Contains(scanner.Text(), "Server is ready") {
				ready <- s.port
			}
			if strings.Contains(scanner.Text(), "metadata leader") {
				chosen()
			}
		}
		close(ready)
	}()
	select {
	case port := <-ready:
		if s.URL = "nats://127.0.0.1:" + port; port == "" {
			_ = s.cmd.Wait()
			err = fmt.Errorf("%s did not come up: %w", program, errEnded)
		}
	case <-time.After(readyLimit):
		err = fmt.Errorf("%s was not ready after %s", program, readyLimit)
	}
	return err
}

// Cluster starts three nodes on the loopback, and returns when they have chosen who leads
// them. They tell nobody of each other's address: a client knows the ways that it was given.
func Cluster() (nodes []*Server, err error) {
	for range 3 { // somebody else may take a port before the node does
		if nodes, err = cluster(); err == nil || errors.Is(err, ErrNone) {
			break
		}
	}
	return nodes, err
}

func cluster() (nodes []*Server, err error) {
	const size = 3
	ports, err := freePorts(size)
	if err != nil {
		return nil, err
	}
	var routes []string
	for _, port := range ports {
		routes = append(routes, fmt.Sprint("nats://127.0.0.1:", port))
	}
	var started []*Server
	defer func() {
		if err != nil {
			for _, s := range started {
				s.Stop()
			}
		}
	}()
	for i, port := range ports {
		s, err := Start("", "--name", fmt.Sprint("n", i+1), "--cluster_name", "leadlight", "--cluster", fmt.Sprint("nats://127.0.0.1:", port),
			"--routes", strings.Join(routes, ","), "--no_advertise")
		if err != nil {
			return nil, err
		}
		started = append(started, s)
	}
	late := time.After(readyLimit)
	for _, s := range started {
		select {
		case <-s.led:
		case <-late:
			return nil, fmt.Errorf("the nodes had not chosen who leads after %s", readyLimit)
		}
	}
	return started, nil
}

// freePorts finds ports that nobody listens on.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // each is another one
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// URLs joins the addresses of nodes.
func URLs(nodes []*Server) string {
	var all []string
	for _, s := range nodes {
		all = append(all, s.URL)
	}
	return strings.Join(all, ",")
}

// PID is its process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Kill ends the engine by SIGKILL. What it keeps stays.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended by itself
	_ = s.cmd.Wait()
}

// Stop ends the engine and removes what it keeps, if the folder is ours.
func (s *Server) Stop() {
	s.Kill()
	if s.own {
		_ = os.RemoveAll(s.Dir)
	}
}

// Prefix makes a prefix of buckets of any name.
func Prefix(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "t" + hex.EncodeToString(sum[:8])
}
