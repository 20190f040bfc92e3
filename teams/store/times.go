package store

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Stamp is the layout of times in messages: ISO 8601, UTC, milliseconds, as
// JavaScript's toISOString writes it.
const Stamp = "2006-01-02T15:04:05.000Z"

// Now is the time in the precision of Stamp.
func Now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// FormatTime returns t in the layout Stamp.
func FormatTime(t time.Time) string { return t.UTC().Format(Stamp) }

// ParseTime reads a time as the programs of this field write it: milliseconds or
// seconds since 1970, as a number or as text, or ISO 8601 in several forms. What
// it cannot read is the zero time, never an error.
func ParseTime(raw json.RawMessage) time.Time {
	s, ok := rawjson.String(raw)
	if !ok {
		s = string(raw)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || n <= 0 || n > 1e15 {
		return time.Time{}
	}
	if n < 1e11 { // before 1973 in milliseconds: these are seconds
		n *= 1000
	}
	return time.UnixMilli(int64(n)).UTC()
}
