package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// versionInfo is the answer of version.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the sources had changes that are in no commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	day      string // of the commit
}

func (v versionInfo) String() string {
	s := "leadlight " + v.Version
	if v.Commit != "" {
		s += " (" + v.Commit[:min(len(v.Commit), 12)]
		if v.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return s + " " + v.Go + " " + v.Platform
}

// version reads what the Go toolchain has written into the program.
func version() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = cmp.Or(info.Main.Version, v.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "vcs.time":
			v.day, _, _ = strings.Cut(s.Value, "T")
		}
	}
	return v
}

func versionCommand(a *app) *cobra.Command { return plain(a, "version", runVersion) }

func runVersion(_ context.Context, a *app) error {
	v := version()
	return a.answer(v, nil, func(w io.Writer) { fmt.Fprintln(w, v) })
}
