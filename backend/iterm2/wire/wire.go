// Package wire is the language of iTerm2's scripting interface: one protocol buffer in
// one binary WebSocket message each way, Request from us and Response from iTerm2.
//
// The messages are declared by hand, those that are needed and of those the fields that
// are needed; names and field numbers are facts of the interface as iTerm2 publishes it
// (the description of its Python library, https://iterm2.com/python-api). What is not
// declared here is skipped when it comes.
//
// A field says its number in the tag "pb". A string, a bool, an int and a message (a
// pointer) is one optional field, a slice of them a repeated one. A zero value is not
// sent, except that of a pointer to a scalar, which is sent whenever it is not nil.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// maxDepth is how deep messages may lie in each other: a tab's panes are a tree.
const maxDepth = 100

// Marshal encodes a message, given as a pointer to its struct.
func Marshal(message any) []byte {
	return appendMessage(nil, reflect.ValueOf(message).Elem())
}

// Unmarshal decodes into a message, given as a pointer to its struct. A field that came
// before is overwritten; a repeated one is added to, and a message is merged with the one
// that came before, field by field. No input makes it panic; one that is no such message is
// an error, and then the message holds what came before.
func Unmarshal(data []byte, message any) error {
	return decode(data, reflect.ValueOf(message).Elem(), 0)
}

func number(f reflect.StructField) int {
	n, _ := strconv.Atoi(f.Tag.Get("pb")) // 0, which matches nothing, if there is none
	return n
}

func appendMessage(b []byte, v reflect.Value) []byte {
	for f, field := range v.Fields() {
		num := number(f)
		switch {
		case field.Kind() == reflect.Slice:
			for k := range field.Len() {
				b = appendField(b, num, field.Index(k))
			}
		case !field.IsZero():
			b = appendField(b, num, field)
		}
	}
	return b
}

func appendField(b []byte, num int, v reflect.Value) []byte {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return appendText(b, num, v.String())
	case reflect.Bool:
		if v.Bool() {
			return appendNumber(b, num, 1)
		}
		return appendNumber(b, num, 0)
	case reflect.Struct:
		return appendText(b, num, string(appendMessage(nil, v)))
	default: // int
		return appendNumber(b, num, uint64(v.Int()))
	}
}

var errDeep = errors.New("messages lie too deep in each other")

func decode(data []byte, v reflect.Value, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	for len(data) > 0 {
		num, typ, rest, err := cutTag(data)
		if err != nil {
			return err
		}
		var got value
		if got, data, err = cutValue(num, typ, rest, depth); err != nil {
			return fmt.Errorf("field %d: %w", num, err)
		}
		if field, ok := fieldOf(v, num); ok {
			if err := decodeField(field, got, depth); err != nil {
				return fmt.Errorf("field %d: %w", num, err)
			}
		}
	}
	return nil
}

func fieldOf(v reflect.Value, num int) (reflect.Value, bool) {
	for f, field := range v.Fields() {
		if number(f) == num {
			return field, true
		}
	}
	return reflect.Value{}, false
}

// decodeField decodes one value, or, where numbers are repeated, a packed run of them.
func decodeField(field reflect.Value, got value, depth int) error {
	switch {
	case field.Kind() != reflect.Slice:
		return decodeValue(field, got, depth)
	case got.typ == bytesType && field.Type().Elem().Kind() == reflect.Int:
		for run := got.bytes; len(run) > 0; {
			x, n := binary.Uvarint(run)
			if n <= 0 {
				return errCut
			}
			field.Set(reflect.Append(field, reflect.ValueOf(int(x)).Convert(field.Type().Elem())))
			run = run[n:]
		}
		return nil
	}
	one := reflect.New(field.Type().Elem()).Elem()
	if err := decodeValue(one, got, depth); err != nil {
		return err
	}
	field.Set(reflect.Append(field, one))
	return nil
}

func decodeValue(v reflect.Value, got value, depth int) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	want := varintType
	if v.Kind() == reflect.String || v.Kind() == reflect.Struct {
		want = bytesType
	}
	if got.typ != want {
		return fmt.Errorf("it comes as wire type %d, not %d", got.typ, want)
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(got.number != 0)
	case reflect.String:
		v.SetString(string(got.bytes))
	case reflect.Struct:
		return decode(got.bytes, v, depth+1)
	default: // int
		v.SetInt(int64(got.number))
	}
	return nil
}
