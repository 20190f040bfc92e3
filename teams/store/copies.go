package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
)

// Clone returns a copy that shares nothing that is ever changed. Its Metadata is
// not nil.
func (t *Task) Clone() Task {
	c := *t
	c.Blocks, c.BlockedBy, c.Open = slices.Clone(t.Blocks), slices.Clone(t.BlockedBy), slices.Clone(t.Open)
	c.Missing = slices.Clone(t.Missing)
	c.Metadata, c.Unknown = writable(t.Metadata), maps.Clone(t.Unknown)
	return c
}

// Clone returns a copy that shares nothing that is ever changed. Its Metadata is
// not nil.
func (t *Team) Clone() Team {
	c := *t
	c.LeadProcess = copied(t.LeadProcess)
	c.Ours.Unstarted = slices.Clone(t.Ours.Unstarted)
	c.Members = make([]Member, len(t.Members))
	for i := range t.Members {
		c.Members[i] = t.Members[i].Clone()
	}
	c.Metadata, c.Unknown, c.Warnings = writable(t.Metadata), maps.Clone(t.Unknown), slices.Clone(t.Warnings)
	return c
}

// Clone returns a copy that shares nothing that is ever changed. Its Metadata is
// not nil.
func (m *Member) Clone() Member {
	c := *m
	c.IsActive = copied(m.IsActive)
	c.Metadata, c.Unknown = writable(m.Metadata), maps.Clone(m.Unknown)
	if m.Leadlight != nil {
		b := *m.Leadlight
		b.ExitCode, b.SpawnedAt, b.StoppedAt = copied(b.ExitCode), copied(b.SpawnedAt), copied(b.StoppedAt)
		b.Replaced = copied(b.Replaced)
		c.Leadlight = &b
	}
	return c
}

// writable copies metadata, and never returns nil: a change may write into it.
func writable(m map[string]json.RawMessage) map[string]json.RawMessage {
	if m == nil {
		return map[string]json.RawMessage{}
	}
	return maps.Clone(m)
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// The keys of a task's metadata that are ours. Claude Code keeps metadata as it
// finds it, but drops unknown fields beside it.
const (
	metaCreatedBy   = "createdBy"
	metaCreatedAt   = "createdAt" // RFC 3339, UTC, milliseconds
	metaUpdatedAt   = "updatedAt"
	metaCompletedAt = "completedAt"
	metaResult      = "result"
	metaFailure     = "failure"
	metaInternal    = "_internal" // Claude Code's own mark
)

type extension struct {
	key  string
	get  func(*Task) json.RawMessage // nil: absent
	set  func(*Task, json.RawMessage)
	same func(a, b *Task) bool // if so, get is, too
}

// extensionTable is made once: each task that is read or written needs it.
var extensionTable = sync.OnceValue(extensions)

func extensions() []extension {
	text := func(key string, field func(*Task) *string) extension {
		return extension{key,
			func(t *Task) json.RawMessage { return encoded(*field(t), *field(t) == "") },
			func(t *Task, raw json.RawMessage) { _ = json.Unmarshal(raw, field(t)) },
			func(a, b *Task) bool { return *field(a) == *field(b) }}
	}
	stamp := func(key string, field func(*Task) *time.Time) extension {
		return extension{key,
			func(t *Task) json.RawMessage { return encoded(FormatTime(*field(t)), field(t).IsZero()) },
			func(t *Task, raw json.RawMessage) { *field(t) = ParseTime(raw) },
			func(a, b *Task) bool { return field(a).Equal(*field(b)) }}
	}
	return []extension{
		text(metaCreatedBy, func(t *Task) *string { return &t.CreatedBy }),
		stamp(metaCreatedAt, func(t *Task) *time.Time { return &t.CreatedAt }),
		stamp(metaUpdatedAt, func(t *Task) *time.Time { return &t.UpdatedAt }),
		stamp(metaCompletedAt, func(t *Task) *time.Time { return &t.CompletedAt }),
		text(metaResult, func(t *Task) *string { return &t.Result }),
		text(metaFailure, func(t *Task) *string { return &t.Failure }),
	}
}

// OwnMeta tells whether a key of a task's metadata is written by the programs that keep the
// task, and not by who gives it.
func OwnMeta(key string) bool {
	return key == metaInternal || key == metaAssignedTo || key == metaAwaitsHooks ||
		slices.ContainsFunc(extensionTable(), func(e extension) bool { return e.key == key })
}

// Unpack fills the fields that are kept in metadata.
func (t *Task) Unpack() {
	for _, e := range extensionTable() {
		if raw, ok := t.Metadata[e.key]; ok {
			e.set(t, raw)
		}
	}
	if raw, ok := t.Metadata[metaInternal]; ok && string(raw) == "true" {
		t.Internal = true
	}
}

// pack writes those fields back that differ from old.
func (t *Task) pack(old *Task) {
	for _, e := range extensionTable() {
		if e.same(t, old) {
			continue
		}
		now := e.get(t)
		switch {
		case bytes.Equal(now, e.get(old)):
		case now == nil:
			delete(t.Metadata, e.key)
		default:
			t.Metadata[e.key] = now
		}
	}
}

// same tells whether two states of a task are stored alike.
func same(a, b *Task) bool {
	return a.Subject == b.Subject && a.Description == b.Description && a.ActiveForm == b.ActiveForm && a.Status == b.Status &&
		a.Owner == b.Owner && slices.Equal(a.Blocks, b.Blocks) && slices.Equal(a.BlockedBy, b.BlockedBy) &&
		maps.EqualFunc(a.Metadata, b.Metadata, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

func encoded(s string, absent bool) json.RawMessage {
	if absent {
		return nil
	}
	return rawjson.Quote(s)
}
