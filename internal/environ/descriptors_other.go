//go:build !linux

package environ

import "errors"

func closeRange(uint) error { return errors.ErrUnsupported }
