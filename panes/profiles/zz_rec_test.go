package profiles_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes/screen"
)

func TestZZRec(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("RECS"))
	names := map[string]string{"cx": "codex", "ge": "gemini", "qw": "qwen", "co": "copilot", "oc": "opencode", "cl": "claude-interactive"}
	for _, f := range files {
		data, _ := os.ReadFile(f)
		p := names[strings.Split(filepath.Base(f), "-")[1][:2]]
		if p == "" {
			p = "codex"
		}
		got := reader(t, p).Read(screen.Screen{Text: string(data)})
		fmt.Printf("%-40s %s type=%v %q in=%.40q\n", filepath.Base(f), got.State, got.MayType().Valid(), got.Ask(), got.Input)
	}
}
