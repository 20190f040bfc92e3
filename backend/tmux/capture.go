package tmux

import (
	"context"
	"strconv"
	"strings"

	"github.com/leadlight-dev/leadlight/backend"
)

// Capture returns the text the pane shows, or, with lines > 0, that many last lines of
// it and of what scrolled away. Lines that tmux wrapped are joined, empty lines at the
// end left out. In a dead pane tmux has scrolled by one line, and says in the last one that
// the pane is dead: the first line is told too, and the empty ones before the last are not.
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
	} else {
		alive := strings.Join(c, " ")
		c = command{"if-shell", "-F", "-t", string(id), "#{pane_dead}", alive + " -S -1", alive}
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
	all = withoutEnd(all)
	if last := len(all) - 1; last > 0 && strings.HasPrefix(all[last], "Pane is dead") {
		all = append(withoutEnd(all[:last]), all[last])
	}
	if n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}

// withoutEnd leaves out the empty lines at the end.
func withoutEnd(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
