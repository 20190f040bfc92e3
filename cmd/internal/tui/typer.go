package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/panes/host"
)

// typer is the way of keys to one teammate.
type typer struct {
	keys  chan []byte
	modes keyModes
}

// maxKeys bounds what waits for a teammate that takes no keys.
const maxKeys = 256

// attach begins to type into a teammate.
func (p *program) attach(a attach) tea.Cmd {
	p.typer.close()
	ctx, cancel := context.WithCancel(p.ctx)
	t := &typer{keys: make(chan []byte, maxKeys)}
	p.typer = t
	r, w := io.Pipe()
	go func() {
		defer w.Close()
		for {
			select {
			case k, ok := <-t.keys:
				if !ok {
					return
				}
				if _, err := w.Write(k); err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() tea.Msg {
		defer cancel()
		defer r.Close()
		detached, err := p.o.Service.View(ctx, p.o.Team, a.Name, host.AttachOptions{In: r, Out: &t.modes, Rows: a.Rows, Cols: a.Cols})
		if detached || errors.Is(err, context.Canceled) {
			return nil
		}
		return left{a.Name, err}
	}
}

// send queues keys, paste a text as a terminal does it; false if too much waits.
func (t *typer) send(keys []byte) bool  { return t.queue(func() []byte { return t.modes.keys(keys) }) }
func (t *typer) paste(text string) bool { return t.queue(func() []byte { return t.modes.paste(text) }) }

func (t *typer) queue(bytes func() []byte) bool {
	if t == nil {
		return true
	}
	select {
	case t.keys <- bytes():
		return true
	default:
		return false
	}
}

// close ends the typing once what was typed has been sent.
func (t *typer) close() {
	if t != nil {
		close(t.keys)
	}
}

// keyModes follows, in what a program writes, the modes that change what a terminal sends
// to it: that of the cursor keys (DECCKM), and bracketed paste.
type keyModes struct {
	mu                sync.Mutex
	cursor, bracketed bool
	tail              []byte // of what was written: a sequence may come in pieces
}

// Write implements io.Writer.
func (m *keyModes) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := append(m.tail, p...)
	longest := 0
	for mode, on := range map[string]*bool{"\x1b[?1": &m.cursor, "\x1b[?2004": &m.bracketed} {
		set, reset := bytes.LastIndex(text, []byte(mode+"h")), bytes.LastIndex(text, []byte(mode+"l"))
		if set != reset {
			*on = set > reset
		}
		longest = max(longest, len(mode))
	}
	m.tail = bytes.Clone(text[max(0, len(text)-longest):])
	return len(p), nil
}

// keys are a key's bytes as the program wants them.
func (m *keyModes) keys(b []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cursor && len(b) == 3 && b[0] == 0x1b && b[1] == '[' && strings.ContainsRune("ABCDFH", rune(b[2])) {
		return []byte{0x1b, 'O', b[2]}
	}
	return b
}

// paste are the bytes of a text that is pasted: its lines end with a return, and nothing
// in it is taken for a key that ends the paste.
func (m *keyModes) paste(text string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	text = strings.NewReplacer("\r\n", "\r", "\n", "\r", "\x1b", "").Replace(text)
	if m.bracketed {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	return []byte(text)
}
