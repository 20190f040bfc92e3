// Package screen reads what an agent at a prompt does from what its screen shows. It
// looks at the input frame at the bottom, and at the lines right above and below it,
// never at words elsewhere: a conversation may say anything. A screen that it does not
// recognize is Unknown, and only a recognized prompt gives a proof, without which
// nothing is typed.
package screen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// State is what an agent does.
type State string

// The states.
const (
	Starting State = "starting" // the screen is empty
	Ready    State = "ready"    // its prompt takes text
	Busy     State = "busy"     // its prompt is there, and it works
	Asking   State = "asking"   // a person must answer
	Unknown  State = "unknown"  // nothing of this is recognized
)

// Kinds of frame around the input.
const (
	FrameRules  = "rules"  // a line above and a line below
	FrameBar    = "bar"    // a bar at the left, closed by a line below
	FrameFooter = "footer" // none; a footer stands below
)

// Rules say how one kind of agent shows its input. Patterns are regular expressions on
// one line.
type Rules struct {
	// Ready fits the first line of the input, or with FrameBar a line of the footer.
	// Without one, a prompt character at the end of the last line is an input, and so is
	// a terminal that edits lines itself.
	Ready  []string
	Frame  string   // kind of frame; "": with one or without
	Footer []string // a line that stands below the input, with FrameFooter always
	Busy   []string // a line right above the frame, or below it
	Asking []string // a line of a question, besides menus, which are recognized as such
	// TypeUnknown allows text also on a screen that is not recognized.
	TypeUnknown bool
}

// Screen is what a terminal shows.
type Screen struct {
	Text   string
	Cursor int  // the line with the cursor, from 1; 0: it is hidden
	Cooked bool // the terminal edits lines itself, and echoes them
}

// Reading is what was read from one screen.
type Reading struct {
	State    State
	Question string   // when Asking
	Choices  []string // when Asking, and it is a menu
	Input    string   // the text in the input, without blanks; it may be a placeholder
	prompt   bool     // there is an input
	listed   bool     // what stands in it may be a menu
	allowed  bool     // it is unknown, and may be typed into all the same
	above    []string // the lines above the input, all without one
	rows     []string // the line with the cursor and the one above it, where no input is known
}

// Reader reads the screens of one kind of agent.
type Reader struct {
	rules                       Rules
	ready, footer, busy, asking []*regexp.Regexp
}

// NewReader checks and prepares rules.
func NewReader(r Rules) (*Reader, error) {
	out := &Reader{rules: r}
	for _, x := range []struct {
		to       *[]*regexp.Regexp
		patterns []string
	}{{&out.ready, r.Ready}, {&out.footer, r.Footer}, {&out.busy, r.Busy}, {&out.asking, r.Asking}} {
		for _, p := range x.patterns {
			re, err := regexp.Compile(p)
			if err != nil {
				return nil, fmt.Errorf("the pattern %q: %w", p, err)
			}
			*x.to = append(*x.to, re)
		}
	}
	return out, nil
}

// Read tells what a screen says. A question wins over an input, and work over rest.
func (r *Reader) Read(s Screen) Reading {
	lines := linesOf(s.Text)
	if len(lines) == 0 && !(s.Cooked && len(r.ready) == 0) {
		return Reading{State: Starting, allowed: r.rules.TypeUnknown}
	}
	in, ok := r.findInput(lines, s)
	if r.rules.Frame == FrameBar && !(ok && in.begin < s.Cursor && s.Cursor <= in.end) {
		if title := titleOf(lines); title != "" {
			return Reading{State: Asking, Question: title}
		}
	}
	if !ok {
		reading := r.withoutInput(lines)
		reading.above = lines
		if end := s.Cursor; reading.State == Unknown && r.rules.Frame == "" && end <= len(lines) {
			if end <= 0 {
				end = len(lines)
			}
			reading.rows = lines[max(0, end-2):end]
		}
		return reading
	}
	reading := Reading{State: Ready, Input: in.text, prompt: true, listed: in.listed, above: lines[:in.begin]}
	footer := lines[in.end:]
	if line, found := keysLine(footer); found {
		return Reading{State: Asking, Question: line}
	}
	if line, found := asked(lines, in.begin); found {
		return Reading{State: Asking, Question: line}
	}
	if line := first(r.asking, footer); line != "" {
		return Reading{State: Asking, Question: tidy(line)}
	}
	if first(r.busy, footer) != "" || first(r.busy, lastLines(lines[:in.begin], statusLines)) != "" {
		reading.State = Busy
	}
	return reading
}

// How many lines that are not empty are looked at.
const (
	statusLines   = 8  // above an input, for the line that says what the agent does
	questionLines = 30 // at the bottom, for a menu
	askingLines   = 24 // at the bottom, for a line of a question
)

// withoutInput reads a screen that shows no input. Without rules, what stands above a text of
// ours was asked before that was typed.
func (r *Reader) withoutInput(lines []string) Reading {
	for i, line := range slices.Backward(lines) {
		if len(r.ready) == 0 && strings.Contains(line, mark) {
			lines = lines[i:]
			break
		}
	}
	bottom := lastLines(lines, askingLines)
	known := first(r.asking, bottom)
	if q, choices, ok := menu(lines); ok {
		if known != "" && strings.Contains(known, "?") {
			q = tidy(known)
		}
		return Reading{State: Asking, Question: q, Choices: choices}
	}
	if known != "" {
		return Reading{State: Asking, Question: withNext(bottom, known)}
	}
	if line, ok := lastHint(lastLines(lines, statusLines)); ok {
		return Reading{State: Asking, Question: questionAbove(lines, line)}
	}
	if first(r.busy, lastLines(lines, statusLines)) != "" {
		return Reading{State: Busy}
	}
	out := Reading{State: Unknown, allowed: r.rules.TypeUnknown}
	if r.rules.Frame == "" { // a pattern may fit the empty prompt only
		out.Input = bare(lines[len(lines)-1])
	}
	return out
}

// withNext is a line of a question and the two that follow it.
func withNext(lines []string, line string) string {
	i := slices.Index(lines, line)
	var out []string
	for _, l := range lines[i:] {
		if t := tidy(l); t != "" && (len(out) == 0 || !isHint(l)) {
			if out = append(out, t); len(out) == 3 {
				break
			}
		}
	}
	return strings.Join(out, " ")
}

// linesOf returns the lines of a screen without what is not to be seen, and without
// the empty ones at its end.
func linesOf(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(visible.Replace(line), " \t\r")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// visible takes out characters without a width, and makes blanks of one kind.
var visible = strings.NewReplacer("\u00a0", " ", "\u200b", "", "\ufeff", "", "\ufe0e", "", "\ufe0f", "")

// lastLines returns the end of lines with at most n that are not empty.
func lastLines(lines []string, n int) []string {
	i := len(lines)
	for i > 0 && n > 0 {
		if i--; lines[i] != "" {
			n--
		}
	}
	return lines[i:]
}

// first is the first line that one of the patterns fits. A pattern may ask for the
// blank behind a prompt, which a screen does not show.
func first(patterns []*regexp.Regexp, lines []string) string {
	for _, line := range lines {
		for _, p := range patterns {
			if line != "" && (p.MatchString(line) || p.MatchString(line+" ")) {
				return line
			}
		}
	}
	return ""
}
