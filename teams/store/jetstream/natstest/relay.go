package natstest

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

// Relay is a way to an engine that can be cut. While it is cut, what is sent on it is lost
// in silence, as in a network: nobody is told that it does not arrive.
type Relay struct {
	listener net.Listener
	target   string
	carried  atomic.Int64

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// NewRelay opens a way to the engine of an address.
func NewRelay(target string) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: l, target: strings.TrimPrefix(target, "nats://"), conns: map[net.Conn]bool{}}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go r.carry(near)
		}
	}()
	return r, nil
}

// URL is the address of this end.
func (r *Relay) URL() string { return "nats://" + r.listener.Addr().String() }

// Carried is how many bytes have gone through, both directions together.
func (r *Relay) Carried() int64 { return r.carried.Load() }

// Cut cuts the way.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
}

// Mend lets new connections through. Those that have lost something end.
func (r *Relay) Mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = false
	r.hangUp()
}

// Close ends the relay and all connections.
func (r *Relay) Close() {
	_ = r.listener.Close() // there is nobody to tell
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hangUp()
}

func (r *Relay) hangUp() {
	for c := range r.conns {
		_ = c.Close()
	}
	clear(r.conns)
}

// carry carries one connection.
func (r *Relay) carry(near net.Conn) {
	var far net.Conn
	if !r.isCut() {
		var err error
		if far, err = net.Dial("tcp", r.target); err != nil {
			_ = near.Close()
			return
		}
	}
	r.mu.Lock()
	r.conns[near] = true
	if far != nil {
		r.conns[far] = true
	}
	r.mu.Unlock()
	if far != nil {
		go r.pump(near, far)
	}
	r.pump(far, near)
}

func (r *Relay) isCut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cut
}

// pump carries one direction until an end hangs up. That, too, is not heard of while the
// way is cut.
func (r *Relay) pump(to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if r.isCut() {
			if err != nil {
				return
			}
			continue
		}
		if err == nil && to != nil {
			r.carried.Add(int64(n))
			_, err = to.Write(buf[:n])
		}
		if err != nil {
			r.mu.Lock()
			delete(r.conns, from)
			delete(r.conns, to)
			r.mu.Unlock()
			_ = from.Close()
			if to != nil {
				_ = to.Close()
			}
			return
		}
	}
}
