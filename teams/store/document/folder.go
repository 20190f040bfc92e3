package document

import "strings"

// RosterFolder is the client's folder name for a roster.
func RosterFolder(name string) string {
	return strings.ToLower(strings.ReplaceAll(MailFolder(name), "_", "-"))
}

// MailFolder is the client's folder name for mail and tasks.
func MailFolder(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
}
