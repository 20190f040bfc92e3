package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/hooks"
	"github.com/leadlight-dev/leadlight/internal/files"
	"github.com/leadlight-dev/leadlight/panes"
)

// trustRecord is the file, in the state folder, that lists the folders whose hooks the
// user has allowed.
const trustRecord = "trusted.json"

// maxTrustRecord is the largest record that is read, in bytes.
const maxTrustRecord = 1 << 20

// trustHooks decides whether the hooks that a project folder brings may be run. The
// user is asked once for a folder, by Claude Code or by us; where nobody can be asked,
// they are not run, and that is said once.
func (a *app) trustHooks(project string, found []hooks.Hook) bool {
	a.trusting.Lock()
	defer a.trusting.Unlock()
	if a.trusted == nil {
		a.trusted = map[string]bool{}
	}
	if answer, known := a.trusted[project]; known {
		return answer
	}
	state := panes.StateDir(a.getenv)
	answer := hooks.ClientTrusts(a.getenv, project) || slices.Contains(trustedFolders(state), project)
	if !answer {
		answer = a.askTrust(project, found, state)
	}
	a.trusted[project] = answer
	return answer
}

// askTrust asks the user at the terminal and remembers a yes.
func (a *app) askTrust(project string, found []hooks.Hook, state string) bool {
	if a.json || !isTerminal(a.in) || !isTerminal(a.err) || a.inTeammate() {
		a.warn([]string{fmt.Sprintf("the hooks in %s are not run: nobody has said yet that this folder is trusted (run this verb at a terminal, or start Claude Code there, and answer the question)",
			filepath.Join(project, ".claude"))})
		return false
	}
	a.say("The folder %s brings hooks that run on this machine:", project)
	for _, h := range found {
		a.say("  %s: %s", h.Event, h)
	}
	fmt.Fprint(a.err, "Do you trust this folder? [y/N] ")
	line, _ := bufio.NewReader(a.in).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
		return false
	}
	if err := rememberTrust(context.Background(), state, project); err != nil {
		a.warn([]string{fmt.Sprintf("the answer is not remembered: %s", err)})
	}
	return true
}

// inTeammate tells whether an agent may be the one who answers.
func (a *app) inTeammate() bool {
	who, err := a.who()
	return err != nil || who.Teammate || a.getenv("LEADLIGHT_AGENT") != ""
}

// trustedFolders reads the record. A record that cannot be read trusts nothing.
func trustedFolders(state string) (folders []string) {
	data, err := files.ReadFile(filepath.Join(state, trustRecord), maxTrustRecord)
	if err != nil || json.Unmarshal(data, &folders) != nil {
		return nil
	}
	return folders
}

func rememberTrust(ctx context.Context, state, project string) error {
	data, err := json.MarshalIndent(append(trustedFolders(state), project), "", "  ")
	if err != nil {
		return err
	}
	dir, err := files.Open(state)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Write(ctx, trustRecord, append(data, '\n'))
}
