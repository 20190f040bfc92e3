package jetstream

import (
	"encoding/json"
	"testing"
)

// FuzzWords: whatever comes as a word of another machine, it is a result, an error, or
// nothing.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"", "{", "null", "[]", `{"process":"1"}`, `{"n":1,"told":"x"}`, `{"n":7,"told":null}`, `{"ended":true,"result":{}}`, `{"ended":true,"error":{"code":"NOT_LEAD","message":"no"}}`, `{"error":{}}`, `{"n":-1,"ended":true}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a := &asking{call: Call{Follow: true}, tell: func(json.RawMessage) {}}
		for range 2 {
			if result, err := a.hear(data); result != nil && (err != nil || !json.Valid(result)) {
				t.Errorf("%q: %s, %v", data, result, err)
			}
		}
	})
}
