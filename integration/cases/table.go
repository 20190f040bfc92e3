package main

import (
	"fmt"
	"regexp"
	"strings"
)

// item is one line of a table.
type item struct {
	ID     string // SP-01, A-07
	Weight string // P0, P1, P2, or "-"
	Needs  string // what a later stage must bring first; "" = it is due now
	Title  string // what must hold

	// Headless is, of an acceptance case, whether it is also tried with teammates that
	// have no terminal: Both, or why there is nothing to be tried.
	Headless string
}

// Both says that proofs of a case run in tmux and without a terminal.
const Both = "both"

var idForm = regexp.MustCompile(`^[A-Z]{1,2}-[0-9]{2}$`)

// parseTable reads tab-separated lines of id, weight, stage, title and, in the table of
// cases, what holds without a terminal; lines that begin with # are comments.
func parseTable(name, text string) ([]item, error) {
	var items []item
	seen := map[string]bool{}
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) == 4 {
			f = append(f, "")
		}
		if len(f) != 5 || !idForm.MatchString(f[0]) || f[3] == "" {
			return nil, fmt.Errorf("%s:%d: want id, weight, stage, title and maybe headless", name, n+1)
		}
		if seen[f[0]] {
			return nil, fmt.Errorf("%s:%d: %s stands there twice", name, n+1, f[0])
		}
		seen[f[0]] = true
		it := item{ID: f[0], Weight: f[1], Title: f[3], Headless: f[4]}
		if f[2] != "now" {
			it.Needs = f[2]
		}
		items = append(items, it)
	}
	return items, nil
}
