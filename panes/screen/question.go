package screen

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// lazily compiles a pattern at its first use: what reads no screen does not pay for it.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// A menu is a list of which one line is marked.
var (
	marked      = lazily(`^[\s│┃|]*[❯›>▸▶→●◉➤*]\s*(\d{1,2}[.):]\s|\[[ xX✓✔*•]?\]|\([ xX•●]?\)|[◯◉☐☑✓✔□■○●]\s)`)
	numbered    = lazily(`^[\s│┃|]*(?:[❯›>▸▶→●◉➤*]\s*)?(\d{1,2})[.):]\s+(\S.*)$`)
	checkbox    = lazily(`^[\s│┃|]*(?:[❯›>▸▶→●◉➤*]\s*)?(?:\[[ xX✓✔*•]?\]|\([ xX•●]?\)|[◯◉☐☑□■])\s+(\S.*)$`)
	arrowed     = lazily(`^[\s│┃|]*[❯›>▸▶➤]\s+(\S.*)$`)
	hint        = lazily(`(?i)\b(press |hit |use )?(enter|return|space|esc|any key)[\])>]?(/esc)?( to| =|:)? ?(confirm|continue|select|submit|choose|accept|cancel|exit|go back|back|dismiss|reject|proceed|enable|toggle|quit|skip|save|close|retry|restart|sign in|log in)\b`)
	keysFirst   = lazily(`(?i)^[\s│┃|(]*(press |use |hit )?(enter|return|esc|space|any key|[↑↓←→/]+)\b`)
	moves       = lazily(`(?i)^[\s│┃|(]*(press |use )?(([↑↓←→/]|arrows?|arrow keys) ?)+ ?(to )?(navigate|move|choose|select)\b`)
	anyKey      = lazily(`(?i)\b(press|hit) (enter|return|space|any key|a key)\b`)
	yesOrNo     = lazily(`(?i)([\[(]\s*y(es)?\s*[/|]\s*n(o)?\s*([/|][^)]*)?[\])]|\(y\)es/\(n\)o|\b(password|passphrase|username)[^:]{0,40}:)\s*\S{0,3}\s*$`)
	shellPrompt = lazily(`(^|[^\d.])[$#%❯›>➜]$`)
	// partial is a question at the end of a line that a program has begun, or its pager.
	partial   = lazily(`(?i)(\?\s*([\[(].*)?$|^:$|^\(END\)|--more--|^lines \d|\b(pin|otp|code|token|username|login|user|e-?mail|password|passphrase)\b.{0,80}:$|\b(select|selection|choose|choice|option|number|pick|which|confirm|continue|proceed|retry)\b.*:$|[\[(]\d+ ?[-–/,] ?\d+[\])]:$|\byes\b.*\bno\b)`)
	wanted    = lazily(`(?i)^(select|choose|paste|enter|type|name|describe)\b`)
	titled    = lazily(`(?:^| {3})(\S+(?: \S+)*) {3,}esc(?:/enter)?(?: {3}|$)`)
	secret    = lazily(`(?i)\b(api[ -]?key|password|passphrase|token|secret|code)\b[^.]{0,40}[:?]$`)
	statement = lazily(`(?i)\besc (to )?(interrupt|cancel, \d)|· esc to cancel\)`)
)

// isChoice tells whether a line is a marked line of a menu.
func isChoice(line string) bool { return marked().MatchString(line) }

// isChoices tells whether the lines at a prompt are a menu: one of several numbered
// lines, or of boxes, is marked. In a frame of its own a single numbered line is text.
func isChoices(lines []string, framed bool) bool {
	if len(lines) == 0 || !isChoice(lines[0]) {
		return false
	}
	if !framed {
		return true
	}
	return checkbox().MatchString(lines[0]) || slices.ContainsFunc(lines[1:], func(l string) bool {
		return numbered().MatchString(l) || checkbox().MatchString(l)
	})
}

// menu finds a menu at the bottom of a screen: its question, and its choices.
func menu(lines []string) (question string, choices []string, ok bool) {
	bottom := lastLines(lines, questionLines)
	at := findMarked(bottom)
	if at < 0 {
		return "", nil, false
	}
	begin, end := blockAt(bottom, at)
	plain := choiceOf(bottom[at]) == ""
	for _, line := range bottom[begin:end] {
		switch c := choiceOf(line); {
		case c != "":
			choices = append(choices, c)
		case plain && tidy(line) != "":
			choices = append(choices, strings.TrimLeft(tidy(line), "❯›>▸▶➤ "))
		}
	}
	return questionOf(bottom[:begin], bottom[at]), choices, true
}

// blockAt returns the lines of the menu around its marked line.
func blockAt(lines []string, at int) (begin, end int) {
	begin, end = at, at+1
	if choiceOf(lines[at]) == "" { // without numbers: up to an empty line
		for begin > 0 && tidy(lines[begin-1]) != "" && !isFrame(lines[begin-1]) {
			begin--
		}
		for end < len(lines) && tidy(lines[end]) != "" && !isHint(lines[end]) && !isFrame(lines[end]) {
			end++
		}
		return begin, end
	}
	for begin > 0 && choiceOf(lines[begin-1]) != "" {
		begin--
	}
	for i := begin; i > 0 && i > begin-6; i-- { // choices may have a description below them
		if m := numbered().FindStringSubmatch(lines[i-1]); m != nil && m[1] == "1" {
			begin = i - 1
			break
		}
	}
	for end < len(lines) && !isHint(lines[end]) {
		end++
	}
	return begin, end
}

// findMarked returns the marked line of a menu, -1 without one. Above a line that says
// which keys answer, lines without a number may be choices, and no mark may be seen.
func findMarked(lines []string) int {
	hinted := false
	for i, line := range slices.Backward(lines) {
		switch {
		case isChoice(line), hinted && (arrowed().MatchString(line) || numbered().MatchString(line)):
			return i
		case isFrame(line):
			hinted = false
		case isHint(line): // one that ends in a yes and no asks by itself
			hinted = !yesOrNo().MatchString(line) && !anyKey().MatchString(line) || hint().MatchString(line) && !strings.Contains(strings.ToLower(line), "continue")
		}
	}
	return -1
}

// choiceOf is the text of a line of a menu, "" for another line.
func choiceOf(line string) string {
	line = strings.TrimRight(line, " │┃|")
	if i := strings.Index(strings.TrimLeft(line, " │┃|"), sidebar); i >= 0 {
		line = strings.TrimLeft(line, " │┃|")[:i]
	}
	for _, re := range []*regexp.Regexp{numbered(), checkbox()} {
		if m := re.FindStringSubmatch(line); m != nil {
			return strings.TrimSpace(strings.TrimLeft(line, " │┃|❯›>▸▶→●◉➤*"))
		}
	}
	return ""
}

// isHint tells whether a line says which keys answer a question.
func isHint(line string) bool {
	if statement().MatchString(line) {
		return false
	}
	return hint().MatchString(line) || anyKey().MatchString(line) || yesOrNo().MatchString(line)
}

// keysLine finds, below an input, a line that begins with the keys that answer, or ends in a
// yes and no. Elsewhere in a line the words may be a title, or a person's own status.
func keysLine(lines []string) (string, bool) {
	for _, line := range lines {
		if isHint(line) && keysFirst().MatchString(line) || moves().MatchString(line) || strings.ContainsAny(line, "[(") && yesOrNo().MatchString(line) {
			return tidy(line), true
		}
	}
	return "", false
}

// asked finds the question that an input answers: right above its frame, where an answer
// leaves an empty line, or as the title of a frame on top of it. Without a frame an answer
// stands there, too.
func asked(lines []string, begin int) (string, bool) {
	if begin == 0 {
		return "", false
	}
	text := tidy(lines[begin-1])
	if text == "" || secret().MatchString(text) {
		return text, text != ""
	}
	if begin == len(lines) || !isFrame(lines[begin]) || strings.ContainsAny(firstRune(lines[begin-1]), prompts) { // or a text that waits in line
		return "", false
	}
	titled := begin > 1 && isFrame(lines[begin-2]) && wanted().MatchString(text)
	return text, titled || strings.HasSuffix(text, "?") || strings.HasSuffix(text, ":")
}

// titleOf is the title of a dialog that lies on the screen, with the key that closes it at its
// right; what it lies on goes on beside it, and the input may stand below it.
func titleOf(lines []string) string {
	for _, line := range lines {
		if m := titled().FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// lastHint is the lowest line that says which keys answer a question.
func lastHint(lines []string) (string, bool) {
	for _, line := range slices.Backward(lines) {
		if isHint(line) {
			return tidy(line), true
		}
	}
	return "", false
}

// questionAbove is the question that the line with the keys belongs to.
func questionAbove(lines []string, keys string) string {
	for i, line := range slices.Backward(lines) {
		if tidy(line) == keys {
			if yesOrNo().MatchString(line) || anyKey().MatchString(line) {
				return keys
			}
			return questionOf(lines[:i], keys)
		}
	}
	return keys
}

// questionOf is what stands above the choices: the line that ends with a question mark,
// else the nearest that says something, else the choice itself.
func questionOf(above []string, otherwise string) string {
	near := ""
	n := 0
	for _, line := range slices.Backward(above) {
		text := tidy(line)
		if text == "" {
			continue
		}
		if n++; n > 8 {
			break
		}
		if strings.Contains(text, "?") {
			return text
		}
		near = cmp.Or(near, text)
	}
	if near == "" {
		return tidy(otherwise)
	}
	return near
}

// tidy is a line without frames and repeated blanks.
func tidy(line string) string {
	line = strings.TrimFunc(line, outside)
	line, _, _ = strings.Cut(line, sidebar)
	return strings.Join(strings.Fields(strings.TrimFunc(line, outside)), " ")
}

// Ask is the question and its choices in one line.
func (r Reading) Ask() string {
	if len(r.Choices) == 0 {
		return r.Question
	}
	return r.Question + " [" + strings.Join(r.Choices, " | ") + "]"
}
