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
	for i := 0; i < len(line); {
		if n := sequence(line[i:]); n > 0 {
			if s := line[i : i+n]; strings.HasPrefix(s, "\x1b[") && s[n-1] == 'm' && strings.Trim(s[2:n-1], "0123456789;:") == "" {
				b.WriteString(s)
				color = true
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
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

// sequence is the length of the escape sequence that s begins with, 0 if it begins
// with none. One that is cut off takes the rest.
func sequence(s string) int {
	if s == "" || s[0] != 0x1b {
		return 0
	}
	if len(s) == 1 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return 2
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
