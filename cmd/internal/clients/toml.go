package clients

import (
	"bytes"
	"strings"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// tomlEdit puts a table for the server at the end of a file. A file that speaks of the
// server already, or of all servers in one value, is left to its owner.
func tomlEdit(key string, fieldsOf func(Server) []field) func([]byte, Server) ([]byte, error) {
	return func(file []byte, s Server) ([]byte, error) {
		nl := newline(file)
		text := "[" + key + "." + s.Name + "]" + nl
		for _, f := range fieldsOf(s) {
			text += f.name + " = " + encode(f.value) + nl
		}
		if bytes.Contains(file, []byte(text)) {
			return file, nil
		}
		at := 0
		for line := range bytes.Lines(file) {
			said := strings.TrimSpace(string(line))
			table, other := strings.CutPrefix(said, "["+key+".")
			if strings.Contains(said, key) && said[0] != '#' && (!other || strings.Contains(table, s.Name)) {
				return nil, byHand(fault.Unsupported, file, at, "leadlight adds a table ["+key+"."+s.Name+"], and does not change what stands here")
			}
			at += len(line)
		}
		if len(file) > 0 && !bytes.HasSuffix(file, []byte("\n")) {
			text = nl + text
		}
		if len(file) > 0 {
			text = nl + text
		}
		return append(bytes.Clone(file), text...), nil
	}
}
