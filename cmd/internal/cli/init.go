package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/spf13/cobra"
)

// written is the answer of init.
type written struct {
	Path string `json:"path"`
}

func initCommand(a *app, run func(context.Context, *app) error) *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Write a commented " + config.TeamFileName,
		Long: "Write a commented " + config.TeamFileName + " into this folder. One that is there is left alone.", Example: "  leadlight init && leadlight up",
		Args: takes(0, 0), ValidArgsFunction: noFiles,
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), a) },
	}
}

func runInit(_ context.Context, a *app) error {
	f, err := os.OpenFile(config.TeamFileName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usage("%s is already there", config.TeamFileName).WithHint("leadlight up runs it; move it away for a new one")
	}
	if err != nil {
		return fmt.Errorf("write the team file: %w", err)
	}
	_, err = io.Copy(f, strings.NewReader(config.Starter))
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(config.TeamFileName)
		return fmt.Errorf("write the team file: %w", err)
	}
	path, err := filepath.Abs(config.TeamFileName)
	if err != nil {
		return fmt.Errorf("find the team file: %w", err)
	}
	return a.answer(written{path}, func(io.Writer) { a.say("%s is written; leadlight up runs it", config.TeamFileName) })
}
