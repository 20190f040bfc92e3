package engine

import (
	"encoding/json"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// A teammate asks other machines in its own name, whatever it says.
func TestATeammateNamesNoOtherCaller(t *testing.T) {
	for _, said := range []string{
		`{"team":"alpha"}`, `{"team":"alpha","caller":{"name":"team-lead"}}`, `{"caller":{"name":"bob","teammate":true},"Caller":{"name":"team-lead"},"team":"alpha"}`,
		`{"team":"alpha","caller":{"name":"bob"},"caller":{"name":"ann","session":true}}`, `{"team":"alpha","\u0063aller":{},"CALLER":null}`,
	} {
		got, err := inNameOf("bob", json.RawMessage(said))
		if err != nil || string(got) != `{"caller":{"name":"bob","teammate":true},"team":"alpha"}` {
			t.Errorf("%s: %s %v", said, got, err)
		}
	}
	for _, said := range []string{"", "null", "[]", `"x"`, "{"} {
		if _, err := inNameOf("bob", json.RawMessage(said)); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", said, err)
		}
	}
}
