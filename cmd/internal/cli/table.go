package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/cmd/internal/style"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// A cell of a table: text, and the colour it has where there are colours.
type cell struct{ text, color string }

// table prints rows in aligned columns.
type table struct {
	head []string
	rows [][]cell
	less []string // heads of the columns that may be left out, the least needed first
	none string   // what is said instead, where there are no rows
}

// add adds a row. A value that is no cell is shown without a colour.
func (t *table) add(values ...any) {
	row := make([]cell, len(values))
	for i, v := range values {
		var colored bool
		if row[i], colored = v.(cell); !colored {
			row[i].text = fmt.Sprint(v)
		}
	}
	t.rows = append(t.rows, row)
}

// table prints a table as wide as the terminal is.
func (a *app) table(w io.Writer, t *table) {
	if len(t.rows) == 0 && t.none != "" {
		a.say("%s", t.none)
		return
	}
	t.write(w, width(a.out.w), a.colors(a.out.w))
}

// fields prints names with their values, a line each; wide is how wide the names are. What is
// empty is left out.
func fields(w io.Writer, wide int, rows [][2]string) {
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(w, "  %-*s %s\n", wide, row[0], oneLine(row[1]))
		}
	}
}

// leastLast is the room that the last column is to have, if it needs it, before
// other columns are left out.
const leastLast = 12

// widest is how wide a column that is not the last can be: one long cell does not put as
// many spaces into each row. A longer one is cut where the table has a width.
const widest = 80

// write prints the table. cols, if not 0, is how wide it may be: the columns that
// matter least are left out one after the other (see less), and the last one is cut.
// No cell holds a control character afterwards: names, titles and reasons come from
// other programs.
func (t *table) write(w io.Writer, cols int, colors bool) {
	widths := t.widths()
	shown := t.shown(widths, cols)
	head := make([]cell, len(t.head))
	for i, h := range t.head {
		head[i] = cell{h, "bold"}
	}
	out := bufio.NewWriter(w)
	defer out.Flush()
	for _, row := range append([][]cell{head}, t.rows...) {
		var line strings.Builder
		used := 0
		for n, i := range shown {
			text, last := row[i].text, n == len(shown)-1
			room := widths[i]
			if last {
				room = max(cols-used, 1)
			}
			if cols > 0 {
				text = displaywidth.TruncateString(text, room, "…")
			}
			pad := strings.Repeat(" ", max(widths[i]-displaywidth.String(text), 0)+2)
			if last {
				pad = ""
			}
			line.WriteString(paint(text, row[i].color, colors) + pad)
			used += widths[i] + 2
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// widths cleans the cells and returns how wide each column is.
func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = displaywidth.String(h)
	}
	for _, row := range t.rows {
		for i := range row {
			row[i].text = oneLine(row[i].text)
			widths[i] = max(widths[i], displaywidth.String(row[i].text))
			if i < len(row)-1 {
				widths[i] = min(widths[i], widest)
			}
		}
	}
	return widths
}

// shown returns the columns that fit.
func (t *table) shown(widths []int, cols int) []int {
	var all []int
	for i := range t.head {
		all = append(all, i)
	}
	for _, name := range t.less {
		room := 0
		for n, i := range all {
			if n == len(all)-1 {
				room += min(widths[i], leastLast)
			} else {
				room += widths[i] + 2
			}
		}
		if cols <= 0 || room <= cols {
			break
		}
		all = slices.DeleteFunc(all, func(i int) bool { return t.head[i] == name })
	}
	return all
}

// oneLine makes text fit for one line of a terminal.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case hidden(r):
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�")))
}

// printable makes text fit for a terminal: line breaks and tabs stay, what could
// move the cursor or change colours does not.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && hidden(r) {
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}

// hidden are characters that are not shown.
func hidden(r rune) bool { return rawjson.Unseen(r) }

func paint(text, color string, colors bool) string {
	code := style.ANSI(color)
	if !colors || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// since says how long ago a moment was.
func since(t *api.Time) string {
	if t == nil {
		return ""
	}
	d := time.Since(time.Time(*t))
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// localTime is a moment as a person reads it here: of today the time alone.
func localTime(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Format("15:04:05")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

// meant is the end of a sentence that asks whether another word was meant.
func meant(word string, words []string) string {
	if near := config.Nearest(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
