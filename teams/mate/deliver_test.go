package mate

import (
	"slices"
	"strings"
	"testing"

	"github.com/leadlight-dev/leadlight/panes/profiles"
	"github.com/leadlight-dev/leadlight/teams/api"
	"github.com/leadlight-dev/leadlight/teams/store"
)

func TestIB12_IdleNoticesCollapse(t *testing.T) {
	idle := func(id, from string) api.Message {
		return api.Message{ID: id, From: from, Type: store.IdleNotification}
	}
	got := collapse([]api.Message{
		idle("1", "bob"), idle("2", "bob"), idle("3", "ann"), {ID: "4", From: "bob"}, idle("5", "bob"), idle("6", "bob"),
	})
	var ids []string
	for _, b := range got {
		ids = append(ids, strings.Join(b.ids, "+"))
		if b.ID != b.ids[len(b.ids)-1] {
			t.Errorf("of %v, %s is shown, want the last", b.ids, b.ID)
		}
	}
	if want := []string{"1+2", "3", "4", "5+6"}; !slices.Equal(ids, want) {
		t.Errorf("delivered together: %v, want %v", ids, want)
	}
}

func TestWhatTheScreenSays(t *testing.T) {
	if _, err := newLook(nil, profiles.Manner{Ready: []string{"("}}); err == nil {
		t.Error("a pattern that is none was taken")
	}
	screen := []string{"│ > what was typed │", "╰────╯", "   ", ""}
	if got := lastText(screen); !strings.Contains(got, "what was typed") {
		t.Errorf("the input line is %q", got)
	}
	if n := longest("ab\nabcd\n"); n != 4 {
		t.Errorf("the longest line has %d bytes", n)
	}
}

// A sender that is not what it says is shown as such.
func TestHeaderShowsForgery(t *testing.T) {
	if got := header(api.Message{From: "bob", Note: "not from the lead"}); !strings.Contains(got, "bob (not from the lead)") {
		t.Errorf("%q", got)
	}
}
