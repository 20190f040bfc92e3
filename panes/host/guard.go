package host

import (
	"bytes"
	"strconv"

	"github.com/charmbracelet/x/vt"
)

// guard makes output harmless for the screen model, which obeys a count of a
// thousand million in good faith and for as long as that takes: counts are cut to
// what can be seen, and strings that are too long to be of use are left out.
// Sequences are passed on when they are whole.
type guard struct {
	scan scanner
	edge edge
	out  []byte
}

// counted are the final bytes of sequences whose numbers are counts and places.
const counted = "@ABCDEFGHILMPSTXZ`abdefr"

// pass gives p to the model as it may see it.
func (g *guard) pass(p []byte, model *vt.Emulator) {
	g.out = g.out[:0]
	g.scan.scan(p, func(t token) {
		if t.kind != textToken {
			g.edge.follow(t)
		}
		switch {
		case len(t.raw) >= maxSequence && t.kind != textToken: // cut: it has no end
		case t.kind == csiToken:
			g.csi(t.raw, model.Width())
		case t.kind == textToken:
			g.out = g.edge.text(model, g.out, t.raw)
		default:
			g.out = append(g.out, t.raw...)
		}
	})
	_, _ = model.Write(g.out)
}

func (g *guard) csi(raw []byte, cols int) {
	control := func(r rune) bool { return r < ' ' }
	if bytes.ContainsFunc(raw[1:], control) { // it parts no number: the model goes on with the same
		whole := []byte{raw[0]}
		for _, b := range raw[1:] {
			if control(rune(b)) {
				g.out = append(g.out, b)
			} else {
				whole = append(whole, b)
			}
		}
		raw = whole
	}
	final := raw[len(raw)-1]
	if bytes.IndexByte([]byte(counted), final) < 0 {
		g.out = append(g.out, raw...)
		return
	}
	most := mostCols
	if final == 'b' {
		most = cols
	}
	for i := 0; i < len(raw); {
		digits := 0
		for i+digits < len(raw) && raw[i+digits] >= '0' && raw[i+digits] <= '9' {
			digits++
		}
		if digits == 0 {
			g.out = append(g.out, raw[i])
			i++
			continue
		}
		n, err := strconv.Atoi(string(raw[i : i+digits]))
		if err != nil || n > most {
			n = most
		}
		g.out = strconv.AppendInt(g.out, int64(n), 10)
		i += digits
	}
}
