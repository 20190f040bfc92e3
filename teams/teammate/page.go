package teammate

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// page is the pane of an agent that has no screen of its own: what was said and done, and
// below it the line that a person types.
type page struct {
	to        io.Writer
	lines     chan string // what a person has submitted
	interrupt func()      // ctrl-c, or escape

	mu    sync.Mutex
	part  string // of a line of the agent's
	draft string
	rest  []byte // of a character that was cut
}

// maxTyped is how many submitted lines wait; of more the last are lost.
const maxTyped = 64

func newPage(to io.Writer, interrupt func()) *page {
	return &page{to: to, lines: make(chan string, maxTyped), interrupt: interrupt}
}

// Line shows a line, or several.
func (p *page) Line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	p.show(fmt.Sprintf(format, args...))
}

// Say shows what the agent says, as far as whole lines have come.
func (p *page) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part += text
	if i := strings.LastIndexByte(p.part, '\n'); i >= 0 {
		p.show(p.part[:i])
		p.part = p.part[i+1:]
	}
}

// Flush shows the rest of what the agent has said.
func (p *page) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
}

func (p *page) flush() {
	if p.part != "" {
		p.show(p.part)
		p.part = ""
	}
}

// show puts lines above the person's. Nothing in them acts on the terminal.
func (p *page) show(text string) {
	var b strings.Builder
	b.WriteString("\r\x1b[K")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.Map(func(r rune) rune {
			if r != '\t' && rawjson.Unseen(r) {
				return -1
			}
			return r
		}, line))
		b.WriteString("\r\n")
	}
	_, _ = io.WriteString(p.to, b.String()+p.input())
}

// shownDraft is how much of a person's line is shown, in characters.
const shownDraft = 60

func (p *page) input() string {
	if p.draft == "" {
		return ""
	}
	r := []rune(p.draft)
	return "\r\x1b[K› " + string(r[max(0, len(r)-shownDraft):])
}

// Write implements io.Writer: it takes what a person types. It never fails.
func (p *page) Write(keys []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.draft
	all := append(p.rest, keys...)
	p.rest = nil
	for i := 0; i < len(all); {
		r, n := utf8.DecodeRune(all[i:])
		if r == utf8.RuneError && !utf8.FullRune(all[i:]) {
			p.rest = append(p.rest, all[i:]...)
			break
		}
		if r == '\x1b' {
			i += p.escape(all[i:])
			continue
		}
		p.key(r)
		i += n
	}
	if p.draft != before {
		_, _ = io.WriteString(p.to, "\r\x1b[K"+p.input())
	}
	return len(keys), nil
}

// escape takes a key that is more than one character, and is none of ours, or the escape
// key itself. It returns how long it is.
func (p *page) escape(keys []byte) int {
	if len(keys) == 1 {
		go p.interrupt() // it may have to wait for the agent
		return 1
	}
	if keys[1] != '[' && keys[1] != 'O' {
		return 2
	}
	for i := 2; i < len(keys); i++ {
		if keys[i] >= '@' && keys[i] <= '~' {
			return i + 1
		}
	}
	return len(keys)
}

func (p *page) key(r rune) {
	switch {
	case r == '\r' || r == '\n':
		if text := strings.TrimSpace(p.draft); text != "" {
			select {
			case p.lines <- text:
			default:
			}
		}
		p.draft = ""
	case r == '\x7f' || r == '\b':
		_, n := utf8.DecodeLastRuneInString(p.draft)
		p.draft = p.draft[:len(p.draft)-n]
	case r == '\x15': // ctrl-u
		p.draft = ""
	case r == '\x03':
		p.draft = ""
		go p.interrupt() // it may have to wait for the agent
	case r == '\t' || !rawjson.Unseen(r):
		p.draft += string(r)
	}
}
