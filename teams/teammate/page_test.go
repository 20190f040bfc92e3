package teammate

import (
	"bytes"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	var out bytes.Buffer
	stopped := make(chan bool, 4)
	p := newPage(&out, func() { stopped <- true })
	p.Say("one\ntw")
	for _, keys := range []string{"gr", "\xc3", "\xbc\xc3\x9fe\x7f\x1b[A\x1bOB", "\r", "gone\x15", "\x1b", "lost\x03", "  \r", "new\rline\r"} {
		_, _ = p.Write([]byte(keys))
	}
	p.Line("three\x1b[2J")
	<-stopped
	<-stopped
	for _, want := range []string{"grüß", "new", "line"} {
		if got := <-p.lines; got != want {
			t.Errorf("submitted %q, want %q", got, want)
		}
	}
	if s := out.String(); !strings.Contains(s, "one\r\n") || !strings.Contains(s, "tw\r\n") || !strings.Contains(s, "three[2J\r\n") || !strings.Contains(s, "› grü") {
		t.Errorf("shown: %q", s)
	}
}

// Whatever is typed and said, a pane is not harmed by it.
func FuzzPage(f *testing.F) {
	f.Add([]byte("x\x1b[1;2A\xc3"), "said\x1b]0;title\x07\n")
	f.Fuzz(func(t *testing.T, keys []byte, said string) {
		var out bytes.Buffer
		p := newPage(&out, func() {})
		for len(p.lines) < maxTyped && len(keys) > 0 {
			n := min(3, len(keys))
			_, _ = p.Write(keys[:n])
			keys = keys[n:]
		}
		p.Say(said)
		p.Flush()
		if rest := strings.ReplaceAll(out.String(), "\x1b[K", ""); strings.ContainsAny(rest, "\x1b\x07\u009b") {
			t.Errorf("it shows %q", out.String())
		}
	})
}
