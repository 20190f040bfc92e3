// Package shell writes command lines that a shell reads as the words they are made of.
package shell

import "strings"

const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,"

// Line is a command line of these words. tmux reads it in the same way.
func Line(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.Trim(word, safe) != "" {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}
