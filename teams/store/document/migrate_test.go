package document

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

func TestA19_Migration(t *testing.T) {
	steps := []migration{
		{2, func(o *rawjson.Object) error { o.Set("two", json.RawMessage("true")); return nil }},
		{3, func(o *rawjson.Object) error {
			if _, ok := o.Get("bad"); ok {
				return errors.New("cannot")
			}
			o.Set("three", json.RawMessage("true"))
			return nil
		}},
	}
	for _, c := range []struct {
		in, out string
		code    fault.Code
	}{
		{`{"x":1,"metadata":{"k":0,"leadlight":{"schema":1,"cwd":"/"}}}`, `{"x":1,"metadata":{"k":0,"leadlight":{"schema":3,"cwd":"/"}},"two":true,"three":true}`, ""},
		{`{"metadata":{"leadlight":{"schema":2}}}`, `{"metadata":{"leadlight":{"schema":3}},"three":true}`, ""},
		{`{"metadata":{"leadlight":{"schema":3}}}`, `{"metadata":{"leadlight":{"schema":3}}}`, ""},
		{`{"metadata":{"leadlight":{"schema":4}}}`, `{"metadata":{"leadlight":{"schema":4}}}`, fault.VersionTooNew},
		{`{"metadata":{"leadlight":{"schema":2}},"bad":1}`, "", fault.CorruptFile},
		{`{"schemaVersion":9}`, `{"schemaVersion":9}`, ""},
		{`{"metadata":null}`, `{"metadata":null}`, ""},
	} {
		o, err := rawjson.ParseObject([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		err = migrate(o, "alpha", steps)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", c.in, err, c.code)
		}
		if got := string(o.Raw()); c.out != "" && got != c.out {
			t.Errorf("%s became\n%s, want\n%s", c.in, got, c.out)
		}
	}
}
