package tmux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/backend"
	"github.com/leadlight-dev/leadlight/internal/environ"
	"github.com/leadlight-dev/leadlight/internal/fault"
	"pgregory.net/rapid"
)

// table reads a tab separated file of testdata without its first line.
func table(t testing.TB, name string, columns int) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		f := strings.Split(line, "\t")
		for len(f) < columns {
			f = append(f, "")
		}
		rows = append(rows, f)
	}
	return rows[1:]
}

// https://github.com/jimeh/tmuxifier/issues/94 https://github.com/tmux/tmux/issues/1712
func TestTV01_XS38_VersionStrings(t *testing.T) {
	for _, f := range table(t, "versions.tsv", 4) {
		out, number, suffix, kind := f[0], f[1], f[2], f[3]
		v, err := ParseVersion(out + "\n")
		if strings.HasPrefix(kind, "error") {
			if !errors.Is(err, fault.BackendUnavailable) {
				t.Errorf("%q: version %v, error %v", out, v, err)
			}
			continue
		}
		want := map[string]Kind{"release": Release, "pre": Pre, "newest": Newest, "not": LookAlike, "accept": Release, "unknown:": Unknown}[strings.Fields(kind)[0]]
		if err != nil || v.Kind != want || v.Suffix != suffix {
			t.Errorf("%q: %+v, %v; want kind %s, suffix %q", out, v, err, want, suffix)
		}
		if number != "unknown" && strings.TrimSuffix(v.String(), v.Suffix) != number {
			t.Errorf("%q: number %s, want %s", out, v, number)
		}
		if old := strings.Contains(kind, "too old") || number == "3.1"; (v.check() != nil) != old {
			t.Errorf("%q: %v", out, v.check())
		} else if old && !strings.Contains(v.check().Error(), v.String()) {
			t.Errorf("%q: the refusal does not name the version: %v", out, v.check())
		}
	}
}

// Builds that print something else, and what others print beside it.
func TestTV01_BuildsAndWarnings(t *testing.T) {
	for out, want := range map[string]string{
		"tmux HEAD": "unknown HEAD", "tmux git-1a2b3c4": "unknown git-1a2b3c4", "tmux 4": "unknown 4", "tmux 3.6 (Homebrew)": "release 3.6", "tmux 3.4-0ubuntu1 (built here)": "release 3.4",
		"ERROR: ld.so: object 'x.so' cannot be preloaded: ignored.\ntmux 3.3a": "release 3.3a", "perl: warning: x\r\ntmux master\r\n": "newest master", "locale 2.1\ntmux 3.4": "release 3.4",
		"psmux 0.4.0": "look-alike psmux 0.4.0", "tmux 3.1c": "old", "usage: tmux [-2CDlNuVv]": "none", "tmux is not installed": "none", "tmux:": "none",
	} {
		v, err := ParseVersion(out)
		got := string(v.Kind) + " " + v.String()
		switch {
		case err != nil:
			got = "none"
		case v.check() != nil:
			got = "old"
		}
		if got != want {
			t.Errorf("%q: %s, want %s (%v)", out, got, want, err)
		}
	}
}

func TestVersionsCompareByNumber(t *testing.T) {
	order := []string{"tmux 1.8", "tmux 2.9a", "tmux 3.2", "tmux 3.3a", "tmux 3.9", "tmux 3.10", "tmux 10.0", "tmux master"}
	for i := 1; i < len(order); i++ {
		a, _ := ParseVersion(order[i-1])
		b, _ := ParseVersion(order[i])
		if !b.atLeast(a) || a.Major > 0 && b.Major > 0 && a.atLeast(b) {
			t.Errorf("%s and %s are in the wrong order", a, b)
		}
	}
}

// https://github.com/tmuxinator/tmuxinator/issues/109
func TestEN06_InsideIsReadFromTheRight(t *testing.T) {
	for _, f := range table(t, "tmux-env.tsv", 4) {
		in, ok, err := ParseInside(f[0])
		switch {
		case f[0] == "":
			if ok || err != nil {
				t.Errorf("no TMUX: %v, %v", ok, err)
			}
		case strings.HasPrefix(f[1], "/"):
			if want := (Inside{f[1], atoi(t, f[2])}); !ok || err != nil || in != want {
				t.Errorf("%q: %+v, %v, want %+v", f[0], in, err, want)
			}
		default:
			if ok || !errors.Is(err, fault.InvalidArgument) || fault.Of(err).Hint == "" {
				t.Errorf("%q: %+v, %v", f[0], in, err)
			}
		}
	}
}

func atoi(t *testing.T, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEN06_SocketPaths(t *testing.T) {
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if len(cwd) < 90 {
		if got, err := socketPath("s"); err != nil || got != cwd+"/s" {
			t.Errorf("relative: %q, %v", got, err)
		}
	}
	long := "/tmp/" + strings.Repeat("x", 115)
	if _, err := socketPath(long); !errors.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "120") {
		t.Errorf("120 bytes: %v", err)
	}
	if _, err := socketPath(long[:100]); err != nil {
		t.Errorf("100 bytes: %v", err)
	}
	if _, err := socketPath(""); err == nil {
		t.Error("an empty path was taken")
	}
}

// https://github.com/ms-jpq/coq_nvim/pull/618 https://github.com/Yeachan-Heo/oh-my-codex/pull/2642
func TestTV02_SampleLists(t *testing.T) {
	for _, file := range []string{"list-raw-1f.txt", "list-escaped-037.txt", "list-dead.txt", "list-locale-c.txt", "list-title-has-separator.txt"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := parseRows(string(data)); err == nil {
			t.Errorf("%s passes for a list of ours: %v", file, rows)
		}
	}
	if rows, err := parseRows(""); rows == nil || len(rows) != 0 || err != nil {
		t.Errorf("an empty answer: %v, %v", rows, err)
	}
}

const goodRow = "%5 @1 $0 4242 1795822567 77 0 1 100 50 200 50 off - 1.Yg.dA.YQ.aA 3.3a -"

func TestRowsAreReadWhole(t *testing.T) {
	rows, err := parseRows(goodRow + "\n" + strings.Replace(goodRow, "off - 1.Yg.dA.YQ.aA", "top unset -", 1) + "\n")
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	want := backend.Pane{ID: "%5", Window: "@1", Session: "$0", Server: "4242.1795822567", PID: 77, Active: true,
		Width: 100, Height: 50, WindowWidth: 200, WindowHeight: 50, Mark: backend.Mark{Base: "b", Team: "t", Agent: "a", Host: "h"}}
	if rows[0].Pane != want || rows[0].saved != "" || rows[1].saved != "unset" || rows[1].border != "top" || ours(rows[1]) {
		t.Errorf("read %+v", rows)
	}
	for layout, want := range map[string][2]int{
		"d5e8,200x50,0,0{80x50,0,0,0,119x50,81,0[119x25,81,0,5,119x24,81,26,2]}": {119, 25}, // zoomed: what it will have again
		"d5e8,200x50,0,0{80x50,5,5,0,119x50,81,0,2}":                             {100, 50},
		"5,5,5,5": {100, 50},
		`{"V":2,"L":{"t":"h","w":200,"h":50,"x":0,"y":0,"c":[{"t":"p","w":80,"h":50,"x":0,"y":0,"a":true,"i":0,"I":"%1"},{"t":"p","w":119,"h":25,"x":81,"y":0,"i":1,"I":"%5"}]}}`: {119, 25},
		`"I":"%5"`: {100, 50},
	} {
		rows, err := parseRows(strings.Replace(goodRow, "3.3a -", "3.3a "+layout, 1))
		if err != nil || rows[0].Width != want[0] || rows[0].Height != want[1] {
			t.Errorf("with the layout %s: %+v, %v", layout, rows, err)
		}
	}
	for version, ends := range map[string]bool{"3.2a": false, "3.3a": true, "3.5a": true, "3.6a": true, "3.7": false, "3.8": false, "-": false, "openbsd-7.4": false} {
		if rows, err := parseRows(strings.Replace(goodRow, "3.3a", version, 1)); err != nil || rows[0].endsByManual() != ends {
			t.Errorf("a window of a manual size ends %s: want %v, %v", version, ends, err)
		}
	}
	hooked := "a hook says so\n" + rowMark + goodRow + "\n\n" + rowMark + goodRow + "\nand again: %5 @1\n"
	if rows, err := parseRows(hooked); err != nil || len(rows) != 2 || rows[1].Pane != want {
		t.Errorf("beside the words of hooks: %+v, %v", rows, err)
	}
	if rows, err := parseRows(hooked + rowMark + "%5 @1\n"); err == nil {
		t.Errorf("a row that is cut: %+v", rows)
	}
	for i := range rowFields {
		f := strings.Fields(goodRow)
		f[i] = "x y"
		if _, err := parseRows(strings.Join(f, " ")); err == nil {
			t.Errorf("field %d with a space in it was read", i)
		}
	}
}

// https://github.com/tmux/tmux/issues/1849
func TestQU01_LastSemicolon(t *testing.T) {
	for in, want := range map[string]string{"": "", ";": `\;`, "go;": `go\;`, "a;b": "a;b", `x\;`: `x\\;`, ";;": `;\;`} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
}

// https://github.com/brizzai/fleet/pull/289
func TestEN04_EnvironmentOfTmux(t *testing.T) {
	got := environ.Server([]string{"PATH=/bin", "TMUX=/tmp/x,1,0", "TMUX_TMPDIR=/tmp", "TMUX_PANE=%1", "X=TMUX=1"})
	if want := "PATH=/bin TMUX_TMPDIR=/tmp"; strings.Join(got, " ") != want {
		t.Errorf("tmux is started with %q", got)
	}
}

func TestLinesStayWithinTheLimits(t *testing.T) {
	var groups [][]command
	for i := range 300 {
		groups = append(groups, []command{{"split-window", "-t", "%1"}, make(command, i%30), {strings.Repeat("x", i*20%5000)}})
	}
	n := 0
	for _, l := range chunk(groups) {
		var cmds []command
		for _, g := range l {
			if g[2][0] != groups[n][2][0] {
				t.Fatal("the order changed")
			}
			n++
			cmds = append(cmds, g...)
		}
		size := 0
		for _, w := range line(cmds) {
			size += len(w) + 1
		}
		if len(line(cmds)) > 1000 || size > 16300 {
			t.Errorf("a line of %d words and %d bytes", len(line(cmds)), size)
		}
	}
	if n != len(groups) || len(chunk(nil)) != 0 {
		t.Errorf("%d groups came out of %d", n, len(groups))
	}
}

func TestPI09_NamesThatTmuxTakesUnchanged(t *testing.T) {
	for in, want := range map[string]string{
		"builder": "builder", "v1.2.3": "v1_2_3", "v1.2:rc": "v1_2_rc", "研究員": "研究員", "#(id)": "__id_", "": "leadlight",
		"-rf": "rf", "=x": "_x", "$3": "_3", "a\nb": "a_b", "\xff": "_", "--": "leadlight", strings.Repeat("é", 100): strings.Repeat("é", 64),
	} {
		if got := objectName(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestTrapsByVersion(t *testing.T) {
	for _, c := range []struct{ version, system, want string }{
		{"tmux 3.2", "linux", "no-own-border paste-crash lost-exit"}, {"tmux 3.3a", "linux", "paste-crash lost-exit"},
		{"tmux 3.3a", "darwin", "paste-crash"}, {"tmux 3.5a", "linux", "lost-exit"}, {"tmux 3.6", "linux", ""}, {"tmux master", "linux", ""},
	} {
		v, err := ParseVersion(c.version)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, trap := range traps(v, c.system) {
			names = append(names, trap.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.version, c.system, got, c.want)
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, row := range table(f, "versions.tsv", 4) {
		f.Add(row[0])
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseVersion(s); err == nil && (v.Kind == "" || v.Major < 0 || v.Minor < 0) {
			t.Errorf("%q: %+v", s, v)
		}
	})
}

func FuzzParseInside(f *testing.F) {
	for _, row := range table(f, "tmux-env.tsv", 4) {
		f.Add(row[0])
	}
	f.Fuzz(func(t *testing.T, s string) {
		in, ok, err := ParseInside(s)
		if ok && (err != nil || in.PID <= 0 || !strings.HasPrefix(s, in.Socket+",") || strings.HasSuffix(s, ",")) {
			t.Errorf("%q: %+v, %v", s, in, err)
		}
	})
}

func FuzzParseRows(f *testing.F) {
	f.Add(goodRow)
	for _, name := range []string{"list-raw-1f.txt", "list-escaped-037.txt", "list-dead.txt", "list-title-has-separator.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, s string) {
		rows, err := parseRows(s)
		if err == nil && len(rows) == 0 && strings.TrimSuffix(s, "\n") != "" {
			t.Errorf("%q is taken for an empty list", s)
		}
		for _, r := range rows {
			if checkPane(r.ID) != nil || checkWindow(r.Window) != nil {
				t.Errorf("%q: %+v", s, r)
			}
		}
	})
}

func FuzzMark(f *testing.F) {
	f.Add("b", "team", "研究員", "h\n1", "1.Yg.dA.YQ.aA")
	f.Add("b", "team", "a", "h", "1.0A.0\r\r\r\rA.0A.0A")
	f.Fuzz(func(t *testing.T, base, team, agent, host, raw string) {
		m := backend.Mark{Base: base, Team: team, Agent: agent, Host: host}
		text := encodeMark(m)
		if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			t.Errorf("%q leaves the alphabet", text)
		}
		if back, ok := decodeMark(text); back != m || ok != (m != backend.Mark{}) {
			t.Errorf("%q came back as %q", m, back)
		}
		if m, ok := decodeMark(raw); ok && encodeMark(m) != raw {
			t.Errorf("%q was read as %q", raw, m)
		}
	})
}

func TestIDsAndSizes(t *testing.T) {
	for _, c := range []struct {
		what string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{"pane", isPane, []string{"%0", "%123"}, []string{"", "%", "5", "@5", "%5x", "% 5", "%5\n", "%-1", "%٣"}},
		{"window", isWindow, []string{"@0", "@99"}, []string{"", "@", "%1", "@1:", "@a"}},
	} {
		for _, s := range c.yes {
			if !c.is(s) {
				t.Errorf("%q is no %s", s, c.what)
			}
		}
		for _, s := range c.no {
			if c.is(s) {
				t.Errorf("%q is a %s", s, c.what)
			}
		}
	}
}

func TestXD02_SwapsBringPanesIntoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []backend.ID{"%0", "%1", "%2", "%3", "%4", "%5"}
		now := rapid.Permutation(ids).Draw(t, "now")
		order := append(rapid.Permutation(ids[1:]).Draw(t, "order"), "%9") // %0 is the lead's, %9 is gone
		lead := slices.Index(now, "%0")
		for _, c := range swapCommands(now, order) {
			a, b := slices.Index(now, backend.ID(c[3])), slices.Index(now, backend.ID(c[5]))
			now[a], now[b] = now[b], now[a]
		}
		if slices.Index(now, "%0") != lead {
			t.Errorf("the lead's pane has moved: %v", now)
		}
		if got := slices.Delete(slices.Clone(now), lead, lead+1); !slices.Equal(got, order[:5]) {
			t.Errorf("the panes stand as %v, want %v", got, order[:5])
		}
	})
}

// tmux has said it in three ways, and others may speak before it.
func TestLY01_TheWordsForNoSpace(t *testing.T) {
	for _, text := range []string{
		"no space for new pane", "no space for a new pane\n", "size or position no space for a new pane\n",
		"ERROR: ld.so: object 'x.so' cannot be preloaded: ignored.\nno space for new pane\n",
	} {
		err := (&Backend{}).explain(t.Context(), "split-window", &exec.ExitError{}, text, time.Second)
		if !errors.Is(err, fault.NoSpace) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
