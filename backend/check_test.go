package backend

import "testing"

func TestMainPane(t *testing.T) {
	for main, want := range map[string]int{"": 0, "1": 1, "9999": 9999, "40%": 80, "99%": 198} {
		l := Layout{Kind: MainVertical, Main: main}
		if err := CheckLayout(l); err != nil || l.MainCells(200) != want {
			t.Errorf("%q is %d of 200 cells: %v", main, l.MainCells(200), err)
		}
	}
	for _, main := range []string{"%", "0", "0%", "100%", "40%%", "-1", "+1", "4 0", "1.5", "40%; kill-server", "65536"} {
		if CheckLayout(Layout{Kind: MainVertical, Main: main}) == nil {
			t.Errorf("%q is taken for a size", main)
		}
	}
}
