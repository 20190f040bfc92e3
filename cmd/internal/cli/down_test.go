package cli

import (
	"os"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/internal/fault"
)

// TestTheFilesLimitsHoldAtTheEnd: in the folder of a team's file, down and stop give its
// members the time that the file says, unless they are about another team.
func TestTheFilesLimitsHoldAtTheEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	file := "team: redo\nmembers: [{name: ann, run: 'true'}]\nlifecycle: {ask: 3s}\n"
	if err := os.WriteFile(config.TeamFileName, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		what, positional, flag, variable string
		want                             time.Duration
	}{
		{what: "no team is named", want: 3 * time.Second},
		{what: "its team is named", positional: "redo", want: 3 * time.Second},
		{what: "another is named", positional: "other", want: 30 * time.Second},
		{what: "another by its flag", flag: "other", want: 30 * time.Second},
		{what: "another by its variable", variable: "other", want: 30 * time.Second},
	} {
		a := &app{flags: map[string]string{}, environ: []string{"HOME=" + t.TempDir(), "LEADLIGHT_TEAM=" + tc.variable}}
		if tc.flag != "" {
			a.flags["team"] = tc.flag
		}
		a.ofFile(tc.positional)
		s, err := a.set(nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Ask.V != tc.want {
			t.Errorf("%s: %s, not %s", tc.what, s.Ask.V, tc.want)
		}
	}
}

// TestXH07_ATeamFileThatCannotBeRead: where the folder's team file leads nowhere, down picks no
// other team.
func TestXH07_ATeamFileThatCannotBeRead(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Symlink("gone.yaml", config.TeamFileName); err != nil {
		t.Fatal(err)
	}
	a := &app{flags: map[string]string{}, environ: []string{"HOME=" + t.TempDir()}}
	if _, team, err := a.teamToEnd(t.Context(), ""); fault.CodeOf(err) != fault.TeamFile {
		t.Errorf("team %q, %v", team, err)
	}
}
