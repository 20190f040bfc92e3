package wire_test

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/backend/iterm2/wire"
)

// The bytes were put together by hand from the rules of the encoding: a tag is the field
// number times eight plus the wire type, in seven-bit groups, the lowest first.
func TestGoldenBytes(t *testing.T) {
	no := "no"
	for _, tc := range []struct {
		name    string
		message any
		want    string // hex
	}{
		{"an empty message is there", &wire.Request{ID: 1, ListSessions: &wire.Empty{}}, "08 01 d2 06 00"},
		{"split", &wire.Request{ID: 7, SplitPane: &wire.SplitPaneRequest{Session: "A", Direction: wire.Stacked, Properties: []wire.Property{{Key: "K", JSON: "1"}}}},
			"08 07 ea 06 0d 0a 01 41 10 01 2a 06 0a 01 4b 12 01 31"},
		{"close", &wire.Request{ID: 300, Close: &wire.CloseRequest{Sessions: &wire.SessionIDs{IDs: []string{"A", "B"}}, Force: true}},
			"08 ac 02 9a 08 0a 12 06 0a 01 41 0a 01 42 20 01"},
		{"zeros of a repeated field", &wire.Response{ID: 2, Close: &wire.CloseResponse{Statuses: []int{0, 1}}}, "08 02 9a 08 04 08 00 08 01"},
		{"the text of an error", &wire.Response{ID: 2, Error: &no}, "08 02 12 02 6e 6f"},
		{"an unknown status below zero", &wire.Status{Status: -1}, "08 ff ff ff ff ff ff ff ff ff 01"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want, err := hex.DecodeString(strings.ReplaceAll(tc.want, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if got := wire.Marshal(tc.message); !bytes.Equal(got, want) {
				t.Errorf("%x, want %x", got, want)
			}
			back := reflect.New(reflect.TypeOf(tc.message).Elem()).Interface()
			if err := wire.Unmarshal(want, back); err != nil || !cmp.Equal(back, tc.message) {
				t.Errorf("comes back as %+v, error %v", back, err)
			}
		})
	}
}

func TestUnmarshalTakesWhatIsNew(t *testing.T) {
	// Statuses packed, a field 1500 that nobody knows, a fixed64 and a group to be skipped.
	data, err := hex.DecodeString("0802" + "9a08040a020001" + "e25d03616263" + "690102030405060708" + "ab010801ac01")
	if err != nil {
		t.Fatal(err)
	}
	var r wire.Response
	err = wire.Unmarshal(data, &r)
	if err != nil || r.ID != 2 || r.Close == nil || !cmp.Equal(r.Close.Statuses, []int{0, 1}) {
		t.Errorf("%+v, error %v", r, err)
	}
}

// A field that comes twice, in the same message or in one that comes in two parts.
func TestUnmarshalMerges(t *testing.T) {
	data := wire.Marshal(&wire.Request{ID: 1, Activate: &wire.ActivateRequest{Window: "w", Tab: "1"}, Variable: &wire.VariableRequest{Get: []string{"a"}}})
	data = append(data, wire.Marshal(&wire.Request{ID: 2, Activate: &wire.ActivateRequest{Tab: "2", Session: "s"}, Variable: &wire.VariableRequest{Get: []string{"b"}}})...)
	want := wire.Request{ID: 2, Activate: &wire.ActivateRequest{Window: "w", Tab: "2", Session: "s"}, Variable: &wire.VariableRequest{Get: []string{"a", "b"}}}
	var r wire.Request
	if err := wire.Unmarshal(data, &r); err != nil || !cmp.Equal(r, want) {
		t.Errorf("%s, error %v", cmp.Diff(want, r), err)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	deep := wire.Node{}
	for range 200 {
		inner := deep
		deep = wire.Node{Links: []wire.Link{{Node: &inner}}}
	}
	for name, data := range map[string][]byte{
		"cut off":         {0x08},
		"no tag":          {0x00},
		"too long":        {0x12, 0x7f, 'x'},
		"wrong wire type": {0x0a, 0x01, 'x'},
		"a field 0":       {0x02, 0x00},
		"no such type":    {0x0f, 0x01},
		"a group's end":   {0x0c},
		"another's end":   {0x0b, 0x14},
		"an open group":   {0x0b, 0x08, 0x01},
		"a cut number":    {0x09, 1, 2, 3},
		"too long number": append(bytes.Repeat([]byte{0xff}, 10), 1),
		"groups too deep": bytes.Repeat([]byte{0x0b}, 200),
		"a cut packed":    {0x9a, 0x08, 0x03, 0x0a, 0x01, 0x80},
		"too deep":        wire.Marshal(&wire.Response{ListSessions: &wire.Sessions{Windows: []wire.Window{{Tabs: []wire.Tab{{Root: &deep}}}}}}),
	} {
		if err := wire.Unmarshal(data, &wire.Response{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add(wire.Marshal(&wire.Response{ID: 3, ListSessions: &wire.Sessions{Windows: []wire.Window{{ID: "w", Tabs: []wire.Tab{{ID: "1", Root: &wire.Node{Vertical: true,
		Links: []wire.Link{{Session: &wire.Session{ID: "s", Size: &wire.Size{Cols: 80, Rows: 24}}}, {Node: &wire.Node{}}}}}}}}}}))
	f.Add(wire.Marshal(&wire.Response{Focus: &wire.FocusResponse{Facts: []wire.FocusFact{{Tab: "1"}, {Window: &wire.FocusWindow{ID: "w"}}}}}))
	f.Add([]byte{0x9a, 0x08, 0x04, 0x0a, 0x02, 0x00, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		var r, again wire.Response
		if wire.Unmarshal(data, &r) != nil {
			return
		}
		if err := wire.Unmarshal(wire.Marshal(&r), &again); err != nil || !cmp.Equal(r, again) {
			t.Fatalf("%+v comes back as %+v, error %v", r, again, err)
		}
	})
}
