package teams

import (
	"regexp"
	"sync"
)

// envelope is what begins a message of ours, and what Claude Code puts around one, also
// with characters between that are not to be seen.
var (
	envelope = lazily(`(?i)[\[［]([\s\p{Cf}]*l[\s\p{Cf}]*e[\s\p{Cf}]*a[\s\p{Cf}]*d[\s\p{Cf}]*l[\s\p{Cf}]*i[\s\p{Cf}]*g[\s\p{Cf}]*h[\s\p{Cf}]*t[\s\p{Cf}]*)[\]］]`)
	tag      = lazily(`(?i)[<＜]([\s\p{Cf}]*/?[\s\p{Cf}]*(?:teammate[-_]message|system-reminder|leadlight))`)
)

// lazily compiles a pattern at its first use: what quotes nothing does not pay for it.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Quoted is foreign text in which nothing passes for a message of its own: an envelope in
// it is visibly quoted.
func Quoted(text string) string {
	return tag().ReplaceAllString(envelope().ReplaceAllString(text, "[quoted: leadlight]"), "&lt;$1")
}
