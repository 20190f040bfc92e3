package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Strict decodes one JSON value into v, and refuses fields that v has not, and anything
// behind the value.
func Strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
