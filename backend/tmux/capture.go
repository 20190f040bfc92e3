package tmux

import (
	"context"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
)

// Capture returns the text the pane shows, or, with lines > 0, that many last lines of
// it and of what scrolled away. Lines that tmux wrapped are joined, empty lines at the
// end left out.
func (b *Backend) Capture(ctx context.Context, id backend.ID, lines int, ansi bool) (string, error) {
	if err := checkPane(id); err != nil {
		return "", err
	}
	c := command{"capture-pane", "-p", "-J", "-t", string(id)}
	if ansi {
		c = append(c, "-e")
	}
	if lines > 0 {
		c = append(c, "-S", "-"+strconv.Itoa(lines))
	}
	out, err := b.run(ctx, c)
	if err != nil {
		return "", gone(id, err)
	}
	return lastLines(out, lines), nil
}

func lastLines(text string, n int) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ") // -J keeps them
	}
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	if n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}
