package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/leadlight-dev/leadlight/teams/api"
)

// A lead's pane is narrow once its teammates stand beside it: what matters least goes
// first, and no line is broken.
func TestTablesFitTheLeadsPane(t *testing.T) {
	two := 2
	members := []api.Member{
		{Name: "security", State: api.StateActive, Kind: "worker", Profile: "shell", Task: "12", Unread: &two, TmuxPaneID: "%14", PID: 123456},
		{Name: "vet", State: api.StateLost, Kind: "plain", Profile: "exec", TmuxPaneID: "%15", Reason: "its host was killed"},
	}
	tasks := []api.Task{{ID: "1", Status: "in_progress", Owner: "security", BlockedBy: []string{"2", "3"}, Subject: "Look for injection and path traversal"}}
	for _, tc := range []struct {
		cols int
		want string // the heads of ps
	}{
		{30, "NAME STATE REASON"},
		{45, "NAME STATE TASK UNREAD REASON"},
		{60, "NAME STATE TASK UNREAD PANE ACTIVE REASON"},
		{0, "NAME STATE KIND PROFILE TASK UNREAD PANE PID ACTIVE REASON"},
	} {
		for _, table := range []*table{memberRows(members), taskRows(tasks)} {
			var b bytes.Buffer
			table.write(&b, tc.cols, false)
			for line := range strings.Lines(b.String()) {
				if n := displaywidth.String(strings.TrimSuffix(line, "\n")); tc.cols > 0 && n > tc.cols {
					t.Errorf("%d columns of %d: %q", n, tc.cols, line)
				}
			}
			head, _, _ := strings.Cut(b.String(), "\n")
			if got := strings.Join(strings.Fields(head), " "); strings.HasPrefix(got, "NAME") && got != tc.want {
				t.Errorf("%d columns: %q, want %q", tc.cols, got, tc.want)
			}
		}
	}
}

// TestXD11_TimesAreLocalAndShort: a person reads a time of here, without what is plain.
func TestXD11_TimesAreLocalAndShort(t *testing.T) {
	now := time.Date(2026, 11, 29, 13, 4, 5, 0, time.Local)
	for at, want := range map[time.Time]string{
		now.Add(-time.Hour).UTC(): "12:04:05", now.AddDate(0, 0, -1): "28 Nov 13:04", now.AddDate(-1, 0, 0): "29 Nov 2025 13:04",
	} {
		if got := localTime(at, now); got != want {
			t.Errorf("%s is shown as %s, want %s", at, got, want)
		}
	}
	if got := sentAt(api.Message{Timestamp: "yesterday"}); got != "yesterday" {
		t.Errorf("%q", got)
	}
}

// TestANameOfAnotherProgramKeepsTheTable: a name that no verb takes, such as one of a damaged
// roster, is cut, so that the other rows can be read.
func TestANameOfAnotherProgramKeepsTheTable(t *testing.T) {
	var b strings.Builder
	a := newApp(Stdio{In: strings.NewReader(""), Out: &b, Err: &b}, nil)
	a.memberTable(&b, []api.Member{{Name: "bob"}, {Name: strings.Repeat("x", 5000)}})
	for line := range strings.Lines(b.String()) {
		if len(line) > 300 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestLinesOfSeveralStandBelowEachOther(t *testing.T) {
	for name, want := range map[string]string{"ab": "ab   | ", "日本": "日本 | "} {
		if got := (&app{}).prefix(name, []string{"ab", "日本"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	text := "Bring the team of the file to what the file says, and follow it until every task\nis completed.\n\nFlags:\n" +
		"      --dry-run    check everything, say what would be added, and do nothing\n"
	want := "Bring the team of the file to what the file says,\nand follow it until every task is completed.\n\nFlags:\n" +
		"      --dry-run    check everything, say what would\n                   be added, and do nothing\n"
	if got := folded(text, 52); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	table := fmt.Sprintf("  %-40sthe name\n  %-40swhat follows is too long for the line\n", "name", "….db")
	want = fmt.Sprintf("  %-26sthe name\n  %-26swhat follows is too long\n%28sfor the line\n", "name", "….db", "")
	if got := folded(table, 52); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if folded(text, 0) != text {
		t.Error("a file is no terminal")
	}
}
