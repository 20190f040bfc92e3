package backend

import "strings"

// Between stands between a program that reaches a terminal and that terminal, in what panes
// are found again by.
const Between = "::"

// ParseAddress takes apart what a backend in a program of its own is found by: the
// program, and which of several terminals it is to reach, "" if it finds one itself.
func ParseAddress(address string) (program, terminal string) {
	if i := strings.LastIndex(address, Between); i > 0 {
		return address[:i], address[i+len(Between):]
	}
	return address, ""
}
