package hooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxVerdict is how much of a hook's standard output is kept, in bytes.
const maxVerdict = 1 << 20

// verdict reads what a hook that exits with 0 says on standard output: it may object in
// JSON, too (https://docs.anthropic.com/en/docs/claude-code/hooks). What is no JSON
// object says nothing. Each field is read by itself: one that is odd hides no other.
func verdict(event, output string, cut bool) (reason string, objects bool) {
	output = strings.TrimSpace(strings.TrimPrefix(output, "\ufeff"))
	said, ok := fieldsOf([]byte(output))
	if !ok {
		if cut && strings.HasPrefix(output, "{") {
			return fmt.Sprintf("its answer is longer than %d bytes, and not read", maxVerdict), true
		}
		return "", false
	}
	special, _ := fieldsOf(said["hookSpecificOutput"])
	for _, word := range []json.RawMessage{said["decision"], special["permissionDecision"]} {
		switch decision := textOf(word); {
		case slices.Contains([]string{"", "approve", "allow"}, decision):
		case slices.Contains([]string{"block", "deny"}, decision):
			return cmp.Or(textOf(said["reason"]), textOf(special["permissionDecisionReason"])), true
		default:
			return fmt.Sprintf("its decision %s is not understood", decision), true
		}
	}
	// Who is not to continue may well go idle.
	if goes := textOf(said["continue"]); goes != "" && goes != "true" && event != TeammateIdle {
		return cmp.Or(textOf(said["stopReason"]), textOf(said["reason"])), true
	}
	return "", false
}

// fieldsOf are the fields of an object, letter for letter.
func fieldsOf(raw json.RawMessage) (fields map[string]json.RawMessage, ok bool) {
	return fields, json.Unmarshal(raw, &fields) == nil && fields != nil
}

// textOf is a string, or the JSON of another value; "" of null, and of what is not there.
func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return text
}
