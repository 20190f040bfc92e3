package teams

import (
	"regexp"
	"strings"
	"sync"
)

// envelope is what begins a message of ours, and tag what the clients put around words
// that are not the user's, also with characters between that are not to be seen.
var (
	envelope = lazily(`[\[［⟦【〔]` + gap + spread("leadlight") + gap + `[\]］⟧】〕]`)
	tag      = lazily(`[<＜‹〈]((?:` + gap + `/)?` + gap + `(?:` + spread("teammate") + gap + `[-_]` + gap + spread("message") + `|` +
		spread("system-reminder") + `|` + spread("task-notification") + `|` + spread("cross-session-message") + `|` + spread("leadlight") + `))`)
)

// gap are the characters that take no place on a screen, and blanks.
const gap = `[\s\p{C}\p{Z}\p{M}\x{115F}\x{1160}\x{3164}\x{FFA0}]*`

// spread is a pattern of a word whose letters may stand apart by such characters.
func spread(word string) string { return strings.Join(strings.Split(word, ""), gap) }

// lazily compiles a pattern at its first use: what quotes nothing does not pay for it.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) })
}

// Quoted is foreign text in which nothing passes for a message of its own: an envelope in
// it is visibly quoted.
func Quoted(text string) string {
	return tag().ReplaceAllString(envelope().ReplaceAllString(text, "[quoted: leadlight]"), "&lt;$1")
}
