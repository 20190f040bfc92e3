package host

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestReleaseProgram: the pages of this program's file are given back, and it goes on.
func TestReleaseProgram(t *testing.T) {
	before := residentFile(t)
	if err := releaseProgram(); err != nil {
		t.Fatal(err)
	}
	if after := residentFile(t); after > before*3/4 {
		t.Errorf("of %d KiB of files %d are still resident", before, after)
	}
}

// residentFile is what is resident of files in this process, in KiB.
func residentFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("RssFile:")); ok {
			kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Skip("this kernel does not tell what is resident of files")
	return 0
}

const smapsText = `00400000-00c00000 r-xp 00000000 fe:00 123                    /opt/two words/leadlight
Size:               8192 kB
Anonymous:             0 kB
Swap:                  0 kB
00c00000-01400000 r--p 00800000 fe:00 123                    /opt/two words/leadlight
Anonymous:             4 kB
Swap:                  0 kB
01400000-01500000 r--p 01000000 fe:00 123                    /opt/two words/leadlight
Anonymous:             0 kB
Swap:                  0 kB
01500000-01600000 rw-p 01100000 fe:00 123                    /opt/two words/leadlight
Anonymous:             0 kB
Swap:                  0 kB
01600000-01700000 rw-p 00000000 00:00 0
Anonymous:             0 kB
Swap:                  0 kB
01700000-01800000 r--p 01200000 fe:00 123                    /opt/two words/leadlight
Anonymous:             0 kB
Swap:                  4 kB
01800000-01900000 r--p 01300000 fe:00 123                    /opt/two words/leadlight
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 124            /usr/lib/libc.so.6
Anonymous:             0 kB
Swap:                  0 kB
`

// TestUntouched: neither what can be written to, nor what holds pages of the process's
// own, resident or swapped out or untold, nor other files are released.
func TestUntouched(t *testing.T) {
	want := []mapping{{0x400000, 0xc00000}, {0x1400000, 0x1500000}}
	if got := untouched(strings.NewReader(smapsText), "/opt/two words/leadlight"); !slices.Equal(got, want) {
		t.Errorf("released: %x, want %x", got, want)
	}
}

// FuzzUntouched: whatever the text, only ranges come out of it.
func FuzzUntouched(f *testing.F) {
	f.Add([]byte(smapsText))
	f.Add([]byte("f-1 r-xp 0 0 0 a\nAnonymous: 0 kB\nSwap: 0 kB\n0-zz r-xp 0 0 0 a\nAnonymous: 0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range untouched(bytes.NewReader(text), "a") {
			if m.start >= m.end {
				t.Errorf("from %x to %x", m.start, m.end)
			}
		}
	})
}
