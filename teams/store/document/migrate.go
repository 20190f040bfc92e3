package document

import (
	"encoding/json"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// A migration brings a roster of ours from the schema before to the schema to.
// It sees the whole file, and changes only what is ours in it.
type migration struct {
	to   int
	step func(*rawjson.Object) error
}

// migrations lists the steps, oldest first. Schema 1 is the first there was.
func migrations() []migration { return nil }

// migrate brings a roster up to the newest schema, in memory: the file follows
// with its next edit. Rosters that are not ours have no schema and are left
// alone, as is any "schemaVersion", which is another program's.
func migrate(o *rawjson.Object, folder string, steps []migration) error {
	newest := store.Schema
	if n := len(steps); n > 0 {
		newest = max(newest, steps[n-1].to)
	}
	ours := oursOf(o)
	switch {
	case ours.Schema > newest:
		return fault.New(fault.VersionTooNew, "team %q was made by a newer leadlight (schema %d, this one knows %d)", store.Shown(folder), ours.Schema, newest).
			WithHint("update leadlight; the team's files were left untouched")
	case ours.Schema <= 0:
		return nil
	}
	for _, m := range steps {
		if m.to <= ours.Schema {
			continue
		}
		if err := m.step(o); err != nil {
			return fault.New(fault.CorruptFile, "team %q: schema %d: %w", store.Shown(folder), m.to, err)
		}
		setSchema(o, m.to)
	}
	return nil
}

// oursOf reads what is ours, and nothing else: the members take time.
func oursOf(o *rawjson.Object) (ours store.Ours) {
	Decode(objectAt(objectAt(o, "metadata"), "leadlight"), &ours, oursTable())
	return ours
}

func setSchema(o *rawjson.Object, schema int) {
	meta := objectAt(o, "metadata")
	ours := objectAt(meta, "leadlight")
	ours.Set("schema", rawjson.Encode(schema))
	meta.Set("leadlight", ours.Raw())
	o.Set("metadata", meta.Raw())
}

func objectAt(o *rawjson.Object, key string) *rawjson.Object {
	raw, _ := o.Get(key)
	inner, err := rawjson.ParseObject(json.RawMessage(raw))
	if err != nil {
		return new(rawjson.Object)
	}
	return inner
}
