// Command picture draws a terminal's screen, as `tmux capture-pane -e -p` prints it, as an
// SVG: text, the sixteen colours, bold, faint and reverse. Several screens, each ended by a
// line with a form feed, become one moving picture. It reads standard input and writes
// standard output. .ci/pictures uses it.
package main

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// Sizes in pixels, and the colours of the screen.
const (
	cellWidth  = 8.4
	cellHeight = 18
	paper      = "#1c1c22"
	ink        = "#d8d8de"
	// frameSeconds is how long a screen of a moving picture is seen.
	frameSeconds = 0.7
)

// look is how a cell is drawn.
type look struct {
	color                string
	bold, faint, reverse bool
}

func main() {
	if err := draw(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// screens reads the screens of the input, each as its rows.
func screens(in io.Reader) ([][]string, error) {
	all := [][]string{nil}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		last := len(all) - 1
		if lines.Text() == "\f" {
			all = append(all, nil)
			continue
		}
		all[last] = append(all[last], lines.Text())
	}
	if len(all) > 1 && all[len(all)-1] == nil {
		all = all[:len(all)-1]
	}
	return all, lines.Err()
}

func draw(in io.Reader, out io.Writer) error {
	all, err := screens(in)
	if err != nil {
		return err
	}
	var b strings.Builder
	widest, tallest := 0, 0
	for i, rows := range all {
		l := look{}
		group(&b, i, len(all))
		for y, row := range rows {
			widest = max(widest, line(&b, row, y, &l))
		}
		tallest = max(tallest, len(rows))
		b.WriteString("</g>\n")
	}
	w, h := float64(widest)*cellWidth+20, tallest*cellHeight+20
	_, err = fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<rect width="100%%" height="100%%" rx="6" fill="%s"/>
%s</svg>
`, w, h, paper, b.String())
	return err
}

// group begins screen i of n, which is seen in its turn only. The last one stays three
// times as long, and is what a viewer shows that moves nothing.
func group(b *strings.Builder, i, n int) {
	if i < n-1 {
		b.WriteString(`<g visibility="hidden">` + "\n")
	} else {
		b.WriteString("<g>\n")
	}
	if n == 1 {
		return
	}
	turns := float64(n + 2)
	from, to := float64(i)/turns, float64(i+1)/turns
	values, times := "hidden;visible;hidden", fmt.Sprintf("0;%.4f;%.4f", from, to)
	switch i {
	case 0:
		values, times = "visible;hidden", fmt.Sprintf("0;%.4f", to)
	case n - 1:
		values, times = "hidden;visible", fmt.Sprintf("0;%.4f", from)
	}
	fmt.Fprintf(b, `<animate attributeName="visibility" values="%s" keyTimes="%s" dur="%.1fs" calcMode="discrete" repeatCount="indefinite"/>`+"\n",
		values, times, turns*frameSeconds)
}

// line draws one row and returns its width in cells.
func line(b *strings.Builder, row string, y int, l *look) int {
	x := 0
	run := func(text string) {
		wide := cells(text)
		if strings.TrimSpace(text) != "" || l.reverse {
			l.run(b, text, x, y, wide)
		}
		x += wide
	}
	for row != "" {
		at := strings.Index(row, "\x1b[")
		if at < 0 {
			run(row)
			break
		}
		run(row[:at])
		end := strings.IndexFunc(row[at+2:], unicode.IsLetter)
		if end < 0 {
			break
		}
		if row[at+2+end] == 'm' {
			l.set(row[at+2 : at+2+end])
		}
		row = row[at+3+end:]
	}
	return x
}

// run draws text of one look. Its length is given, so that another font keeps the columns.
func (l look) run(b *strings.Builder, text string, x, y, wide int) {
	if text == "" {
		return
	}
	left, top, width := 10+float64(x)*cellWidth, 10+y*cellHeight, float64(wide)*cellWidth
	color := cmp.Or(l.color, ink)
	if l.reverse {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, top, width, cellHeight, color)
		color = paper
	}
	style := ""
	if l.bold {
		style += ` font-weight="bold"`
	}
	if l.faint {
		style += ` opacity="0.55"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" xml:space="preserve" fill="%s"%s>`, left, top+14, width, color, style)
	_ = xml.EscapeText(b, []byte(text)) // a builder takes everything
	b.WriteString("</text>\n")
}

// set obeys one SGR sequence.
func (l *look) set(codes string) {
	all := strings.Split(codes, ";")
	for len(all) > 0 {
		n, _ := strconv.Atoi(all[0]) // none means 0
		if all = all[1:]; n == 38 || n == 48 {
			color, used := deep(all)
			if all = all[used:]; n == 38 {
				l.color = color
			}
			continue
		}
		switch {
		case n == 0:
			*l = look{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.faint = true
		case n == 7:
			l.reverse = true
		case n == 22:
			l.bold, l.faint = false, false
		case n == 27:
			l.reverse = false
		case n == 39:
			l.color = ""
		case n >= 30 && n <= 37:
			l.color = palette(n - 30)
		case n >= 90 && n <= 97:
			l.color = palette(n - 90)
		}
	}
}

// palette is one of the eight colours.
func palette(n int) string {
	return []string{"#5c5c66", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8d8de"}[n]
}

// deep reads a colour of 256 (5;N), or of all (2;R;G;B), and tells how many codes it took.
func deep(codes []string) (color string, used int) {
	var n [4]int
	for i := range min(len(codes), len(n)) {
		n[i], _ = strconv.Atoi(codes[i])
	}
	switch {
	case n[0] == 2 && len(codes) >= 4:
		return fmt.Sprintf("#%02x%02x%02x", n[1]&255, n[2]&255, n[3]&255), 4
	case n[0] != 5 || len(codes) < 2:
		return "", len(codes)
	case n[1] < 16:
		return palette(n[1] & 7), 2
	case n[1] < 232: // a cube of six steps
		step := func(n int) int { return min(n, 1)*55 + n*40 }
		n := n[1] - 16
		return fmt.Sprintf("#%02x%02x%02x", step(n/36%6), step(n/6%6), step(n%6)), 2
	}
	grey := 8 + 10*max(n[1]&255-232, 0)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey), 2
}

// cells is how many cells a text takes, near enough for a picture.
func cells(text string) (n int) {
	for _, r := range text {
		n++
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
			n++
		}
	}
	return n
}
