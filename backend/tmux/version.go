package tmux

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Kind tells what answered to "tmux -V".
type Kind string

// The kinds.
const (
	Release   Kind = "release"
	Pre       Kind = "pre"        // next-3.4, 3.3-rc: counts as its number
	Newest    Kind = "newest"     // master, openbsd-7.5: no number, taken for the newest
	Unknown   Kind = "unknown"    // a build of tmux that tells no number: asked for its commands, and then as Newest
	LookAlike Kind = "look-alike" // another program that takes tmux's commands, and is asked for them
)

// Version is a tmux version.
type Version struct {
	Major, Minor int    // 0, 0: not known (Newest)
	Patch        int    // of look-alikes only; tmux has none
	Suffix       string // a, rc2, ...
	Kind         Kind
	Text         string // as printed
}

// Versions at which something we do begins.
var (
	floor     = Version{Major: 3, Minor: 2, Kind: Release} // pane options, remain-on-exit failed, main-pane-width N%
	perBorder = Version{Major: 3, Minor: 3, Kind: Release} // pane-border-format on one pane; a window of a manual size ends the server
	sizeless  = Version{Major: 3, Minor: 7, Kind: Release} // it no longer does
)

// String returns the number as people write it, or the text if there is none.
func (v Version) String() string {
	if v.Major == 0 {
		return strings.TrimPrefix(v.Text, "tmux ")
	}
	number := strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor)
	if v.Patch > 0 {
		number += "." + strconv.Itoa(v.Patch)
	}
	return number + v.Suffix
}

// atLeast compares numbers, so 3.10 is newer than 3.9. A build without a number is
// the newest.
func (v Version) atLeast(w Version) bool {
	if v.Kind == Newest || v.Kind == Unknown {
		return true
	}
	return v.Major > w.Major || v.Major == w.Major && v.Minor >= w.Minor
}

// versionForm is compiled when it is needed, once in a run at most.
var versionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\S+) (?:(next)-)?v?([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?(?:-?(rc[0-9]*)|([a-z]))?(?:[-+~_.][0-9A-Za-z.+~_-]*)?(?: \(.*\))?$`)
})

// ParseVersion reads what "tmux -V" printed. What else stands there, such as a warning of
// the system, is passed over.
func ParseVersion(out string) (Version, error) {
	text, found := strings.TrimSpace(out), Version{}
	for line := range strings.Lines(text) {
		v := versionIn(strings.TrimSpace(line))
		if found.Kind == "" || v.Kind != "" && v.Kind != LookAlike && v.Kind != Unknown {
			found = v
		}
	}
	switch {
	case found.Kind != "":
		return found, nil
	case text == "":
		return Version{}, fault.New(fault.BackendUnavailable, "tmux printed no version").
			WithHint("tmux -V should print something like tmux 3.4")
	}
	return Version{}, fault.New(fault.BackendUnavailable, "the program tmux does not tell a version of tmux: %.100q", text).
		WithHint("it may be another program, or older than 1.5; leadlight needs tmux %s or newer", floor)
}

// versionIn reads one line; its Kind is "" if no version stands there.
func versionIn(text string) Version {
	program, rest, _ := strings.Cut(text, " ")
	program = strings.ToLower(program)
	if m := versionForm().FindStringSubmatch(text); m != nil {
		v := Version{Suffix: m[6] + m[7], Kind: Release, Text: text}
		v.Major, _ = strconv.Atoi(m[3])
		v.Minor, _ = strconv.Atoi(m[4])
		v.Patch, _ = strconv.Atoi(m[5])
		switch {
		case program != "tmux" && program != "byobu-tmux":
			v.Kind = LookAlike
		case m[2] != "" || m[6] != "":
			v.Kind = Pre
		}
		return v
	}
	switch {
	case program != "tmux" || rest == "" || strings.Contains(rest, " "):
		return Version{}
	case rest == "master" || strings.HasPrefix(rest, "openbsd-"):
		return Version{Kind: Newest, Text: text}
	}
	return Version{Kind: Unknown, Text: text}
}

// check refuses what is older than the floor. The number of another program says nothing.
func (v Version) check() error {
	if v.Kind == LookAlike || v.atLeast(floor) {
		return nil
	}
	return fault.New(fault.BackendUnavailable, "tmux %s is too old: %s or newer is needed", v, floor).
		WithHint("upgrade tmux, or choose another backend with --backend")
}
