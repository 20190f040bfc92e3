package claudefs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/leadlight-dev/leadlight/internal/rawjson"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/document"
)

// messageTable is messageFields, made once: each message needs it.
var messageTable = sync.OnceValue(messageFields)

// messageFields lists the fields in the order in which new entries have them.
// Every version of the client takes entries of this form.
func messageFields() []document.Field[store.Message] {
	type m = store.Message
	text := document.Text("text", func(x *m) *string { return &x.Text })
	text.Load = func(x *m, raw json.RawMessage) { x.Text = unquoted(raw) } // what is no text is shown as it is
	return []document.Field[m]{
		document.Always(document.Text("from", func(x *m) *string { return &x.From }), `""`),
		document.Always(text, `""`),
		{Key: "timestamp",
			Load: func(x *m, raw json.RawMessage) {
				x.Timestamp = store.ParseTime(raw)
				if !bytes.Equal(raw, x.Timestamp.UTC().AppendFormat(make([]byte, 0, len(store.Stamp)+2), `"`+store.Stamp+`"`)) {
					x.Stamp = unquoted(raw)
				}
			},
			Save: func(x *m, _ json.RawMessage) json.RawMessage { return rawjson.Quote(store.FormatTime(x.Timestamp)) }},
		document.Text("summary", func(x *m) *string { return &x.Summary }),
		document.Text("color", func(x *m) *string { return &x.Color }),
		document.Constant[m]("msgV", "1"),
		document.Text("msg_id", func(x *m) *string { return &x.ID }),
		document.Always(document.Text("type", func(x *m) *string { return &x.Type }), `"message"`),
		document.Always(document.Scalar("read", func(x *m) *bool { return &x.Read }), "false"),
	}
}

func unquoted(raw json.RawMessage) string {
	if s, ok := rawjson.String(raw); ok {
		return s
	}
	return string(raw)
}

// entry is one element of a mailbox. One that is no object is nobody's message;
// it is kept as it is.
type entry struct {
	raw json.RawMessage
	msg store.Message
	ok  bool
}

// parseBox reads a mailbox. A file without content, and null, is an empty box.
func parseBox(data []byte, owner string) ([]entry, error) {
	if blank(data) {
		return nil, nil
	}
	list, err := rawjson.ParseArray(data)
	if err != nil {
		return nil, err
	}
	var o rawjson.Object
	box, seen := make([]entry, len(list)), copies{}
	for i, raw := range list {
		if box[i].raw = raw; o.Parse(raw) == nil {
			box[i].ok = true
			readMessage(&o, &box[i].msg, owner, seen)
		}
	}
	return box, nil
}

// copies counts the entries of a box that have neither an id nor a time, by the id that their
// content gives. They are as many messages: nothing says that one is another once more.
type copies map[string]int

func readMessage(o *rawjson.Object, msg *store.Message, owner string, seen copies) {
	msg.Unknown, msg.Odd = document.Decode(o, msg, messageTable())
	msg.To = owner
	msg.Type = cmp.Or(msg.Type, "message")
	if msg.ID != "" {
		return
	}
	raw, _ := o.Get("timestamp")
	stamp := unquoted(raw)
	id := derivedID(msg.From, stamp, msg.Text)
	if msg.ID = id; rawjson.IsNull(raw) || stamp == "" {
		if seen[id]++; seen[id] > 1 {
			msg.ID += "-" + strconv.Itoa(seen[id])
		}
	}
}

// maxKept is the most bytes of a file that are kept, to know it again.
const maxKept = 64 << 10

// readBox is a mailbox as it was read before. Most of the time a box only grows.
type readBox struct {
	team, owner string
	body        []byte // up to the end of the last entry
	entries     []entry
}

// grown returns the entries of a box which begins with r, of which only those behind it are
// parsed. ok is false for any other, and where the ids of those may depend on the ones before.
func (r readBox) grown(data []byte, owner string) (entries []entry, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(data, []byte("\ufeff")), r.body)
	if !ok || len(r.entries) == 0 || r.owner != owner {
		return nil, false
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if bytes.HasPrefix(rest, []byte(",")) {
		more, err := parseBox(append([]byte("["), rest[1:]...), owner)
		ok = err == nil && len(more) > 0 && !slices.ContainsFunc(more, func(e entry) bool { return e.msg.Timestamp.IsZero() })
		return append(slices.Clip(r.entries), more...), ok
	}
	return r.entries, string(bytes.TrimRight(rest, " \t\r\n")) == "]"
}

// derivedID stands in for the id of an entry of a client that writes none: what
// has the same sender, time and text is the same message.
func derivedID(from, stamp, text string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", from, stamp, text))
	return "derived-" + hex.EncodeToString(sum[:16])
}

func checkBox(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return errBlank
	}
	if blank(data) {
		return nil
	}
	_, err := rawjson.ParseArray(data)
	return err
}

func blank(data []byte) bool {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	return len(data) == 0 || string(data) == "null"
}

// appended returns the box with one entry more. The others keep their bytes.
func appended(data []byte, entry json.RawMessage) []byte {
	pretty := rawjson.Pretty(entry, "  ")
	out := make([]byte, 0, len(data)+len(pretty)+8)
	body := []byte("[")
	if !blank(data) {
		body = openBox(data)
	}
	out = append(out, body...)
	if !bytes.Equal(bytes.TrimSpace(body), []byte("[")) {
		out = append(out, ',')
	}
	out = append(out, "\n  "...)
	out = append(out, pretty...)
	return append(out, "\n]"...)
}

// openBox returns a box that is not blank without its end, up to that of the last entry.
func openBox(data []byte) []byte {
	data = bytes.TrimRight(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	return bytes.TrimRight(data[:len(data)-1], " \t\r\n")
}

// boxDocument lays a box out as the client does.
func boxDocument(list []json.RawMessage) []byte { return rawjson.Pretty(rawjson.Array(list), "") }

// markedRead returns a box with the read flags of some messages set, and how many
// entries it has. All else keeps its bytes.
func markedRead(box []byte, owner string, ids []string) (out []byte, entries int, err error) {
	if blank(box) {
		return box, 0, nil
	}
	list, err := rawjson.ParseArray(box)
	if err != nil {
		return nil, 0, err
	}
	seen := copies{}
	done, end := 0, 0 // of the box, how much is in out, and where the last entry ends
	for _, raw := range list {
		at := end + bytes.Index(box[end:], raw) // before it are only white space and a comma
		end = at + len(raw)
		if o, id := identify(raw, owner, seen); o != nil && slices.Contains(ids, id) && !isRead(o) {
			o.Set("read", json.RawMessage("true"))
			out = append(append(out, box[done:at]...), rawjson.Pretty(o.Raw(), "  ")...)
			done = end
		}
	}
	return append(out, box[done:]...), len(list), nil
}

// identify returns an entry, nil if it is no object, and the id of its message,
// without reading the rest of it if it has one of its own.
func identify(raw json.RawMessage, owner string, seen copies) (o *rawjson.Object, id string) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, ""
	}
	own, _ := o.Get("msg_id")
	if id, _ = rawjson.String(own); id == "" {
		var msg store.Message
		readMessage(o, &msg, owner, seen)
		id = msg.ID
	}
	return o, id
}

func isRead(o *rawjson.Object) bool {
	raw, _ := o.Get("read")
	return string(raw) == "true"
}
