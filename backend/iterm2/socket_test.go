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
		"cut off in the head":         {"\x82", "", io.ErrUnexpectedEOF},
		"cut off":                     {"\x82\x02a", "", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := net.Pipe()
			defer ours.Close()
			go func() {
				io.WriteString(theirs, tc.frames)
				theirs.Close()
			}()
			go io.Copy(io.Discard, theirs) // its answers
			s := &socket{conn: ours, lines: bufio.NewReader(ours)}
			got, err := s.read()
			if string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%.40q, error %v, want %.40q, error %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// TestSocketShakesHands: only the answer of a WebSocket to this very key is one.
func TestSocketShakesHands(t *testing.T) {
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
		"a line without end":        {good + strings.Repeat("x", 5000) + "\r\n\r\n", 0, errHandshake},
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
			_, status, err := shakeHands(t.Context(), ours, []header{{"X-Own", "a"}})
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
	if _, _, err := shakeHands(t.Context(), ours, []header{{"X-Own", "a\r\nb: c"}}); err == nil {
		t.Error("a header of two lines was said")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := shakeHands(ctx, ours, nil); err == nil {
		t.Error("a mute one shook hands")
	}
}

// FuzzSocketReads: whatever comes, it is messages up to an error, and none is longer than
// what came.
func FuzzSocketReads(f *testing.F) {
	f.Add([]byte("\x02\x02ab\x89\x01p\x80\x01c\x88\x02\x03\xe8"))
	f.Add([]byte("\x82\x7e\x01\x00"))
	f.Add([]byte("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &socket{conn: mute{}, lines: bufio.NewReader(bytes.NewReader(data))}
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

// mute is a connection that takes everything and says nothing.
type mute struct{ net.Conn }

func (mute) Write(p []byte) (int, error)      { return len(p), nil }
func (mute) SetWriteDeadline(time.Time) error { return nil }
