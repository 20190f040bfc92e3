package teammate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/panes/host"
)

// What stands around the text of an input line: frames, and marks of a prompt.
const (
	frames  = "│┃|─━═╭╮╰╯└┘┌┐╹╻▀▄"
	prompts = ">❯›▌$%"
)

// inputLine is what stands in a program's input line, without blanks, frames and
// the prompt. The line is the cursor's. Programs that hide the cursor and draw one
// of their own have a prompt: the lowest line that begins with one, and those below
// it up to a frame. Where there is neither, it is the last line that is not empty.
func inputLine(c host.Capture) string {
	lines := strings.Split(c.Text, "\n")
	if c.Cursor > 0 {
		if c.Cursor > len(lines) {
			return ""
		}
		return bare(lines[c.Cursor-1])
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if !isPrompt(lines[i]) {
			continue
		}
		text := bare(lines[i])
		for _, more := range lines[i+1:] {
			if isFrame(more) {
				break
			}
			text += bare(more)
		}
		return text
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if text := bare(lines[i]); text != "" {
			return text
		}
	}
	return ""
}

// bare is a line of an input without what is no text of it.
func bare(line string) string {
	line = strings.TrimFunc(line, outside)
	if r, n := utf8.DecodeRuneInString(line); strings.ContainsRune(prompts, r) {
		line = line[n:]
	}
	return squeezed(line)
}

// outside tells what surrounds a line: blanks and frames.
func outside(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(frames, r) }

func isPrompt(line string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(line, outside))
	return strings.ContainsRune(prompts, r)
}

// isFrame tells whether a line is a frame and nothing else.
func isFrame(line string) bool {
	return strings.TrimSpace(line) != "" && strings.TrimFunc(line, outside) == ""
}

// squeezed is a text without blanks: a screen breaks lines where it likes.
func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// stands tells whether an input line holds text, or as much of its end as fits.
func stands(text, line string) bool {
	text = squeezed(text)
	tail := []rune(text)
	tail = tail[max(0, len(tail)-12):]
	if len(tail) == 0 || line == "" {
		return false
	}
	return strings.Contains(line, string(tail)) || len(line) > 1 && strings.HasSuffix(text, line)
}
