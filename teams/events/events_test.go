package events

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestClosedSet(t *testing.T) {
	want := strings.Fields(`team:created team:deleted
		team:member:joined team:member:active team:member:waiting team:member:shutdown team:member:failed team:member:lost team:member:idle
		team:task:created team:task:claimed team:task:completed team:task:updated team:task:failed team:message:sent team:message:received
		team:shutdown:requested team:shutdown:response team:plan:requested team:plan:resolved
		team:run:team:created team:run:team:updated team:run:team:deleted team:run:member:added team:run:member:updated team:run:member:removed
		team:run:member:reordered team:run:created team:run:updated team:run:item:created team:run:item:updated team:run:item:deleted
		team:run:item:moved team:run:item:spawned`)
	var got []string
	for _, name := range Types() {
		if slices.Contains(got, string(name)) {
			t.Errorf("%s is there twice", name)
		}
		got = append(got, string(name))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// Every name's data survives the wire, as the struct that belongs to it.
func TestWire(t *testing.T) {
	at := time.Date(2026, 11, 27, 22, 1, 48, 685_000_000, time.FixedZone("x", 3600))
	for i, name := range Types() {
		e := Event{Seq: uint64(i + 1), At: at, Type: name, Team: "alpha", Member: "ann", Data: filled(blank(name))}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if !back.At.Equal(at) {
			t.Errorf("%s: at %v", name, back.At)
		}
		back.At = at
		if !reflect.DeepEqual(e, back) {
			t.Errorf("%s\n got %+v\nwant %+v", name, back.Data, e.Data)
		}
		if e.Data.Kind() == "" {
			t.Errorf("%s has data of no kind", name)
		}
		e.Data.closed()
	}
}

// filled sets every text of a struct, so that a field that gets lost is seen.
func filled(d Data) Data {
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.String:
				f.SetString(v.Type().Field(i).Name)
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Struct:
				fill(f)
			case reflect.Slice:
				f.Set(reflect.ValueOf([]string{"1"}))
			}
		}
	}
	fill(reflect.ValueOf(d).Elem())
	return d
}

func TestWireForm(t *testing.T) {
	e := Event{Seq: 1, Type: TeamCreated, Team: "alpha", Data: &Team{Head: Head{Type: KindTeamCreated}, TeamName: "alpha", Role: "lead"}}
	want := `{"seq":1,"type":"team:created","team":"alpha","data":{"type":"team_created","teamName":"alpha","role":"lead"}}`
	if b, err := json.Marshal(e); err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	e.At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if b, _ := json.Marshal(e); !strings.Contains(string(b), `"at":"2026-01-02T03:04:05.000Z"`) {
		t.Errorf("%s", b)
	}
}

func TestBadWire(t *testing.T) {
	for _, s := range []string{
		`[]`, `{"seq":1,"type":"team:renamed","data":{}}`, `{"seq":1,"type":"team:created","at":"yesterday","data":{}}`,
		`{"seq":1,"type":"team:created","data":7}`, `{"seq":1,"type":"team:created"}`,
	} {
		var e Event
		if err := json.Unmarshal([]byte(s), &e); err == nil {
			t.Errorf("%s: no error", s)
		}
	}
}
