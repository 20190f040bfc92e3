package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

func TestEditTouchesNothingElse(t *testing.T) {
	const in = "\ufeff{\r\n  \"n\": 1790000000000.50,\r\n  \"big\": 12345678901234567890,\r\n  \"a\\u0062\": null,\r\n  \"twice\": 1,\r\n  \"twice\": 2,\r\n" +
		"  \"s\": \"\\ud83d <&> \\/\",\r\n  \"deep\": {\"z\": [ ], \"y\": {\r\n}}\r\n}\r\n"
	o, err := rawjson.ParseObject([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := o.Get("twice"); string(v) != "2" {
		t.Errorf("twice = %s, want the last", v)
	}
	if _, ok := o.Get("ab"); !ok {
		t.Error("an escaped key is not found")
	}
	o.Set("n", json.RawMessage("7"))
	o.Set("new", rawjson.Quote("<ü>\n"))
	want := `{
  "n": 7,
  "big": 12345678901234567890,
  "a\u0062": null,
  "twice": 1,
  "twice": 2,
  "s": "\ud83d <&> \/",
  "deep": {
    "z": [],
    "y": {}
  },
  "new": "<ü>\n"
}`
	if diff := cmp.Diff(want, string(rawjson.Pretty(o.Raw(), ""))); diff != "" {
		t.Error(diff)
	}
	o.Delete("twice")
	if got := o.Keys(); !cmp.Equal(got, []string{"n", "big", "ab", "s", "deep", "new"}) {
		t.Errorf("keys = %q", got)
	}
	if got := new(rawjson.Object).Keys(); got != nil {
		t.Errorf("the keys of an empty object are %#v, want none", got)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	deep := strings.Repeat("[", 2000)
	for _, tc := range []struct {
		in     string
		offset int
	}{
		{"", 0}, {"  ", 2}, {"\ufeff", 3}, {`{`, 0}, {`[1]`, -1}, {`[1,]`, 3}, {`[1 2]`, 3}, {`["a` + "\n" + `"]`, 3}, {`["\x"]`, 2}, {`["\u12g4"]`, 2},
		{`[01]`, 2}, {`[1.]`, 3}, {`[-]`, 2}, {`[1e]`, 3}, {`[tru]`, 1}, {`[1]]`, 3}, {`[{"a":1,}]`, 8}, {`[{a:1}]`, 2}, {`[{"a" 1}]`, 6},
		{`["abc`, 5}, {deep, 1001}, {"\xff\xfe[\x00]\x00", 0},
	} {
		_, err := rawjson.ParseArray([]byte(tc.in))
		if tc.offset < 0 {
			if err != nil {
				t.Errorf("%.20q: %v", tc.in, err)
			}
			continue
		}
		var syntax *rawjson.SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != tc.offset {
			t.Errorf("%.20q: %v, want offset %d", tc.in, err, tc.offset)
		}
	}
}

// FuzzParse holds the parser to encoding/json: both take the same documents, and
// an unedited one keeps its meaning.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{``, `{}`, `[]`, `{"a":[1,-0.5e+3,{"b":null}],"a":"\u00e9\n"}`, `[[],{},"x",true,false]`, "[\"\xff\"]", `{"a":1}x`, `nul`, `[0123]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		strict := bytes.TrimPrefix(data, []byte("\ufeff"))
		if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > 900 {
			return // we stop at a smaller depth than encoding/json
		}
		if err := rawjson.Valid(data); (err == nil) != json.Valid(strict) {
			t.Fatalf("Valid says %v, encoding/json says %t", err, json.Valid(strict))
		}
		if o, err := rawjson.ParseObject(data); err == nil {
			sameMeaning(t, strict, o.Raw())
			sameMeaning(t, strict, rawjson.Pretty(o.Raw(), ""))
		}
		if list, err := rawjson.ParseArray(data); err == nil {
			sameMeaning(t, strict, rawjson.Array(list))
		}
	})
}

func sameMeaning(t *testing.T, a, b []byte) {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		return // a number out of range
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("%q became %q: %v", a, b, err)
	}
	if !cmp.Equal(x, y) {
		t.Fatalf("%q became %q", a, b)
	}
}
