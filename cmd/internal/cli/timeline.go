package cli

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// timeline is who worked on what, and when: a row for each teammate.
type timeline struct {
	title    string
	from, to int64 // milliseconds
	rows     []timelineRow
}

type timelineRow struct {
	name string
	bars []bar
}

// bar is one task.
type bar struct {
	from, to      int64
	title, status string
}

// timelineOf draws a run, as it is at the moment now if it goes on.
func timelineOf(r api.RunReport, now int64) timeline {
	end := cmp.Or(r.Run.CompletedAt, now)
	titles := map[string]string{}
	for _, it := range r.Items {
		titles[it.SourceTaskID] = it.Title
	}
	t := timeline{title: r.Team.Name + " " + short(r.Run.ID) + ": " + r.Run.Status + ", " + took(r.Run.StartedAt, end), from: r.Run.StartedAt, to: end}
	for _, k := range r.Tasks {
		b := bar{k.StartedAt, cmp.Or(k.CompletedAt, end), cmp.Or(titles[k.ID], "an earlier try"), k.Status}
		t.from, t.to = min(t.from, b.from), max(t.to, b.to)
		who := cmp.Or(k.Assignee, "?")
		at := slices.IndexFunc(t.rows, func(row timelineRow) bool { return row.name == who })
		if at < 0 {
			at = len(t.rows)
			t.rows = append(t.rows, timelineRow{name: who})
		}
		t.rows[at].bars = append(t.rows[at].bars, b)
	}
	slices.SortStableFunc(t.rows, func(a, b timelineRow) int { return strings.Compare(a.name, b.name) })
	t.to = max(t.to, t.from+1)
	return t
}

// Marks of a task in text: done, failed, under way.
func (b bar) mark() (rune, string) {
	switch b.status {
	case api.ItemDone:
		return '█', "green"
	case api.ItemFailed:
		return '▒', "red"
	}
	return '░', "yellow"
}

// text draws it for a terminal that is cols wide; 0: 80.
func (t timeline) text(w io.Writer, cols int, colors bool) {
	if cols <= 0 {
		cols = 80
	}
	names := 0
	for _, row := range t.rows {
		names = max(names, displaywidth.String(oneLine(row.name)))
	}
	names = min(names, cols/3)
	room := max(cols-names-3, 10)
	fmt.Fprintln(w, oneLine(t.title))
	for _, row := range t.rows {
		name := displaywidth.TruncateString(oneLine(row.name), names, "…")
		cells, paints := make([]rune, room), make([]string, room)
		for i := range cells {
			cells[i] = ' '
		}
		for _, b := range row.bars {
			first, last := t.at(b.from, room), t.at(b.to, room)
			for i := min(first, room-1); i <= min(max(first, last-1), room-1); i++ {
				cells[i], paints[i] = b.mark()
			}
		}
		var line strings.Builder
		for i := 0; i < room; {
			j := i
			for j < room && paints[j] == paints[i] {
				j++
			}
			line.WriteString(paint(string(cells[i:j]), paints[i], colors))
			i = j
		}
		fmt.Fprintf(w, "%s%s │%s\n", name, strings.Repeat(" ", names-displaywidth.String(name)), strings.TrimRight(line.String(), " "))
	}
	end := took(t.from, t.to)
	fmt.Fprintf(w, "%s └%s\n%s  0%s%s\n", strings.Repeat(" ", names), strings.Repeat("─", room), strings.Repeat(" ", names),
		strings.Repeat(" ", max(room-len(end)-1, 1)), end)
	fmt.Fprintln(w, "█ done  ▒ failed  ░ under way")
}

// at is the place of a moment among n.
func (t timeline) at(ms int64, n int) int {
	return int(min(max(ms-t.from, 0), t.to-t.from) * int64(n) / (t.to - t.from))
}

// svg draws it as a picture.
func (t timeline) svg(w io.Writer) {
	const left, wide, high, top = 160, 900, 28, 44
	tall := top + high*len(t.rows) + 30
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", left+wide+20, tall)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" fill="white"/>`+"\n"+`<text x="10" y="24" font-size="15">%s</text>`+"\n", escaped(t.title))
	for i, row := range t.rows {
		y := top + high*i
		fmt.Fprintf(w, `<text x="10" y="%d">%s</text>`+"\n", y+18, escaped(row.name))
		for _, b := range row.bars {
			x := left + t.at(b.from, wide)
			color := cmp.Or(map[string]string{api.ItemDone: "#2e9e5b", api.ItemFailed: "#d0453b"}[b.status], "#d9a520")
			fmt.Fprintf(w, `<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="%s"><title>%s (%s, %s)</title></rect>`+"\n",
				x, y+4, max(left+t.at(b.to, wide)-x, 2), high-8, color, escaped(b.title), escaped(b.status), took(b.from, b.to))
		}
	}
	y := top + high*len(t.rows)
	fmt.Fprintf(w, `<path d="M%d %d H%d" stroke="#888"/>`+"\n"+`<text x="%d" y="%d">0</text>`+"\n"+`<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n</svg>\n",
		left, y, left+wide, left, y+18, left+wide, y+18, took(t.from, t.to))
}

// escaped is text inside XML, which has no place for two characters that oneLine keeps.
func escaped(s string) string {
	return html.EscapeString(strings.NewReplacer("\ufffe", "\ufffd", "\uffff", "\ufffd").Replace(oneLine(s)))
}
