package teams

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// assigned are the colours we give, taken are those we accept besides: the rest
// of Claude Code's palette.
var (
	assigned = []string{"blue", "green", "yellow", "magenta", "cyan", "red"}
	taken    = []string{"purple", "orange", "pink"}
)

// leadColor is the colour of a lead whose entry has none. No teammate is given it.
const leadColor = "purple"

// checkColor says whether a colour that was asked for is one of the palette.
func checkColor(c string) error {
	all := append(slices.Clone(assigned), taken...)
	if c == "" || slices.Contains(all, c) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "%q is not a colour of the palette", store.Shown(c)).
		WithHint("the colours are: %s", strings.Join(all, ", "))
}

// pickColor returns the colour that fewest members have; among equals the name
// decides, so that a name gets the same colour in every team that is made alike.
func pickColor(name string, members []store.Member) string {
	used := map[string]int{}
	for _, m := range members {
		used[m.Color]++
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	start := int(h.Sum32() % uint32(len(assigned)))
	best := assigned[start]
	for i := range assigned {
		if c := assigned[(start+i)%len(assigned)]; used[c] < used[best] {
			best = c
		}
	}
	return best
}
