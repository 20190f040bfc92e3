package host

import (
	"fmt"
	"sync"
	"time"
)

// bannerTime is how long a banner stands where nobody types.
const bannerTime = 4 * time.Second

// banner is a line over the last one of a viewer's terminal: it stands until a key is
// typed, or for a moment. Whatever the program writes is written first, and the banner
// over it again; when it goes, the host is asked for a new picture.
type banner struct {
	text string

	mu   sync.Mutex
	gone bool
}

// draw returns what shows it and leaves the cursor and its colours as they are, nil once
// it has gone.
func (b *banner) draw() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone || b.text == "" {
		return nil
	}
	return fmt.Appendf(nil, "\x1b7\x1b[999;1H\x1b[0;7m%s\x1b[0m\x1b[K\x1b8", b.text)
}

// drop takes it away: true for the first who asks.
func (b *banner) drop() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !b.gone && b.text != ""
	b.gone = true
	return first
}

// dropBanner asks for a picture without the banner, if there is one.
func (v *viewing) dropBanner() {
	if v.banner.drop() {
		_ = v.frame(frameRedraw, nil) // else the connection is over, as whoever reads sees
	}
}

// output writes what the host sent, and the banner over it where that ends between two
// characters and within no sequence.
func (v *viewing) output(p []byte) error {
	v.modes.write(p)
	if _, err := v.out.Write(p); err != nil {
		return fmt.Errorf("show the pane: %w", err)
	}
	if v.modes.scan.state != ground || begunRune(p) > 0 {
		return nil
	}
	if over := v.banner.draw(); over != nil {
		if _, err := v.out.Write(over); err != nil {
			return fmt.Errorf("show the pane: %w", err)
		}
	}
	return nil
}
