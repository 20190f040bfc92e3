package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// keptNumber begins the text that stands for a number, or a text with escapes, while the SDK
// has it: it makes a float of every number, which has 53 bits, and writes texts anew.
const keptNumber = "leadlight:number:"

// exactNumbers keeps the numbers that identify something as they came, over HTTP too.
func exactNumbers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, MaxFrame))
			if err != nil {
				http.Error(w, "the request is too large, or was cut", http.StatusRequestEntityTooLarge)
				return
			}
			body = inMessages(body, keepInMessage)
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		next.ServeHTTP(exactWriter{w}, req)
	})
}

// inMessages changes a message, or each of a batch of them.
func inMessages(body []byte, change func(json.RawMessage) json.RawMessage) []byte {
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) == nil {
		for i := range batch {
			batch[i] = change(batch[i])
		}
		if out, err := json.Marshal(batch); err == nil {
			return out
		}
	}
	return change(body)
}

// keepInMessage puts texts for the numbers in a message that would not come back the same.
func keepInMessage(m json.RawMessage) json.RawMessage {
	m = inField(m, "id", keepRaw)
	return inField(m, "params", func(params json.RawMessage) json.RawMessage {
		params = inField(params, "requestId", keepRaw)
		return inField(params, "_meta", func(meta json.RawMessage) json.RawMessage { return inField(meta, "progressToken", keepRaw) })
	})
}

// restoreNumbers puts the numbers back into messages, as they are written or in the lines of
// an event stream.
func restoreNumbers(data []byte) []byte {
	if !bytes.Contains(data, []byte(keptNumber)) {
		return data
	}
	var out []byte
	for line := range bytes.SplitAfterSeq(data, []byte("\n")) {
		body := bytes.TrimPrefix(line, []byte("data: ")) // of an event
		text := bytes.TrimRight(body, "\r\n")
		out = slices.Concat(out, line[:len(line)-len(body)], inMessages(text, restoreInMessage), body[len(text):])
	}
	return out
}

// restoreInMessage undoes keepInMessage in an answer, and in a word of progress.
func restoreInMessage(m json.RawMessage) json.RawMessage {
	m = inField(m, "id", restoreRaw)
	return inField(m, "params", func(params json.RawMessage) json.RawMessage { return inField(params, "progressToken", restoreRaw) })
}

// exactWriter puts the numbers back. The SDK writes each event with one call.
type exactWriter struct{ http.ResponseWriter }

// Unwrap lets a response be flushed.
func (w exactWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements io.Writer.
func (w exactWriter) Write(p []byte) (int, error) {
	if _, err := w.ResponseWriter.Write(restoreNumbers(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// keepRaw puts a text for a number that does not come back as it was written, such as one that
// a float cannot hold, and for a text that could be taken for one of these.
func keepRaw(raw json.RawMessage) json.RawMessage {
	const exact = 1 << 53
	n, err := strconv.ParseInt(string(raw), 10, 64)
	same := err == nil && n <= exact && n >= -exact && strconv.FormatInt(n, 10) == string(raw)
	if raw[0] == '"' {
		same = !bytes.ContainsRune(raw, '\\') && !bytes.Contains(raw, []byte(keptNumber))
	}
	if same || !strings.ContainsRune(`"-0123456789`, rune(raw[0])) {
		return raw
	}
	return json.RawMessage(strconv.Quote(keptNumber + string(raw)))
}

func restoreRaw(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil || !strings.HasPrefix(text, keptNumber) {
		return raw
	}
	if number := json.RawMessage(strings.TrimPrefix(text, keptNumber)); json.Valid(number) {
		return number
	}
	return raw
}

// inField changes one field of an object, if it is there.
func inField(object json.RawMessage, name string, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil || fields[name] == nil {
		return object
	}
	before := fields[name]
	if fields[name] = change(before); bytes.Equal(before, fields[name]) {
		return object
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return object
	}
	return out
}
