package document

import (
	"reflect"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/teams/store"
)

// TestEveryFieldOfOursIsKept fills every field of what we add to a team and to a member:
// a field without a row in its table would be lost without a word.
func TestEveryFieldOfOursIsKept(t *testing.T) {
	var ours store.Ours
	fill(reflect.ValueOf(&ours).Elem())
	ours.Schema = store.Schema
	book := new(store.Bookkeeping)
	fill(reflect.ValueOf(book).Elem())
	member := store.Member{AgentID: "bob@alpha", Name: "bob", Leadlight: book}

	got, err := ReadTeam("alpha", NewTeam(store.Team{Name: "alpha", Ours: ours, Members: []store.Member{member}}))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "of a team", reflect.ValueOf(ours), reflect.ValueOf(got.Ours))
	if len(got.Members) != 1 || got.Members[0].Leadlight == nil {
		t.Fatalf("members: %+v", got.Members)
	}
	same(t, "of a member", reflect.ValueOf(*book), reflect.ValueOf(*got.Members[0].Leadlight))
}

// fill gives each field a value that is not its zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMilli(1_790_000_000_000).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	}
}

// same compares field by field; of a field that holds what others have written it knows nothing.
func same(t *testing.T, whose string, want, got reflect.Value) {
	t.Helper()
	for i := range want.NumField() {
		f := want.Type().Field(i)
		if f.Tag.Get("json") == "-" { // it stands in no file
			continue
		}
		w, g := want.Field(i).Interface(), got.Field(i).Interface()
		if !reflect.DeepEqual(w, g) {
			t.Errorf("%s %s: %+v, want %+v", f.Name, whose, g, w)
		}
	}
}
