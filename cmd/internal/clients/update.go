package clients

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// overNetwork are the settings by which an entry speaks of a server that is reached
// over the network. Beside a command, clients take them first, or refuse both.
func overNetwork() []string {
	return []string{"url", "httpUrl", "serverUrl", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"}
}

// update puts our fields into the entry of our server that stands at old; what else a
// person has put there stays as it is. An entry that is no object, or speaks of a
// server over the network, gives way to own.
func update(file []byte, old value, fields []field, own, nl, step string, depth int) []byte {
	remote := func(e entry) bool { return slices.Contains(overNetwork(), e.name) }
	if old.members == nil || slices.ContainsFunc(old.members, remote) {
		return splice(file, old.from, old.to, own)
	}
	var added []string
	var said []field // in the file, in another way
	at := map[string]value{}
	for _, f := range fields {
		v, found := old.member(f.name)
		switch at[f.name] = v; {
		case !found:
			added = append(added, member(f.name, encode(f.value)))
		case !says(file[v.from:v.to], f.value):
			said = append(said, f)
		}
	}
	slices.SortFunc(said, func(a, b field) int { return at[b.name].from - at[a.name].from })
	for _, f := range said { // from the end on, for what comes before stays where it was
		file = splice(file, at[f.name].from, at[f.name].to, encode(f.value))
	}
	if len(added) == 0 {
		return file
	}
	if first := old.members; len(first) > 0 && !bytes.Contains(file[old.from:first[0].at], []byte("\n")) {
		return splice(file, first[0].at, first[0].at, strings.Join(added, ", ")+", ")
	}
	return insert(file, old, nl, step, depth+1, strings.Join(added, ","+nl+strings.Repeat(step, depth+1)))
}

// says tells whether raw is a value, in whatever form it is written.
func says(raw []byte, value any) bool {
	var is, want any
	return json.Unmarshal(raw, &is) == nil && json.Unmarshal([]byte(encode(value)), &want) == nil && reflect.DeepEqual(is, want)
}
