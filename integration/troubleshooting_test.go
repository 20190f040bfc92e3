package integration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestHouseTroubleshooting: whoever looks a code up finds what to do.
func TestHouseTroubleshooting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range fault.Table() {
		for _, code := range g.Codes {
			if !strings.Contains(string(page), "`"+string(code)+"`") {
				t.Errorf("docs/troubleshooting.md says nothing about %s", code)
			}
		}
	}
}
