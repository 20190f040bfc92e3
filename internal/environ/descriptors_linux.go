package environ

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeRange has every descriptor from first on closed in the programs that this process
// starts; see close_range(2).
func closeRange(first uint) error {
	return unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}
