package store_test

import (
	"os"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestSE01_UX06_Names holds CheckMember to the table of names: a row is ok,
// ok with a word on what it is the same as, or refused.
func TestSE01_UX06_Names(t *testing.T) {
	data, err := os.ReadFile("testdata/names.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimRight(string(data), "\n"), "\n")[1:]
	if len(rows) < 25 {
		t.Fatalf("%d rows", len(rows))
	}
	stems := map[string]int{}
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		if len(cells) != 4 {
			t.Fatalf("row %q", row)
		}
		name := strings.NewReplacer(`\0`, "\x00", `\n`, "\n").Replace(cells[0])
		verdict := cells[1]
		got, err := store.CheckMember(name)
		switch {
		case strings.HasPrefix(verdict, "ok or refuse"):
			// Either will do, but the same everywhere: here.
			if _, err2 := store.CheckAddress(name); (err == nil) != (err2 == nil) {
				t.Errorf("%q: %v as a member, %v as an address", name, err, err2)
			}
		case strings.HasPrefix(verdict, "refuse"):
			if fault.CodeOf(err) != fault.InvalidName {
				t.Errorf("%q is taken as %q, %v: %s", name, got, err, verdict)
			}
		default:
			if err != nil {
				t.Errorf("%q is refused: %v", name, err)
			}
			stems[got]++
			if stem, _, _ := strings.Cut(cells[2], " "); stem != "same" && stem != got && verdict != "ok as member" {
				t.Errorf("%q becomes %q, want %q", name, got, stem)
			}
		}
	}
	if stems["caf\u00e9"] != 2 || stems["研究員"] != 1 || stems["工程師"] != 1 {
		t.Errorf("members: %v", stems)
	}
}

func TestTeamNames(t *testing.T) {
	for name, want := range map[string][2]bool{ // may be created, may be read
		"code-review": {true, true}, "abc": {true, true}, "a1-b2": {true, true}, strings.Repeat("x", 64): {true, true},
		"ab": {false, true}, strings.Repeat("x", 65): {false, true}, "Alpha_Team": {false, true}, "équipe-β": {false, true}, "a b": {false, true},
		"a--b": {false, true}, "-a": {false, false}, ".a": {false, false}, "..": {false, false}, "a/b": {false, false}, `a\b`: {false, false},
		"": {false, false}, " ": {false, false}, "a\x00": {false, false}, "\xff": {false, false}, strings.Repeat("x", 256): {false, false},
	} {
		if err := store.CheckNewTeam(name); (err == nil) != want[0] {
			t.Errorf("create %q: %v", name, err)
		}
		if err := store.CheckTeam(name); (err == nil) != want[1] {
			t.Errorf("read %q: %v", name, err)
		}
	}
}

// https://github.com/NanmiCoder/dsh-agent-teams/issues/15
func TestSE10_ReservedNames(t *testing.T) {
	for _, name := range []string{"team-lead", "Team-Lead", "MAIN", "user", "System", "*"} {
		if _, err := store.CheckMember(name); fault.CodeOf(err) != fault.InvalidName {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got, err := store.CheckAddress(store.Lead); got != store.Lead || err != nil {
		t.Errorf("the lead has no address: %v", err)
	}
}

func TestShownIsFitForAMessage(t *testing.T) {
	for in, want := range map[string]string{
		"bob": "bob", "a\x1b[2Jb\n": "a\ufffd[2Jb\ufffd", "\xff": "\ufffd", strings.Repeat("ü", 100): strings.Repeat("ü", 79) + "…",
	} {
		if got := store.Shown(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

// TestWhatIsNewIsNotBlank: text of code points that the tables do not have, as those of
// newer scripts and of icon fonts, is text.
func TestWhatIsNewIsNotBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \t\r\n": true, "\u00a0\u2003\u3000": true, "\u200b\u2060\ufeff\u00ad": true, "\u202e\u2066\u2028\u2029": true,
		"\u2800\u3164\uffa0\u115f\u1160": true, "\x00\x1b\u0085": true, "\U000e0041": true, "\u034f\ufe0f": true,
		"x": false, " . ": false, "\U0001f680": false, "\u0301": false, "\xff": false,
		"\u0378": false, "\U0001fbff": false, "\U0003fffd": false, "\ue0b0": false, "\U000f0000": false,
	} {
		if got := store.Blank(text); got != want {
			t.Errorf("%q: blank is %v", text, got)
		}
	}
}
