package hooks_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/hooks"
)

// A hook works in its folder, whatever the environment of who asks says. The hook is this
// test, run by itself and through a shell.
func TestXH02_AHookWorksInItsFolder(t *testing.T) {
	if wanted, inHook := os.LookupEnv("LL_WANTED_FOLDER"); inHook {
		wrong := map[string]string{"PWD": os.Getenv("PWD")}
		if wrong["PWD"] == wanted {
			delete(wrong, "PWD")
		}
		for _, name := range []string{"OLDPWD", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT"} {
			if value, ok := os.LookupEnv(name); ok {
				wrong[name] = value
			}
		}
		if here, err := os.Getwd(); err != nil || len(wrong) > 0 || here != wanted {
			fmt.Fprintf(os.Stderr, "it works in %s, not in %s, and has %v", here, wanted, wrong)
			os.Exit(2)
		}
		fmt.Println(`{"continue": false, "stopReason": "it works where it is to"}`)
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in := completed(t)
	args := []string{"-test.run=^TestXH02_AHookWorksInItsFolder$"}
	for name, dir := range map[string]string{"where the asker works": in.Cwd, "in a folder of its own": t.TempDir()} {
		own := dir
		if dir == in.Cwd {
			own = ""
		}
		list := append(os.Environ(), "PWD=/", "OLDPWD=/", "GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere", "GIT_INDEX_FILE=/nowhere/index",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.worktree", "GIT_CONFIG_VALUE_0=/nowhere", "LL_WANTED_FOLDER="+dir)
		for _, h := range []hooks.Hook{
			{Exec: true, Command: self, Args: args, Dir: own},
			{Command: "exec '" + self + "' " + args[0], Dir: own},
		} {
			h.Event = in.HookEventName
			a, err := hooks.Ask(t.Context(), []hooks.Hook{h}, in, list)
			if err != nil || len(a.Failures) != 0 || len(a.Objections) != 1 || !strings.Contains(a.Objections[0].Reason, "where it is to") {
				t.Errorf("%s, without a shell %v: %+v, %v", name, h.Exec, a, err)
			}
		}
	}
}
