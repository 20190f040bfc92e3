package document

import (
	"encoding/json"
	"fmt"
)

// kind is what a value is expected to be, in words.
type kind string

const (
	aText    kind = "a text"
	aFlag    kind = "true or false"
	aNumber  kind = "a number"
	aTime    kind = "a time"
	aList    kind = "a list"
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

// fits tells by its first byte whether a value is of a kind. "" is any.
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
	case aList:
		return c == '['
	case anObject:
		return c == '{'
	}
	return true
}

// odd says that the value of a key is not of its kind, and so was passed over.
func (k kind) odd(key string) string { return fmt.Sprintf("%s is not %s", key, k) }
