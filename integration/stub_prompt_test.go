package integration_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// prompt is an agent at a prompt: it writes down, line by line, what was submitted.
type prompt struct {
	record *os.File
	draw   func(p *prompt)

	input   []byte
	paste   bool
	pending []byte // the beginning of a sequence
	taken   int
	menu    bool
	deaf    int // how many more returns are not seen
}

func openPrompt(file string, draw func(*prompt)) *prompt {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return &prompt{record: f, draw: draw}
}

func (p *prompt) take(text string) {
	line, _ := json.Marshal(text)
	_, _ = p.record.Write(append(line, '\n'))
	p.taken++
}

// stubCooked reads lines from a terminal that edits them: FILE.
func stubCooked(args []string) {
	p := openPrompt(args[0], nil)
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		fmt.Print("> ")
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		p.take(strings.TrimSuffix(line, "\n"))
	}
}

// stubRaw has a terminal that edits nothing, shows what is typed, and knows no pastes: FILE.
func stubRaw(args []string) {
	p := openPrompt(args[0], nil)
	raw(func() { fmt.Print("> ") }, func(chunk []byte) {
		var out []byte
		for _, b := range chunk {
			if b != '\r' {
				p.input, out = append(p.input, b), append(out, b)
				continue
			}
			p.take(string(p.input))
			p.input, out = p.input[:0], append(out, "\r\nnoted\r\n> "...)
		}
		_, _ = os.Stdout.Write(out)
	})
}

// stubTUI is a program that fills the screen: FILE. It is there after five seconds,
// and what was typed before would answer its question; draws everything anew at every key; takes
// pastes as one; does not see a return twice; and asks a question, first and in between.
func stubTUI(args []string) {
	fmt.Print("loading\r\n")
	time.Sleep(5 * time.Second)
	p := openPrompt(args[0], (*prompt).screen)
	begin := func() {
		fmt.Print("\x1b[?1049h\x1b[?2004h\x1b[?25l")
		p.deaf, p.menu = 1, true
		p.draw(p)
	}
	raw(begin, func(chunk []byte) {
		for _, b := range chunk {
			p.key(b)
		}
		p.draw(p)
	})
}

func (p *prompt) key(b byte) {
	switch {
	case p.menu:
		if b != '1' {
			p.take(fmt.Sprintf("%q in the menu", b))
			return
		}
		p.menu = false
	case b == 0x1b || len(p.pending) > 0:
		p.sequence(b)
	case b == '\r' && !p.paste:
		p.enter()
	case b == '\r':
		p.input = append(p.input, '\n')
	default:
		p.input = append(p.input, b)
	}
}

func (p *prompt) sequence(b byte) {
	switch p.pending = append(p.pending, b); {
	case string(p.pending) == "\x1b[200~":
		p.paste, p.pending = true, nil
	case string(p.pending) == "\x1b[201~":
		p.paste, p.pending = false, nil
	case len(p.pending) > 2 && b >= 0x40:
		p.pending = nil
	}
}

func (p *prompt) enter() {
	if p.deaf > 0 {
		p.deaf--
		return
	}
	p.take(string(p.input))
	p.input = p.input[:0]
	switch p.taken {
	case 20:
		p.deaf = 1
	case 40:
		p.menu = true
	}
}

// screen draws everything: what happened, the input in a frame, and a line below it.
func (p *prompt) screen() {
	var out strings.Builder
	out.WriteString("\x1b[H\x1b[2J")
	if p.menu {
		out.WriteString("Do you want to go on?\r\n ❯ 1. Yes\r\n   2. No\r\n")
	} else {
		text := strings.ReplaceAll(string(p.input), "\n", " ")
		for r, n := utf8.DecodeRuneInString(text); len(text) > 200 && r != 0; r, n = utf8.DecodeRuneInString(text) {
			text = text[n:]
		}
		rule := strings.Repeat("─", 30)
		fmt.Fprintf(&out, "● %d taken\r\n%s\r\n❯ %s\r\n%s\r\n  ? for shortcuts\r\n", p.taken, rule, text, rule)
	}
	_, _ = os.Stdout.WriteString(out.String())
}

// raw hands what is typed to each, from a raw terminal.
func raw(begin func(), each func([]byte)) {
	if _, err := term.MakeRaw(0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	begin()
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return
		}
		each(buf[:n])
	}
}

// stubScreen shows the screen in a file and notes what is typed in another: SCREEN TYPED.
func stubScreen(args []string) {
	shown, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	typed, err := os.OpenFile(args[1], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	raw(func() {
		fmt.Print("\x1b[2J\x1b[H\x1b[?2004h" + strings.ReplaceAll(string(shown), "\n", "\r\n"))
	}, func(b []byte) { _, _ = typed.Write(b) })
}

// stubDialog shows the screen in a file as long as there is text in it, then is at a
// prompt: SCREEN TYPED. It notes what is typed before then, and what is submitted after.
func stubDialog(args []string) {
	p := openPrompt(args[1], (*prompt).screen)
	var gone atomic.Bool
	said := ""
	raw(func() {
		go func() {
			for {
				shown, _ := os.ReadFile(args[0])
				if len(shown) == 0 {
					break
				}
				fmt.Print("\x1b[2J\x1b[H\x1b[?2004h" + strings.ReplaceAll(string(shown), "\n", "\r\n"))
				time.Sleep(100 * time.Millisecond)
			}
			p.screen()
			gone.Store(true)
		}()
	}, func(b []byte) {
		if !gone.Load() {
			_, _ = p.record.Write(b)
			return
		}
		for _, c := range b {
			if c == '\r' && !p.paste {
				said = string(p.input)
			}
			p.key(c)
		}
		p.screen()
		if said != "" && len(p.input) == 0 { // what it was told stands above its input
			rule := strings.Repeat("─", 30)
			fmt.Printf("\x1b[H\x1b[2J❯ %s\r\n\r\n● done\r\n\r\n%s\r\n❯ \r\n%s\r\n", strings.ReplaceAll(said, "\n", " "), rule, rule)
		}
	})
}
