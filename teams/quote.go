package teams

import (
	"regexp"
	"strings"
	"sync"
)

// brackets begin an envelope, and angles a tag.
const (
	brackets = `[［⟦【〔⁅❲〖⦋`
	angles   = `<＜‹〈˂`
)

// envelope is what begins a message of ours, and tag what the clients put around words
// that are not the user's, also with characters between that are not to be seen.
var (
	envelope = lazily(func() string {
		return `[\` + brackets + `]` + gap + spread("leadlight") + gap + `[\]］⟧】〕⁆❳〗⦌]`
	})
	tag = lazily(func() string {
		return `[` + angles + `]((?:` + gap + `/)?` + gap + `(?:` + words(
			"teammate-message", "cross-session-message", "system-reminder", "system-note", "task-notification", "user-prompt-submit-hook", "user-memory-input", "channel",
			"local-command-", "command-name", "command-message", "command-args", "bash-input", "bash-stdout", "bash-stderr", "subagent-hand-back", "leadlight") + `))`
	})
)

// words is a pattern of one of several words.
func words(all ...string) string {
	out := make([]string, len(all))
	for i, word := range all {
		out[i] = spread(word)
	}
	return strings.Join(out, "|")
}

// alike are letters, digits and signs that look like a letter, and - those like a hyphen.
func alike() map[rune]string {
	return map[rune]string{
		'a': "аɑα", 'b': "ЬƄ", 'c': "сϲ", 'd': "ԁ", 'e': "еҽɛ", 'g': "ɡցǥ", 'h': "һհН", 'i': "1l|!іɩι", 'j': "ј", 'k': "κк", 'l': "1i|ӏⅼǀΙІ",
		'm': "мⅿΜ", 'n': "ոп", 'o': "0оοօ", 'p': "рρ", 'r': "гᴦ", 's': "ѕ5", 't': "тτ", 'u': "սυ", 'v': "ѵν", 'w': "ѡԝ", 'x': "хχ", 'y': "уγ", '-': `_‐‑‒–—−`,
	}
}

// gap are the characters that take no place on a screen, and blanks.
const gap = `[\s\p{C}\p{Z}\p{M}\x{115F}\x{1160}\x{3164}\x{FFA0}]*`

// spread is a pattern of a word whose letters may stand apart by such characters, or be
// others that look like them: of another script, wide, or of mathematics.
func spread(word string) string {
	var out []string
	for _, c := range word {
		class := string(c) + alike()[c]
		if c != '-' {
			class += string(c-'a'+'ａ') + `\x{1D400}-\x{1D7FF}`
		} else {
			class = `\-` + alike()[c]
		}
		out = append(out, "["+class+"]")
	}
	return strings.Join(out, gap)
}

// lazily makes and compiles a pattern at its first use: what quotes nothing does not pay for it.
func lazily(pattern func() string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern()) })
}

// Quoted is foreign text in which nothing passes for a message of its own: an envelope in
// it is visibly quoted.
func Quoted(text string) string {
	if strings.ContainsAny(text, brackets) {
		text = envelope().ReplaceAllString(text, "[quoted: leadlight]")
	}
	if strings.ContainsAny(text, angles) {
		text = tag().ReplaceAllString(text, "&lt;$1")
	}
	return text
}
