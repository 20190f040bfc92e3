package iterm2

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// socket is the client's half of a WebSocket (RFC 6455), as far as iTerm2 needs it: whole
// messages, no extensions. The libraries for it stand on a web server and its encryption,
// which every verb of this program and every host would carry. The tests have one at the
// other end.
type socket struct {
	conn  net.Conn
	lines *bufio.Reader

	mu     sync.Mutex // one frame is written at a time; guards the next
	closed bool       // a Close was written, and nothing comes behind it
}

// What a frame is.
const (
	opMore   = 0x0
	opBinary = 0x2
	opClose  = 0x8
	opPing   = 0x9
	opPong   = 0xa

	opControl = 0x8 // the bit that those of the connection itself have
	lastFrame = 0x80
	masked    = 0x80

	maxControl = 125 // bytes
	maxHeaders = 100 // lines of the answer to the handshake
)

const (
	subprotocol  = "api.iterm2.com"
	switched     = 101 // HTTP's status of a handshake that was accepted
	closeNormal  = 1000
	controlLimit = 5 * time.Second // for iTerm2 to take or give a frame about the connection
)

var (
	errHandshake = errors.New("it answered the handshake with something other than a WebSocket's")
	errFrame     = errors.New("it sent a frame that breaks the WebSocket's rules")
	errLong      = errors.New("it sent a message of more than 16 MiB")
)

// header is one of the handshake.
type header struct{ name, value string }

// handshake makes a WebSocket of a connection, which it does not close. A status other
// than switched is iTerm2's refusal, and no error.
func handshake(ctx context.Context, conn net.Conn, own []header) (s *socket, status int, err error) {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
	}()
	var random [16]byte
	rand.Read(random[:])
	key := base64.StdEncoding.EncodeToString(random[:])
	request := "GET / HTTP/1.1\r\n"
	for _, h := range append([]header{
		{"Host", "localhost"}, {"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Version", "13"},
		{"Sec-WebSocket-Key", key}, {"Sec-WebSocket-Protocol", subprotocol},
	}, own...) {
		if strings.ContainsFunc(h.value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, 0, fmt.Errorf("the header %s has control characters", h.name)
		}
		request += h.name + ": " + h.value + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return nil, 0, err
	}
	s = &socket{conn: conn, lines: bufio.NewReader(conn)}
	status, err = s.answered(key)
	return s, status, err
}

// answered reads the answer to the handshake.
func (s *socket) answered(key string) (status int, err error) {
	line, err := s.line()
	if err != nil {
		return 0, err
	}
	version, rest, _ := strings.Cut(line, " ")
	number, _, _ := strings.Cut(rest, " ")
	if status, err = strconv.Atoi(number); err != nil || !strings.HasPrefix(version, "HTTP/1.") {
		return 0, errHandshake
	}
	if status != switched {
		return status, nil
	}
	got := map[string]string{}
	for line, err = s.line(); err == nil && line != ""; line, err = s.line() {
		name, value, ok := strings.Cut(line, ":")
		if !ok || len(got) == maxHeaders {
			return 0, errHandshake
		}
		got[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	if err != nil {
		return 0, err
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	spoken, named := got["sec-websocket-protocol"]
	switch {
	case !strings.EqualFold(got["upgrade"], "websocket"),
		!strings.Contains(strings.ToLower(got["connection"]), "upgrade"),
		got["sec-websocket-accept"] != base64.StdEncoding.EncodeToString(sum[:]),
		got["sec-websocket-extensions"] != "",
		named && spoken != subprotocol:
		return 0, errHandshake
	}
	return status, nil
}

// line reads one line of the handshake, which is no longer than a buffer.
func (s *socket) line() (string, error) {
	line, err := s.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = errHandshake
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// read returns the next message. It answers what comes about the connection itself. One
// goroutine reads.
func (s *socket) read() ([]byte, error) {
	var message []byte
	for begun := false; ; {
		op, last, data, err := s.frame(maxMessage - len(message))
		switch {
		case err != nil:
			return nil, err
		case op == opPing:
			if err := s.write(time.Now().Add(controlLimit), opPong, data); err != nil {
				return nil, err
			}
		case op == opPong:
		case op == opClose:
			_ = s.write(time.Now().Add(controlLimit), opClose, data[:min(len(data), 2)]) // it is over either way
			return nil, io.EOF
		case begun != (op == opMore):
			return nil, errFrame
		default:
			if message, begun = append(message, data...), true; last {
				return message, nil
			}
		}
	}
}

// frame reads one frame of at most that many bytes.
func (s *socket) frame(most int) (op byte, last bool, data []byte, err error) {
	var head [2]byte
	if _, err = io.ReadFull(s.lines, head[:]); err != nil {
		return 0, false, nil, err
	}
	op, last = head[0]&0xf, head[0]&lastFrame != 0
	size, control := uint64(head[1]&^masked), op&opControl != 0
	known := op <= opBinary || op >= opClose && op <= opPong
	if !known || head[0]&0x70 != 0 || head[1]&masked != 0 || control && (!last || size > maxControl) || op == opClose && size == 1 {
		return 0, false, nil, errFrame
	}
	if size > maxControl { // then it is how long the number behind it is
		var long [8]byte
		part := long[6:]
		if size == 127 {
			part = long[:]
		}
		if _, err = io.ReadFull(s.lines, part); err != nil {
			return 0, false, nil, err
		}
		size = binary.BigEndian.Uint64(long[:])
	}
	if size > uint64(most) && !control {
		return 0, false, nil, errLong
	}
	data = make([]byte, size)
	_, err = io.ReadFull(s.lines, data)
	return op, last, data, err
}

// write writes one frame. A write that is cut off ends the connection, before another frame
// is taken for the rest of this one. Behind a Close nothing is written: a message is
// net.ErrClosed then, and what is about the connection is passed over.
func (s *socket) write(until time.Time, op byte, data []byte) error {
	frame := []byte{lastFrame | op}
	switch n := len(data); {
	case n <= maxControl:
		frame = append(frame, masked|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, masked|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, masked|127), uint64(n))
	}
	var mask [4]byte
	rand.Read(mask[:])
	frame = append(frame, mask[:]...)
	for i, b := range data {
		frame = append(frame, b^mask[i%4])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed && op&opControl != 0:
		return nil
	case s.closed:
		return net.ErrClosed
	}
	s.closed = op == opClose
	if err := s.conn.SetWriteDeadline(until); err != nil {
		return err
	}
	_, err := s.conn.Write(frame)
	if err != nil {
		_ = s.conn.Close()
	}
	return err
}

// close says that this is the end. Whoever reads then sees the other side's, or, if none
// comes, that of its patience.
func (s *socket) close() {
	until := time.Now().Add(controlLimit)
	if s.write(until, opClose, binary.BigEndian.AppendUint16(nil, closeNormal)) != nil || s.conn.SetReadDeadline(until) != nil {
		_ = s.conn.Close()
	}
}
