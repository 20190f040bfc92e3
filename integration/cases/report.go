package main

import (
	"fmt"
	"io"
	"strings"
)

// standing is how leadlight stands to one item.
type standing string

const (
	pass  standing = "PASS"
	fail  standing = "FAIL"
	later standing = "LATER"
	open  standing = "OPEN"
)

// judge gives an item the worst outcome of its proofs, and says which one it was.
func judge(it item, found proofs, results outcomes) (standing, string) {
	list := found[it.ID]
	if len(list) == 0 {
		if it.Needs != "" {
			return later, it.Needs
		}
		return open, "no test is named after it"
	}
	for _, p := range list {
		switch out := results.of(p); out {
		case "pass":
		case "":
			return fail, p.String() + " did not run"
		default:
			return fail, fmt.Sprintf("%s: %s", p, out)
		}
	}
	return pass, ""
}

// report prints one line an item and a last one with the sums. It returns false
// if something failed, or is due, weighs P0 and has no proof.
func report(w io.Writer, table string, items []item, found proofs, results outcomes) bool {
	ok := true
	count := map[standing]int{}
	for _, it := range items {
		s, why := judge(it, found, results)
		count[s]++
		if s == fail || s == open && it.Weight == "P0" {
			ok = false
		}
		weight := it.Weight + " "
		if it.Weight == "-" {
			weight = ""
		}
		if why != "" {
			why = " (" + why + ")"
		}
		fmt.Fprintf(w, "%-5s %s %s%s%s\n", s, it.ID, weight, it.Title, why)
	}
	fmt.Fprintf(w, "%s: %d pass, %d fail, %d later, %d open\n", strings.TrimSuffix(table, ".tsv"),
		count[pass], count[fail], count[later], count[open])
	return ok
}

// printProofs lists what would be run for each id.
func printProofs(w io.Writer, items []item, found proofs) {
	for _, it := range items {
		fmt.Fprintf(w, "%s\t%s\n", it.ID, it.Title)
		for _, p := range found[it.ID] {
			fmt.Fprintf(w, "\t%s\n", p)
		}
	}
}
