package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What stands around the text of an input: frames, of which bars are the left and right
// sides, and marks of a prompt.
const (
	bars    = "│┃|"
	frames  = bars + "─━═╭╮╰╯└┘┌┐╹╻▀▄▔▁"
	prompts = ">❯›▌$%#»λ"
)

// maxFooter is how many lines that are not empty may stand below an input: hints, a
// status, a list of completions. maxInput bounds the lines of an input.
const (
	maxFooter = 12
	maxInput  = 60
)

// input is where an agent takes text.
type input struct {
	begin, end int // its lines with its frame
	text       string
	listed     bool // it has lines that end early, as a menu without numbers has
}

// findInput finds the lowest input.
func (r *Reader) findInput(lines []string, s Screen) (input, bool) {
	if len(r.ready) == 0 && s.Cooked {
		return cookedInput(lines, s.Cursor == len(lines) || s.Cursor == 0 && !strings.HasSuffix(s.Text, "\n"))
	}
	var found input // what looks like an input in the text of one is none
	for i := len(lines) - 1; i >= 0; i-- {
		if in, ok := r.inputAt(lines, i, s); ok && in.end >= found.end {
			found = in
		}
	}
	return found, found.end > 0 && atBottom(lines[found.end:])
}

// cookedInput is the line that the terminal itself edits: the last one, if it does not
// ask anything. begun: the program has written a part of that line.
func cookedInput(lines []string, begun bool) (input, bool) {
	if begun && len(lines) > 0 && partial().MatchString(lines[len(lines)-1]) {
		return input{}, false
	}
	bottom := lastLines(lines, statusLines)
	if _, _, asks := menu(lines); asks {
		return input{}, false
	}
	if _, asks := lastHint(bottom); asks {
		return input{}, false
	}
	return input{begin: len(lines), end: len(lines)}, true // what stands in it cannot be told from output
}

// atBottom tells whether what stands below an input may be a footer. A shell's prompt there
// says that the agent has ended.
func atBottom(below []string) bool {
	if last := lastLines(below, 1); len(last) > 0 && shellPrompt().MatchString(last[0]) {
		return false
	}
	n := 0
	for _, line := range below {
		if line != "" && !isFrame(line) {
			n++
		}
	}
	if _, _, asks := menu(below); asks {
		return false
	}
	return n <= maxFooter
}

// inputAt tells whether line i is the first of an input.
func (r *Reader) inputAt(lines []string, i int, s Screen) (input, bool) {
	if r.rules.Frame == FrameBar {
		return r.barAt(lines, i)
	}
	if i > 0 && scrolled().MatchString(lines[i-1]) { // the line with the prompt is out of sight
		end := closing(lines, i)
		return input{begin: i - 1, end: end, text: textOf(lines[i:max(i, end-1)]), listed: true}, end > 0
	}
	if !r.isPrompt(lines[i]) {
		return input{}, false
	}
	if end := closing(lines, i); end > 0 && i > 0 && isFrame(lines[i-1]) {
		in := input{begin: i - 1, end: end, text: textOf(lines[i : end-1]), listed: mayList(lines[i:end-1], lines[i-1])}
		known := len(r.footer) == 0 || first(r.footer, lines[end:]) != ""
		return in, known && !isChoices(lines[i:end-1], true)
	}
	switch r.rules.Frame {
	case FrameRules: // one may draw no frame where colours are few: then empty lines, and its footer
		end := r.unframed(lines, i)
		in := input{begin: i, end: end, text: textOf(lines[i:end])}
		apart := i > 0 && lines[i-1] == "" && first(r.footer, firstLine(lines[end:])) != ""
		return in, apart && !isChoices(lines[i:end], false)
	case FrameFooter:
		end := r.unframed(lines, i)
		in := input{begin: i, end: end, text: textOf(lines[i:end])}
		if first(r.footer, lines[end:]) == "" {
			if in.end = len(lines); !fills(lines[i:], s.Cursor-i) {
				return in, false
			}
			in.text, in.listed = textOf(lines[i:]), true
		}
		return in, !isChoices(lines[i:in.end], false)
	}
	// Without a frame only the last line is an input, and one with text in it might be
	// the choice of a menu.
	in := input{begin: i, end: len(lines), text: bare(lines[i])}
	here := s.Cursor == 0 || s.Cursor == i+1
	return in, i == len(lines)-1 && here && !isChoice(lines[i])
}

// scrolled is the upper side of a frame around the end of a text.
var scrolled = lazily(`^[─━]{3,} ↑ \d+ more [─━]{3,}$`)

func (r *Reader) isPrompt(line string) bool {
	if len(r.ready) > 0 {
		return first(r.ready, []string{line}) != ""
	}
	c, n := utf8.DecodeRuneInString(strings.TrimLeftFunc(line, outside))
	begins := strings.ContainsRune(prompts, c)
	rest := strings.TrimLeftFunc(line, outside)[n:]
	c, _ = utf8.DecodeLastRuneInString(line)
	return begins && (rest == "" || rest[0] == ' ') || strings.ContainsRune(prompts, c)
}

// barAt tells whether line i is the footer of an input with a bar at its left.
func (r *Reader) barAt(lines []string, i int) (input, bool) {
	if first(r.ready, lines[i:i+1]) == "" {
		return input{}, false
	}
	end := i - 1
	for end >= 0 && lines[end] == "" {
		end--
	}
	if end < 0 || !isFrame(lines[end]) {
		return input{}, false
	}
	begin := end
	for begin > 0 && end-begin < maxInput && strings.ContainsAny(firstRune(lines[begin-1]), bars) && !isListed(lines[begin-1]) {
		begin--
	}
	if end-begin < 3 { // text, an empty line, the agent's name
		return input{}, false
	}
	return input{begin: begin, end: end + 1, text: textOf(besides(lines[begin : end-1]))}, true
}

// isListed tells whether a line is one of a list of completions, which lies on an input with
// a bar and has bars at both sides.
func isListed(line string) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	return strings.ContainsRune(bars, last) && strings.TrimFunc(line, outside) != ""
}

func firstRune(line string) string {
	c, n := utf8.DecodeRuneInString(strings.TrimSpace(line))
	if n == 0 {
		return ""
	}
	return string(c)
}

// closing returns the line behind the frame that closes an input which begins with line
// i, 0 if none does: the first that is like the one above it. One that is not is a line of the
// text, if there is another.
func closing(lines []string, i int) (end int) {
	for n := i; n < len(lines) && n-i <= maxInput; n++ {
		switch {
		case !isFrame(lines[n]):
		case i > 0 && utf8.RuneCountInString(lines[n]) == utf8.RuneCountInString(lines[i-1]) && indented(lines[n]) == indented(lines[i-1]):
			return n + 1
		case end == 0:
			end = n + 1
		}
	}
	return end
}

// indented is by how much a line is.
func indented(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// unframed returns the end of an input without a frame. Its text may hold empty lines: what
// follows, indented, belongs to it where right below that the footer begins.
func (r *Reader) unframed(lines []string, i int) int {
	for end := paragraph(lines, i); end-i <= maxInput; {
		next := end
		for next < len(lines) && lines[next] == "" {
			next++
		}
		switch {
		case next == len(lines):
			return paragraph(lines, i)
		case first(r.footer, lines[next:next+1]) != "":
			return end
		case !strings.HasPrefix(lines[next], indent):
			return paragraph(lines, i)
		}
		end = paragraph(lines, next)
	}
	return paragraph(lines, i)
}

// fills tells whether lines at the end of a screen are those of an input without a frame, so
// many that they leave no place for its footer: the cursor is in them, which a menu hides. It
// may be submitted, but nothing more is typed into it.
func fills(lines []string, cursor int) bool {
	for _, line := range lines[1:] {
		if line != "" && !strings.HasPrefix(line, indent) {
			return false
		}
	}
	return cursor > 2 && cursor <= len(lines)+1 // below a full line
}

// indent is how the lines of an input without a frame begin, but for the first.
const indent = "  "

// paragraph returns the end of the lines from i on before an empty one.
func paragraph(lines []string, i int) int {
	for n := i + 1; n < len(lines); n++ {
		if lines[n] == "" {
			return n
		}
	}
	return len(lines)
}

// firstLine is the first of the lines that is not empty.
func firstLine(lines []string) []string {
	for i, line := range lines {
		if line != "" {
			return lines[i : i+1]
		}
	}
	return nil
}

// sidebar is the gap before what stands in another column.
var sidebar = strings.Repeat(" ", 12)

// textOf is the text in the lines of an input.
func textOf(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		line = strings.TrimLeft(strings.TrimSpace(line), frames)
		if i == 0 {
			b.WriteString(bare(line))
		} else {
			b.WriteString(squeezed(strings.TrimFunc(line, outside)))
		}
	}
	return b.String()
}

// besides are lines without what stands in another column.
func besides(lines []string) (out []string) {
	for _, line := range lines {
		text := strings.TrimLeftFunc(line, outside)
		text, _, _ = strings.Cut(text, sidebar)
		out = append(out, text)
	}
	return out
}

// bare is a line of an input without what is no text of it.
func bare(line string) string {
	line = strings.TrimFunc(line, outside)
	if r, n := utf8.DecodeRuneInString(line); n > 0 && strings.ContainsRune(prompts+"!*", r) {
		line = line[n:]
	}
	return squeezed(line)
}

// outside tells what surrounds a line: blanks and frames.
func outside(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(frames, r) }

// isFrame tells whether a line is the upper or lower side of a frame and nothing else.
func isFrame(line string) bool {
	line = strings.TrimFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(bars, r) })
	return utf8.RuneCountInString(line) > 2 && strings.TrimFunc(line, outside) == ""
}

// mayList tells whether the text at a prompt, in a frame, may be the lines of a menu: one
// that ends early is followed by another. So are the lines of a text that somebody typed.
func mayList(lines []string, frame string) bool {
	early := false
	for _, line := range lines {
		text := tidy(line)
		if text != "" && early {
			return true
		}
		early = early || text != "" && columns(line) < columns(frame)*3/4
	}
	return false
}

// columns is about how wide a line is.
func columns(line string) (n int) {
	for _, r := range strings.TrimSpace(line) {
		if n++; r >= 0x1100 && unicode.IsLetter(r) {
			n++
		}
	}
	return n
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
