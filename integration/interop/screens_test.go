package interop_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/api"
)

// screensFolder names a folder for screens of the agents, for the corpus of panes/screen.
const screensFolder = "INTEROP_SCREENS"

// TestRecordScreens writes down what each agent shows when it is ready, works, holds an
// unfinished line and asks, in terminals of three sizes.
func TestRecordScreens(t *testing.T) {
	dir := os.Getenv(screensFolder)
	if dir == "" {
		t.Skip(screensFolder + " names no folder")
	}
	for _, v := range vendors() {
		for _, size := range []string{"80x24", "120x40", "200x50"} {
			t.Run(v.name+"/"+size, func(t *testing.T) {
				version, clients := installed(t, v.name)
				tr := &trial{rig: newRig(t, version, clients), vendor: v, began: time.Now(), note: func(string, string) {}}
				tr.prepare()
				tr.tmux.Run("set", "-t", tr.shell, "default-size", size)
				tr.recordScreens(filepath.Join(dir, v.name), size)
			})
		}
	}
}

func (tr *trial) recordScreens(dir, size string) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tr.t.Fatal(err)
	}
	record := func(name string) {
		text := tr.must("leadlight", "capture", "ann")
		if err := os.WriteFile(filepath.Join(dir, name+"-"+size+".txt"), []byte(text), 0o600); err != nil {
			tr.t.Error(err)
		}
	}
	tr.must("leadlight", "spawn", "ann", "--agent", tr.vendor.profile, "--placement", "window", "--prompt", sent(0), "--ready-timeout", "60s")
	if tr.asksFirst() {
		record("dialog")
		tr.must(append([]string{"leadlight", "keys", "ann"}, tr.vendor.first...)...)
	}
	tr.check("first prompt", within(2*patience, func() bool { return tr.came(0) > 0 }) && tr.rests(), tr.state())
	record("idle")
	tr.play("slow", slowly(8*time.Second, "That was slow."))
	tr.must("leadlight", "send", "ann", "PLAY:slow")
	tr.check("busy", within(patience, func() bool { return tr.isAsked() && tr.state() == api.StateActive }), tr.state())
	record("busy")
	tr.rests()
	tr.must("leadlight", "keys", "ann", "h", "a", "l", "f")
	time.Sleep(2 * time.Second) // for the agent to draw it
	record("draft")
	tr.must("leadlight", "keys", "ann", "backspace", "backspace", "backspace", "backspace")
	tr.play("touch", shell("touch asked", true), text("It is touched."))
	tr.must("leadlight", "send", "ann", "PLAY:touch")
	tr.check("asks", within(patience, func() bool { return tr.state() == api.StateWaiting }), tr.state())
	record("asks")
}
