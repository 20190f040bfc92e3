package tmux

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// splitRows reads what a tmux list printed: one row a line, n fields a row, a space between
// them: no field of ours is empty or holds one. Every row
// has to have exactly n fields, else the whole answer is an error: rows that were
// dropped would look like panes that ended. An empty answer has no rows.
func splitRows(out string, n int) ([][]string, error) {
	out = strings.TrimSuffix(out, "\n")
	if out == "" {
		return nil, nil
	}
	var rows [][]string
	for line := range strings.SplitSeq(out, "\n") {
		fields := strings.Split(line, " ")
		if len(fields) != n {
			return nil, fault.New(fault.TmuxError, "tmux answered %.200q, which has %d fields instead of %d", line, len(fields), n).
				WithHint("leadlight doctor tells which tmux this is")
		}
		rows = append(rows, fields)
	}
	return rows, nil
}

// row is one pane with what we need to know about its window.
type row struct {
	backend.Pane
	border string // pane-border-status in force in the window: off, top, bottom
	saved  string // what borderOption holds: unset, off, or "" for nothing of ours
	server string // the server's version; "-": it does not tell
}

// rowFormat asks for ids, numbers and words from closed sets only. The regular
// expressions keep a foreign value of our options out of the answer, so no row
// can be broken, and no field is empty, so a space separates them safely. tmux needs 10 µs for
// each: the options of a new pane, which are not set, are not compared, nor is what tmux says itself.
//
// Each row begins with a word of ours: what a person's hooks print, whose commands run
// within our line, is no row.
const rowFormat = rowMark + "#{pane_id} #{window_id} #{session_id} #{pid} #{start_time} #{?pane_pid,#{pane_pid},0}" +
	" #{?pane_dead,1,0} #{?pane_active,1,0} #{pane_width} #{pane_height}" +
	" #{window_width} #{window_height} #{pane-border-status}" +
	" #{?" + borderOption + ",#{?#{m/r:^(unset|off)$,#{" + borderOption + "}},#{" + borderOption + "},-},-}" +
	" #{?" + markOption + ",#{?#{m/r:^[A-Za-z0-9._-]+$,#{" + markOption + "}},#{" + markOption + "},-},-}" +
	" #{?version,#{?#{m:*[!A-Za-z0-9._+~-]*,#{version}},-,#{version}},-} #{?window_zoomed_flag,#{window_layout},-}"

const (
	rowFields = 17
	rowMark   = "leadlight-row:"
)

// onlyRows drops the lines that are not rows of ours, unless none is.
func onlyRows(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if line, ours := strings.CutPrefix(line, rowMark); ours {
			b.WriteString(line)
		}
	}
	return cmp.Or(b.String(), out)
}

func parseRows(out string) ([]row, error) {
	lines, err := splitRows(onlyRows(out), rowFields)
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(lines))
	for _, f := range lines {
		r, ok := parseRow(f)
		if !ok {
			return nil, fault.New(fault.TmuxError, "tmux answered %.200q, which is not a pane", strings.Join(f, " "))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func parseRow(f []string) (row, bool) {
	ok := isPane(f[0]) && isWindow(f[1]) && strings.HasPrefix(f[2], "$")
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		ok = ok && err == nil && n >= 0
		return n
	}
	server, start := number(f[3]), number(f[4])
	r := row{border: f[12], server: f[15]}
	r.Pane = backend.Pane{
		ID: backend.ID(f[0]), Window: f[1], Session: f[2],
		Server: strconv.Itoa(server) + "." + strconv.Itoa(start),
		PID:    number(f[5]), Dead: f[6] == "1", Active: f[7] == "1",
		Width: number(f[8]), Height: number(f[9]),
		WindowWidth: number(f[10]), WindowHeight: number(f[11]),
	}
	if f[13] != "-" {
		r.saved = f[13]
	}
	r.Mark, _ = decodeMark(f[14])
	if cols, rows, found := sizeIn(f[16], r.ID); found {
		r.Width, r.Height = cols, rows
	}
	return r, ok
}

// sizeIn is the size of a pane in a layout as tmux writes it: WxH,X,Y,NUMBER for each
// pane, from 3.8 on an object. While a pane is zoomed, only there the sizes are told that it will have again.
func sizeIn(layout string, id backend.ID) (cols, rows int, ok bool) {
	if before, after, found := strings.Cut(layout, `"I":"`+string(id)+`"`); found {
		var pane struct{ W, H int }
		end, _, _ := strings.Cut(after, "}")
		err := json.Unmarshal([]byte(before[max(strings.LastIndexByte(before, '{'), 0):]+`"I":0`+end+"}"), &pane)
		return pane.W, pane.H, err == nil
	}
	words := strings.FieldsFunc(layout, func(r rune) bool { return strings.ContainsRune(",[]{}", r) })
	for i := 3; i < len(words); i++ {
		if "%"+words[i] != string(id) {
			continue
		}
		w, h, found := strings.Cut(words[i-3], "x")
		cols, cerr := strconv.Atoi(w)
		rows, rerr := strconv.Atoi(h)
		if found && cerr == nil && rerr == nil {
			return cols, rows, true
		}
	}
	return 0, 0, false
}

// find returns the row of a pane. A window linked into several sessions lists its
// panes once for each; the first one serves.
func find(rows []row, id backend.ID) (row, bool) {
	for _, r := range rows {
		if r.ID == id {
			return r, true
		}
	}
	return row{}, false
}

// panes returns the panes of the rows that keep wants, each once.
func panes(rows []row, keep func(row) bool) []backend.Pane {
	var list []backend.Pane
	seen := map[backend.ID]bool{}
	for _, r := range rows {
		if !seen[r.ID] && keep(r) {
			seen[r.ID] = true
			list = append(list, r.Pane)
		}
	}
	return list
}

// endsByManual tells whether the server ends when a window is made while window-size is manual.
func (r row) endsByManual() bool {
	v, err := ParseVersion("tmux " + r.server)
	return err == nil && v.atLeast(perBorder) && !v.atLeast(sizeless)
}

func ours(r row) bool { return r.Mark != backend.Mark{} }
