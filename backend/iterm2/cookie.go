package iterm2

import (
	"bytes"
	"context"
	"os/exec"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/oneshot"
)

// askScript is what osascript is told. The first time, macOS asks the person whether this
// terminal may control iTerm2.
const askScript = `tell application "iTerm2" to request cookie and key for app named "leadlight"`

// AskByScript asks iTerm2 for a cookie by AppleScript.
func AskByScript(ctx context.Context) (cookie, key string, err error) {
	return askBy(ctx, "osascript")
}

func askBy(ctx context.Context, program string) (cookie, key string, err error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, program, "-e", askScript)
	c.Stdout, c.Stderr = &out, &errs
	if err := oneshot.Run(c); err != nil {
		if ctx.Err() != nil {
			return "", "", fault.New(fault.BackendUnavailable, "%s was asked for a cookie: %w", program, context.Cause(ctx)).WithHint("%s", automation)
		}
		return "", "", fault.New(fault.BackendUnavailable, "%s was asked for a cookie: %w%s", program, err, said(errs.Bytes())).WithHint("%s", automation)
	}
	words := strings.Fields(out.String())
	if len(words) != 2 {
		return "", "", fault.New(fault.BackendUnavailable, "%s gave no cookie but %q", program, clean(out.Bytes())).WithHint("%s", automation)
	}
	return words[0], words[1], nil
}

const automation = "let this terminal control iTerm2 (System Settings, Privacy & Security, Automation), and enable iTerm2's Python API (Settings, General, Magic)"
