package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

func reading(stdin string) *app {
	return newApp(Stdio{In: strings.NewReader(stdin), Out: io.Discard, Err: io.Discard}, nil)
}

func TestText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ arg, stdin, want string }{
		{"plain", "", "plain"}, {"-", "typed\nlines\n", "typed\nlines"}, {"-", "", ""}, {"@" + file, "", "from a file\n"}, {"", "", ""},
	} {
		got, err := reading(tc.stdin).textOrFile(tc.arg, "prompt", 20)
		if err != nil || got != tc.want {
			t.Errorf("%q: %q, %v", tc.arg, got, err)
		}
	}
	if got, err := reading("").text("@bob look", "message", 20); err != nil || got != "@bob look" {
		t.Errorf("a message that begins with @: %q, %v", got, err)
	}
	exact := strings.Repeat("x", 20)
	if _, err := reading(exact+"\n").text("-", "message", 20); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	for _, tc := range []struct{ arg, stdin string }{
		{exact + "y", ""}, {"-", exact + "y"}, {"-", strings.Repeat("z", 1000)}, {"\xff", ""}, {"-", "\xff"}, {"@/no/such", ""}, {"@" + filepath.Dir(file), ""},
	} {
		if _, err := reading(tc.stdin).textOrFile(tc.arg, "prompt", 20); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%.30q with %.20q: %v", tc.arg, tc.stdin, err)
		}
	}
}

func TestEN08_VariablesAreTakenAsTheyAre(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("# comment\n\nA=1\r\nB= \"x\" ; $HOME=y\nC=\nA=2"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := newApp(Stdio{}, nil).variables(file, []string{"D=a=b;c 'd' \"e\"\nf", "A=3"})
	want := []string{"A=1", `B= "x" ; $HOME=y`, "C=", "A=2", "D=a=b;c 'd' \"e\"\nf", "A=3"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("A=1\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newApp(Stdio{}, nil).variables(file, nil); err == nil || !strings.Contains(err.Error(), file+":2:") {
		t.Errorf("the place of a mistake: %v", err)
	}
	if err := os.WriteFile(file, make([]byte, maxEnvFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newApp(Stdio{}, nil).variables(file, nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a huge file: %v", err)
	}
}

func TestMetadata(t *testing.T) {
	got, err := metadata([]string{"n=3", "s=three", "o={\"a\":[1]}", "gone=null", "e=", "q=\"3\""})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{"n": "3", "s": `"three"`, "o": `{"a":[1]}`, "gone": "null", "e": `""`, "q": `"3"`} {
		if string(got[k]) != want {
			t.Errorf("%s: %s, want %s", k, got[k], want)
		}
	}
}

func TestIDs(t *testing.T) {
	got, err := ids([]string{"1, #2", "2,30"})
	if err != nil || !slices.Equal(got, []string{"1", "2", "30"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "x", "1.5", "-1", "../1", strings.Repeat("9", 19), "1;2"} {
		if _, err := taskID(bad); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzEnvFile(f *testing.F) {
	f.Add([]byte("A=1\n# x\n\nB=2\r\n"))
	f.Add([]byte("=\n"))
	f.Add([]byte("A=\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		vars, err := parseEnv("f", data)
		if err != nil && vars != nil {
			t.Error("both a result and an error")
		}
		for _, kv := range vars {
			if checkPair(kv) != nil || strings.ContainsAny(kv, "\n\x00") {
				t.Errorf("took %q", kv)
			}
		}
	})
}
