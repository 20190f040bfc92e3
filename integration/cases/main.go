// Command cases says, one line each, how leadlight stands to the acceptance cases
// (faults of programs like it, gathered from public reports) and to the checklist
// of what it was founded to do.
//
// The tables cases.tsv and checklist.tsv hold the ids, their weight, and what a
// later stage still needs. The proofs are found, not listed: a test named after an
// id (TestIB03_ReadWhileSaved, TestA18_A19_…) and a script with the id in a comment
// (# IB-03). They are run once, and every id gets the worst outcome of its proofs:
//
//	PASS  every proof passed
//	FAIL  a proof failed, was skipped or did not run
//	LATER no proof yet; the table says what it needs
//	OPEN  no proof, and no excuse
//
// It fails on any FAIL, and on an OPEN case of weight P0.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

//go:embed cases.tsv checklist.tsv
var tables embed.FS

func main() {
	list := flag.Bool("list", false, "only list the proofs of each id, run nothing")
	read := flag.Bool("read", false, "run nothing: read what go test -json prints of all tests from standard input, and fail if any has failed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	proofs := runProofs
	if *read {
		proofs = readTests
	}
	ok, err := run(ctx, *list, proofs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cases:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// runner brings the outcomes of the proofs, and tells about them meanwhile.
type runner func(ctx context.Context, root string, found proofs, narration io.Writer) (outcomes, error)

func run(ctx context.Context, list bool, proofs runner) (ok bool, err error) {
	root, err := moduleRoot()
	if err != nil {
		return false, err
	}
	found, err := discover(root)
	if err != nil {
		return false, err
	}
	var results outcomes
	if !list {
		if results, err = proofs(ctx, root, found, os.Stderr); err != nil {
			return false, err
		}
		found.drop(results)
	}
	ok = !results.failed()
	for _, name := range []string{"cases.tsv", "checklist.tsv"} {
		data, err := tables.ReadFile(name)
		if err != nil {
			return false, err
		}
		items, err := parseTable(name, string(data))
		if err != nil {
			return false, err
		}
		if list {
			printProofs(os.Stdout, items, found)
			continue
		}
		ok = report(os.Stdout, name, items, found, results) && ok
	}
	return ok, nil
}
