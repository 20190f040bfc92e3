//go:build !linux

package lock

import "github.com/leadlight-dev/leadlight/internal/files"

func lockers(*files.Dir, string) []int { return nil } // the system does not say
