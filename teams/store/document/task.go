package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// What a task is read and written by is made once: each claim needs it several times.
var (
	taskTable  = sync.OnceValue(taskFields)
	aliasTable = sync.OnceValue(aliases)
)

func taskFields() []Field[store.Task] {
	type t = store.Task
	return []Field[t]{
		{Key: "id", // a number, too
			Load: func(x *t, raw json.RawMessage) { x.ID, _ = idText(raw) },
			Save: func(x *t, _ json.RawMessage) json.RawMessage { return rawjson.Quote(x.ID) }},
		Text("subject", func(x *t) *string { return &x.Subject }),
		Always(Text("description", func(x *t) *string { return &x.Description }), `""`),
		Text("activeForm", func(x *t) *string { return &x.ActiveForm }),
		Text("status", func(x *t) *string { return &x.Status }),
		Always(stringList("blocks", func(x *t) *[]string { return &x.Blocks }), "[]"),
		Always(stringList("blockedBy", func(x *t) *[]string { return &x.BlockedBy }), "[]"),
		Text("owner", func(x *t) *string { return &x.Owner }),
		metadata(func(x *t) *map[string]json.RawMessage { return &x.Metadata }),
	}
}

// alias is a key under which other task lists keep a field of ours. It is read
// where ours is absent, and removed when the field changes.
type alias struct {
	key   string
	field Field[store.Task]
	empty func(*store.Task) bool
}

func aliases() []alias {
	type t = store.Task
	var out []alias
	text := func(at func(*t) *string, keys ...string) {
		for _, key := range keys {
			out = append(out, alias{key, Text(key, at), func(x *t) bool { return *at(x) == "" }})
		}
	}
	moment := func(at func(*t) *time.Time, keys ...string) {
		for _, key := range keys {
			out = append(out, alias{key, millis(key, at), func(x *t) bool { return at(x).IsZero() }})
		}
	}
	text(func(x *t) *string { return &x.Owner }, "claimedBy", "claimed_by", "assignedTo", "assigned_to")
	for _, key := range []string{"dependsOn", "depends_on"} {
		out = append(out, alias{key, stringList(key, func(x *t) *[]string { return &x.BlockedBy }), func(x *t) bool { return x.BlockedBy == nil }})
	}
	text(func(x *t) *string { return &x.CreatedBy }, "createdBy", "created_by")
	moment(func(x *t) *time.Time { return &x.CreatedAt }, "createdAt", "created_at")
	moment(func(x *t) *time.Time { return &x.CompletedAt }, "completedAt", "completed_at")
	moment(func(x *t) *time.Time { return &x.UpdatedAt }, "updatedAt", "updated_at", "completed_at")
	text(func(x *t) *string { return &x.Result }, "result")
	return out
}

// NewTask writes a task.
func NewTask(t *store.Task) *rawjson.Object { return Compose(t, taskTable()) }

// OpenTask reads a task for editing. Its id is not what the text says, but id. The
// members of the teams called names are meant by their addresses, too.
func OpenTask(id string, data []byte, names ...string) (store.Task, *rawjson.Object, error) {
	o, err := rawjson.ParseObject(data)
	if err != nil {
		return store.Task{}, nil, err
	}
	var t store.Task
	t.Unknown, t.Odd = Decode(o, &t, taskTable())
	if t.ID != id && t.ID != "" {
		t.Odd, t.Misnamed = append(t.Odd, fmt.Sprintf("its file is that of task %s, and calls it %s", id, store.Shown(t.ID))), true
	}
	t.ID = id
	t.Unpack()
	for _, a := range aliasTable() {
		if raw, ok := o.Get(a.key); ok && a.empty(&t) {
			a.field.Load(&t, raw)
		}
	}
	t.Owner = store.LocalName(t.Owner, names...)
	if meant := t.AssignedTo(); meant != store.LocalName(meant, names...) {
		t.Metadata["assignedTo"] = rawjson.Quote(store.LocalName(meant, names...))
	}
	if t.Status == "" { // the client lists no such task, either
		return t, nil, fault.New(fault.CorruptFile, "task %s has no status", id).WithHint("give it one in its file, or move the file away")
	}
	status, failed := store.StatusOf(t.Status)
	if t.Status = status; failed && t.Failure == "" {
		t.Failure = "failed"
	}
	return t, o, nil
}

// SaveTask writes the differences between two states of a task into o.
func SaveTask(o *rawjson.Object, was, now *store.Task) {
	for _, a := range aliasTable() {
		if _, ok := o.Get(a.key); ok && !bytes.Equal(a.field.Save(was, nil), a.field.Save(now, nil)) && !inMetadata(a.key) {
			o.Delete(a.key)
		}
	}
	Amend(o, was, now, taskTable())
	if was.Failure != "" && now.Failure == "" { // the failure of another list is its status
		o.Set("status", rawjson.Quote(now.Status))
	}
	if was.Misnamed {
		o.Set("id", rawjson.Quote(now.ID))
	}
}

// inMetadata tells the keys whose field we keep in metadata, which is read first.
func inMetadata(key string) bool {
	return slices.Contains([]string{"createdBy", "createdAt", "updatedAt", "completedAt", "result"}, key)
}
