package iterm2

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSocketReads puts frames to a socket that a well-behaved library never sends.
func TestSocketReads(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 70_000)
	for name, tc := range map[string]struct {
		frames string
		want   string
		err    error
	}{
		"in pieces, a ping between":   {"\x02\x02ab" + "\x89\x01p" + "\x00\x00" + "\x80\x01c", "abc", nil},
		"text":                        {"\x81\x02hi", "hi", nil},
		"an empty one":                {"\x82\x00", "", nil},
		"a pong that nobody asked":    {"\x8a\x00\x82\x01a", "a", nil},
		"long":                        {"\x82\x7f\x00\x00\x00\x00\x00\x01\x11\x70" + string(long), string(long), nil},
		"of middle size":              {"\x82\x7e\x01\x00" + string(long[:256]), string(long[:256]), nil},
		"too long":                    {"\x82\x7f\x00\x00\x00\x00\x01\x00\x00\x01", "", errLong},
		"longer than a number":        {"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", "", errLong},
		"too long in pieces":          {"\x02\x01a" + "\x80\x7f\x00\x00\x00\x00\x01\x00\x00\x00", "", errLong},
		"masked":                      {"\x82\x81\x00\x00\x00\x00a", "", errFrame},
		"with a reserved bit":         {"\xc2\x01a", "", errFrame},
		"of no kind":                  {"\x83\x01a", "", errFrame},
		"of no kind, about the whole": {"\x8b\x00", "", errFrame},
		"more of nothing":             {"\x80\x01a", "", errFrame},
		"a second before the end":     {"\x02\x01a\x82\x01b", "", errFrame},
		"a ping in pieces":            {"\x09\x00", "", errFrame},
		"a long ping":                 {"\x89\x7e\x00\x7e" + string(long[:126]), "", errFrame},
		"the end":                     {"\x88\x02\x03\xe8", "", io.EOF},
		"the end of half a code":      {"\x88\x01\x03", "", errFrame},
		"cut off in the head":         {"\x82", "", io.ErrUnexpectedEOF},
		"cut off":                     {"\x82\x02a", "", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &socket{conn: recorder{said: io.Discard}, lines: bufio.NewReader(strings.NewReader(tc.frames))}
			got, err := s.read()
			if string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%.40q, error %v, want %.40q, error %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// TestSocketHandshake: only the answer of a WebSocket to this very key is one.
func TestSocketHandshake(t *testing.T) {
	t.Parallel()
	const good = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: KEY\r\n"
	many := ""
	for i := range 2 * maxHeaders {
		many += fmt.Sprintf("x-%d: y\r\n", i)
	}
	for name, tc := range map[string]struct {
		answer string
		status int
		err    error
	}{
		"let in":                    {good + "Sec-WebSocket-Protocol: api.iterm2.com\r\n\r\n", switched, nil},
		"without a protocol":        {good + "\r\n", switched, nil},
		"another protocol":          {good + "Sec-WebSocket-Protocol: chat\r\n\r\n", 0, errHandshake},
		"an extension":              {good + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", 0, errHandshake},
		"another key":               {strings.Replace(good, "KEY", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", 1) + "\r\n", 0, errHandshake},
		"no upgrade":                {strings.Replace(good, "WebSocket\r", "h2c\r", 1) + "\r\n", 0, errHandshake},
		"no header":                 {good + "what\r\n\r\n", 0, errHandshake},
		"a line without end":        {good + "x:" + strings.Repeat("y: z", 3000) + "\r\n\r\n", 0, errHandshake},
		"headers without end":       {good + many, 0, errHandshake},
		"refused":                   {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", unauthorized, nil},
		"no HTTP":                   {"SSH-2.0 hello\r\n", 0, errHandshake},
		"cut off before the end":    {good, 0, io.EOF},
		"gone without a word of it": {"", 0, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := net.Pipe()
			defer ours.Close()
			go func() {
				defer theirs.Close()
				r, err := http.ReadRequest(bufio.NewReader(theirs))
				if err != nil {
					t.Error(err)
					return
				}
				sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
				io.WriteString(theirs, strings.Replace(tc.answer, "KEY", base64.StdEncoding.EncodeToString(sum[:]), 1))
			}()
			_, status, err := handshake(t.Context(), ours, []header{{"X-Own", "a"}})
			if status != tc.status || !errors.Is(err, tc.err) {
				t.Errorf("%d, %v, want %d, %v", status, err, tc.status, tc.err)
			}
		})
	}
}

// TestSocketSaysNoMore: a header is one line, and nobody is waited for longer than asked.
func TestSocketSaysNoMore(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	if _, _, err := handshake(t.Context(), ours, []header{{"X-Own", "a\r\nb: c"}}); err == nil {
		t.Error("a header of two lines was said")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := handshake(ctx, ours, nil); err == nil {
		t.Error("a mute one shook hands")
	}
}

// TestSocketClosesOnce: a Close is answered with the code it had, unless we said one first;
// then nothing follows ours.
func TestSocketClosesOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		came  string
		first bool // ours
		want  string
	}{
		"theirs, with a reason":  {"\x88\x04\x03\xe9go", false, "\x88\x02\x03\xe9"},
		"theirs, without a code": {"\x88\x00", false, "\x88\x00"},
		"ours":                   {"\x88\x02\x03\xe8", true, "\x88\x02\x03\xe8"},
		"ours, a ping between":   {"\x89\x01p\x88\x02\x03\xe8", true, "\x88\x02\x03\xe8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			s := &socket{conn: recorder{said: &said}, lines: bufio.NewReader(strings.NewReader(tc.came))}
			if tc.first {
				s.close()
			}
			if _, err := s.read(); err != io.EOF {
				t.Errorf("read: %v", err)
			}
			if got := unmasked(said.Bytes()); got != tc.want {
				t.Errorf("said %q, want %q", got, tc.want)
			}
			if err := s.write(time.Now(), opBinary, []byte("a")); !errors.Is(err, net.ErrClosed) || unmasked(said.Bytes()) != tc.want {
				t.Errorf("a message behind it: %v", err)
			}
		})
	}
}

// unmasked is small frames of a client as a server would send them.
func unmasked(frames []byte) (plain string) {
	for len(frames) > 0 {
		n := int(frames[1] &^ masked)
		plain += string([]byte{frames[0], byte(n)})
		for i, b := range frames[6 : 6+n] {
			plain += string([]byte{b ^ frames[2+i%4]})
		}
		frames = frames[6+n:]
	}
	return plain
}

// FuzzSocketReads: whatever comes, it is messages up to an error, and none is longer than
// what came.
func FuzzSocketReads(f *testing.F) {
	f.Add([]byte("\x02\x02ab\x89\x01p\x80\x01c\x88\x02\x03\xe8"))
	f.Add([]byte("\x82\x7e\x01\x00"))
	f.Add([]byte("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &socket{conn: recorder{said: io.Discard}, lines: bufio.NewReader(bytes.NewReader(data))}
		for {
			message, err := s.read()
			if err != nil {
				break
			}
			if len(message) > len(data) {
				t.Fatalf("%d bytes became a message of %d", len(data), len(message))
			}
		}
	})
}

// recorder is a connection that takes everything and says nothing.
type recorder struct {
	net.Conn
	said io.Writer
}

func (r recorder) Write(p []byte) (int, error)    { return r.said.Write(p) }
func (recorder) SetReadDeadline(time.Time) error  { return nil }
func (recorder) SetWriteDeadline(time.Time) error { return nil }
