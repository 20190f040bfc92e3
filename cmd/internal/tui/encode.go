package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/leadlight-dev/leadlight/panes/host"
)

// hostNames are the names that the host has for keys which are called otherwise here.
var hostNames = strings.NewReplacer("ctrl+", "ctrl-", "alt+", "alt-", "shift+", "shift-", "esc", "escape", "pgup", "pageup", "pgdown", "pagedown", "kpenter", "enter")

// encode returns the bytes that a terminal sends for a key, nil if it sends none: for text the text,
// for every other key what leadlight keys presses.
func encode(k tea.Key) []byte {
	if k.Text == "" && k.Mod&(tea.ModSuper|tea.ModMeta|tea.ModHyper) != 0 && unicode.IsPrint(k.Code) { // no letter is meant
		return nil
	}
	k.Mod &= tea.ModShift | tea.ModAlt | tea.ModCtrl
	if with := k.Mod &^ tea.ModShift; k.Text != "" && with == 0 {
		return []byte(k.Text)
	} else if k.Text != "" && with == tea.ModAlt {
		return []byte("\x1b" + k.Text)
	}
	if same, ok := map[rune]rune{'6': '^', '-': '_', '@': ' '}[k.Code]; ok && k.Mod.Contains(tea.ModCtrl) {
		k.Code = same
	}
	for _, mod := range []tea.KeyMod{k.Mod, k.Mod &^ tea.ModShift} { // shift alone changes few keys
		k.Mod, k.BaseCode = mod, 0
		if b, err := host.KeyBytes(hostNames.Replace(k.Keystroke())); err == nil {
			return b
		}
	}
	return nil
}
