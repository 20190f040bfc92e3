package exetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// TestWhatIsWrittenCanBeRun writes and runs programs while other processes begin.
func TestWhatIsWrittenCanBeRun(t *testing.T) {
	t.Parallel()
	whole, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				path := filepath.Join(dir, strconv.Itoa(i)+"-"+strconv.Itoa(j))
				if err := Write(path, content); err != nil {
					t.Error(err)
				} else if err := exec.Command(path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
