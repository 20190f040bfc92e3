package tui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/leadlight-dev/leadlight/cmd/internal/style"
)

// plain is text of others as one line that moves no cursor.
func plain(s string) string {
	s = ansi.Strip(s)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// colored keeps of a line what is text or colour, and ends the colour. Everything else
// that a program may write would leave its place on the screen.
func colored(line string) string {
	var b strings.Builder
	color := false
	for len(line) > 0 {
		if s := sequence(line); s != "" {
			if inside, ok := strings.CutSuffix(s, "m"); ok && strings.HasPrefix(s, "\x1b[") && strings.Trim(inside[2:], "0123456789;:") == "" {
				b.WriteString(s)
				color = true
			}
			line = line[len(s):]
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		line = line[n:]
		switch {
		case r == '\t':
			b.WriteString("    ")
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			b.WriteRune(r)
		}
	}
	if color {
		b.WriteString("\x1b[m")
	}
	return b.String()
}

// sequence is the escape sequence that s begins with, "" if it begins with none. One that is
// cut off takes the rest.
func sequence(s string) string {
	if !strings.HasPrefix(s, "\x1b") {
		return ""
	}
	found, _, _, _ := ansi.DecodeSequence(s, ansi.NormalState, nil)
	return found
}

// fit makes a line exactly w cells wide.
func fit(line string, w int) string {
	if w <= 0 {
		return ""
	}
	if ansi.StringWidth(line) <= w {
		return pad(line, w)
	}
	return pad(ansi.Truncate(line, w-1, ""), w-1) + "…"
}

// fitEnds is fit for what says at its end why: the middle goes.
func fitEnds(line string, w int) string {
	if over := ansi.StringWidth(line) - w; over > 0 {
		begin := w / 2
		line = ansi.Truncate(line, begin, "") + "…" + ansi.TruncateLeft(line, begin+over+1, "")
	}
	return fit(line, w)
}

// pad adds blanks up to w cells. There are characters that swallow a blank after them.
func pad(line string, w int) string {
	for range 3 {
		line += strings.Repeat(" ", max(0, w-ansi.StringWidth(line)))
	}
	return line
}

// crop cuts a line off at w cells; a wide character that would stand across the edge
// goes.
func crop(line string, w int) string {
	return pad(ansi.Truncate(line, w, ""), w)
}

// wrap breaks text into lines of at most w cells.
func wrap(s string, w int) []string {
	return strings.Split(ansi.Wrap(s, max(w, 1), ""), "\n")
}

// The styles. They name colours of the person's own terminal, which are legible on its own
// background, be it light or dark; the two beyond those are so on both.
func bold(s string) string    { return lipgloss.NewStyle().Bold(true).Inline(true).Render(s) }
func faint(s string) string   { return lipgloss.NewStyle().Faint(true).Inline(true).Render(s) }
func reverse(s string) string { return lipgloss.NewStyle().Reverse(true).Inline(true).Render(s) }

func inColor(s, color string) string {
	index, ok := style.Index(color)
	switch {
	case color == "dim":
		return faint(s)
	case !ok:
		return s
	}
	return lipgloss.NewStyle().Foreground(lipgloss.Color(strconv.Itoa(index))).Inline(true).Render(s)
}
