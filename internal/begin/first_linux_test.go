//go:build amd64 || arm64

package begin

import "testing"

func TestTextOfARecord(t *testing.T) {
	t.Parallel()
	record := []byte("{\n  \"version\": 1,\n  \"a\": \"\\\"host\\\": \\\"no\\\"\",\n  \"host\": \"yes\",\n  \"envFile\":\"/x/y\",\n  \"odd\": \"a\\u0026b\",\n  \"n\": 1,\n  \"cut\": \"abc")
	for key, want := range map[string]string{`"host":`: "yes", `"envFile":`: "/x/y", `"odd":`: "", `"n":`: "", `"cut":`: "", `"none":`: ""} {
		if got := text(record, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestNamesOfOneFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"bob": true, "a.b": true, "_x": true, "": false, ".": false, "..": false, ".x": false, "a/b": false, "../x": false, "a\x00": false} {
		if plainName(name) != want {
			t.Errorf("plainName(%q) is %v", name, !want)
		}
	}
}
