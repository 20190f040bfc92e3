package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func addSamples(f *testing.F, each func([]byte)) {
	for _, name := range samples(f) {
		_, stream := archive(f, name)
		each(stream)
	}
}

// What the scan passes over, the decoder would not have found a team in.
func FuzzLine(f *testing.F) {
	addSamples(f, func(stream []byte) {
		for _, line := range bytes.SplitN(stream, []byte("\n"), 12) {
			if len(line) < 4096 {
				f.Add(line)
			}
		}
	})
	f.Add([]byte(`{"message":{"content":[{"type":"tool_use","id":"x","name":"TeamCreate","input":{"team_name":"a"}}]},"type":"assistant"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		buffer := new(Buffer)
		v, _ := scan(line, buffer)
		lineType(line)
		l, err := Decode(line)
		if err != nil {
			return
		}
		uses, _ := Recognize(l)
		if len(uses) > 0 && v != wanted && plainKeys(line) {
			t.Errorf("passed over %s", line)
		}
		w := seen(string(line), string(line))
		for _, u := range uses {
			if !json.Valid(u.Input) {
				t.Errorf("input %s", u.Input)
			}
			w.feed(result(u.ToolUseID, string(line), nil))
		}
		w.close()
		if _, err := json.Marshal(w.State()); err != nil {
			t.Error(err)
		}
	})
}

// plainKeys tells whether the line spells the words the scan looks for as every
// client does: no escapes in them, no key twice or in another case.
func plainKeys(line []byte) bool {
	lower := bytes.ToLower(line)
	return !bytes.Contains(line, []byte(`\u`)) && bytes.Count(lower, []byte(`"type"`)) == bytes.Count(line, []byte(`"type"`)) &&
		bytes.Count(line, []byte(`"assistant"`)) == 1 && lineType(trim(line)) != nil && string(lineType(trim(line))) == "assistant"
}

func FuzzStream(f *testing.F) {
	addSamples(f, func(stream []byte) {
		if len(stream) < 8192 {
			f.Add(stream)
		}
	})
	f.Fuzz(func(t *testing.T, stream []byte) {
		var out bytes.Buffer
		var saved State
		o := Options{In: bytes.NewReader(stream), Out: &out, Emit: EmitMessages, MaxLine: 1 << 12, Save: func(s State) error {
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return json.Unmarshal(b, &saved)
		}}
		if err := Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if own := withoutSupplements(out.Bytes(), stream); !bytes.Equal(own, stream) && !beginsArray(stream) {
			t.Errorf("%q became %q", stream, own)
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, supplementStart) && !bytes.Contains(stream, []byte(supplementStart)) && !json.Valid([]byte(line)) {
				t.Errorf("not JSON: %s", line)
			}
		}
		o = Options{In: bytes.NewReader(stream), Out: io.Discard, MaxLine: 1 << 12, Load: func() (State, error) { return saved, nil }}
		if err := Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	})
}

// beginsArray tells whether a stream is an array of objects, which is passed on as lines.
func beginsArray(stream []byte) bool {
	skip := func(b []byte, mark bool) []byte {
		for len(b) > 0 && (strings.IndexByte(" \t\r\n", b[0]) >= 0 || mark && b[0] >= 0xbb) {
			b = b[1:]
		}
		return b
	}
	inner, ok := bytes.CutPrefix(skip(stream, true), []byte("["))
	return ok && bytes.HasPrefix(skip(inner, false), []byte("{"))
}

const supplementStart = `{"type":"team_`

// withoutSupplements takes the supplementary messages out again, and the line end
// that may have been needed before the last ones.
func withoutSupplements(out, stream []byte) []byte {
	if bytes.Contains(stream, []byte(supplementStart)) {
		return stream // cannot be told apart
	}
	var own []byte
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte(supplementStart)) {
			own = append(own, line...)
		}
	}
	if !bytes.HasSuffix(stream, []byte("\n")) && len(own) == len(stream)+1 {
		own = bytes.TrimSuffix(own, []byte("\n"))
	}
	return own
}
