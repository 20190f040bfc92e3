package lineio_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/lineio"
)

func TestLines(t *testing.T) {
	const most = 100_000 // more than is read at once
	long := strings.Repeat("x", most+1)
	r := lineio.NewReader(strings.NewReader("one\r\n\n  \n"+long+"\ntwo\n"+long[:most]+"\r\nrest\n"+long), most)
	for _, want := range []string{"one", "ErrLong", "two", "max", "rest", "EOF"} { // the last one is too long, and has no end
		line, err := r.Next()
		got := string(line)
		switch {
		case errors.Is(err, lineio.ErrLong):
			got = "ErrLong"
		case errors.Is(err, io.EOF):
			got = "EOF"
		case err != nil:
			t.Fatal(err)
		case len(line) == most:
			got = "max"
		}
		if got != want {
			t.Fatalf("%.40q, want %s", got, want)
		}
	}
}

// Whatever comes, a line has no end in it, is not blank and not longer than is allowed.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\r\n\x00\n\n" + strings.Repeat("x", 100) + "\nrest"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for r := lineio.NewReader(bytes.NewReader(data), 64); ; {
			line, err := r.Next()
			if err != nil && !errors.Is(err, lineio.ErrLong) {
				return
			}
			if err == nil && (len(bytes.TrimSpace(line)) == 0 || len(line) > 64 || bytes.ContainsRune(line, '\n')) {
				t.Fatalf("a line is %q", line)
			}
		}
	})
}
