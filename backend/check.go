package backend

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Check refuses what no terminal could open, or would open wrongly and call it a
// success: i is the place of s in its batch. It returns the absolute path of the
// program. fault.InvalidArgument, fault.PermissionDenied, fault.ProgramNotFound.
func Check(i int, s Spec) (program string, err error) {
	switch {
	case s.Chain < 0 || s.Chain > i:
		return "", fault.New(fault.InvalidArgument, "pane %d of the batch hangs on a pane %d before it, which there is not", i, s.Chain)
	case !slices.Contains([]Place{Split, Window, Session}, s.Place):
		return "", fault.New(fault.InvalidArgument, "there is no place %q for a pane", string(s.Place))
	}
	if err := checkDir(s.Dir); err != nil {
		return "", err
	}
	return checkArgv(s.Argv)
}

// CheckLayout refuses an arrangement that does not exist, or a size of the main pane
// that is no size: fault.InvalidArgument.
func CheckLayout(l Layout) error {
	if !slices.Contains([]LayoutKind{MainVertical, Tiled, Even, None}, l.Kind) || l.Main != "" && !IsMain(l.Main) {
		return fault.New(fault.InvalidArgument, "there is no arrangement %q with a main pane of %q", string(l.Kind), l.Main)
	}
	return nil
}

// IsMain tells whether s is a size of a main pane: a share such as 40%, or cells.
func IsMain(s string) bool {
	digits, share := strings.CutSuffix(s, "%")
	n, err := strconv.ParseUint(digits, 10, 16)
	return err == nil && n > 0 && (!share || n < 100)
}

// MainCells is the size of the main pane, of so many cells in all; 0 if the layout names none.
func (l Layout) MainCells(whole int) int {
	digits, share := strings.CutSuffix(l.Main, "%")
	n, _ := strconv.Atoi(digits)
	if share {
		return whole * n / 100
	}
	return n
}

// checkDir refuses a folder that a terminal could not enter: it would start the
// program somewhere else and report success.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fault.New(fault.InvalidArgument, "the folder %q of a pane is not absolute", dir)
	}
	if info, err := os.Stat(dir); err != nil {
		return fault.New(fault.InvalidArgument, "the folder of a pane: %w", err)
	} else if !info.IsDir() {
		return fault.New(fault.InvalidArgument, "the folder of a pane, %s, is not a folder", dir)
	}
	if err := unix.Access(dir, unix.X_OK); err != nil {
		return fault.New(fault.PermissionDenied, "enter the folder of a pane, %s: %w", dir, err).
			WithHint("check the owner and the mode of that folder and of those above it")
	}
	return nil
}

// checkArgv refuses what would be run through a shell (one word) or cannot be passed
// on, and looks the program up.
func checkArgv(argv []string) (program string, err error) {
	if len(argv) < 2 {
		return "", fault.New(fault.InvalidArgument, "a pane's command needs a program and at least one argument, got %q", argv)
	}
	for _, w := range argv {
		if strings.ContainsRune(w, 0) {
			return "", fault.New(fault.InvalidArgument, "a word of a pane's command, %q, holds a NUL byte", w)
		}
	}
	if program, err = exec.LookPath(argv[0]); err == nil {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return "", fault.New(fault.ProgramNotFound, "a pane's program: %w", err)
	}
	return program, nil
}
