package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
)

// exactNumbers keeps the numbers that identify something as they came, over HTTP too: see
// keepNumbers.
func exactNumbers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, MaxFrame))
			if err != nil {
				http.Error(w, "the request is too large, or was cut", http.StatusRequestEntityTooLarge)
				return
			}
			body = keepInBody(body)
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		next.ServeHTTP(exactWriter{w}, req)
	})
}

// keepInBody is keepNumbers for a message that is not decoded yet, or a batch of them.
func keepInBody(body []byte) []byte {
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) == nil {
		for i := range batch {
			batch[i] = keepInMessage(batch[i])
		}
		if out, err := json.Marshal(batch); err == nil {
			return out
		}
	}
	return keepInMessage(body)
}

func keepInMessage(m json.RawMessage) json.RawMessage {
	m = inField(m, "id", keepRaw)
	return inField(m, "params", func(params json.RawMessage) json.RawMessage {
		params = inField(params, "requestId", keepRaw)
		return inField(params, "_meta", func(meta json.RawMessage) json.RawMessage { return inField(meta, "progressToken", keepRaw) })
	})
}

// kept finds what stands for a number or a text. Within another text its quotes would have a
// backslash before them.
var kept = regexp.MustCompile(`"(id|progressToken)"\s*:\s*"` + keptNumber + `(?:[^"\\]|\\.)*"`)

func restoreMatch(match []byte) []byte {
	name, value, _ := bytes.Cut(match, []byte(":"))
	return append(append(name, ':'), restoreRaw(bytes.TrimSpace(value))...)
}

// exactWriter puts the numbers back. The SDK writes each event with one call.
type exactWriter struct{ http.ResponseWriter }

// Unwrap lets a response be flushed.
func (w exactWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements io.Writer.
func (w exactWriter) Write(p []byte) (int, error) {
	if _, err := w.ResponseWriter.Write(kept.ReplaceAllFunc(p, restoreMatch)); err != nil {
		return 0, err
	}
	return len(p), nil
}
