package document

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// kind is what a value is expected to be, in words.
type kind string

const (
	aText    kind = "a text"
	aFlag    kind = "true or false"
	aNumber  kind = "a number"
	aTime    kind = "a time"
	idList   kind = "a list of ids"
	anObject kind = "an object"
)

// kindOf is the kind of the values that go into a V.
func kindOf[V any]() kind {
	switch any(*new(V)).(type) {
	case bool:
		return aFlag
	case int, int64:
		return aNumber
	}
	return ""
}

// fits tells, by the first byte where that is enough, whether a value is of a kind. "" is any.
func (k kind) fits(raw json.RawMessage) bool {
	c := raw[0]
	number := c == '-' || '0' <= c && c <= '9'
	switch k {
	case aText:
		return c == '"'
	case aFlag:
		return c == 't' || c == 'f'
	case aNumber:
		return number
	case aTime:
		return c == '"' || number
	case idList:
		list, err := rawjson.ParseArray(raw)
		return err == nil && !slices.ContainsFunc(list, func(item json.RawMessage) bool { _, ok := idText(item); return !ok })
	case anObject:
		return c == '{'
	}
	return true
}

// odd says that the value of a key is not of its kind, and so was passed over.
func (k kind) odd(key string) string { return fmt.Sprintf("%s is not %s", key, k) }
