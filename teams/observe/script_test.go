package observe

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var rewrite = flag.Bool("rewrite", false, "write what was observed into testdata/observe")

const uncut = "the last line has no line end"

// observed runs one stream and returns what was written, and the warnings.
func observed(t *testing.T, stream []byte, emit Emit) (out, warnings string) {
	t.Helper()
	var o, w bytes.Buffer
	err := Run(context.Background(), Options{In: bytes.NewReader(stream), Out: &o, Warn: &w, Emit: emit, Debug: true})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return o.String(), w.String()
}

// archive returns a sample of testdata/observe and the stream in it.
func archive(t testing.TB, name string) (*txtar.Archive, []byte) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "observe", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	stream := section(a, "stream")
	if strings.Contains(string(a.Comment), uncut) {
		stream = bytes.TrimSuffix(stream, []byte("\n"))
	}
	return a, stream
}

func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func samples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "observe", "*.txtar"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("samples: %d, %v", len(paths), err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".txtar"))
	}
	return names
}

// TestSamples runs every stream in testdata/observe: recordings of real clients of
// both generations, and samples made after public bug reports.
func TestSamples(t *testing.T) {
	for _, name := range samples(t) {
		t.Run(name, func(t *testing.T) {
			a, stream := archive(t, name)
			got := map[string]string{}
			got["events"], got["warnings"] = observed(t, stream, EmitEvents)
			got["state"], _ = observed(t, stream, EmitState)
			if *rewrite {
				kept := []txtar.File{{Name: "stream", Data: section(a, "stream")}}
				for _, part := range []string{"events", "state", "warnings"} {
					kept = append(kept, txtar.File{Name: part, Data: []byte(got[part])})
				}
				a.Files = kept
				if err := os.WriteFile(filepath.Join("testdata", "observe", name+".txtar"), txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for part, text := range got {
				if diff := cmp.Diff(strings.Split(string(section(a, part)), "\n"), strings.Split(text, "\n")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", part, diff)
				}
			}
		})
	}
}
