package files

import (
	"io/fs"
	"path"
	"strings"
	"time"
)

// OldTemps lists what killed writers have left in a folder and below it: the temporary files
// that were not touched for a time. What cannot be looked at is passed over.
func (d *Dir) OldTemps(folder string, age time.Duration) []string {
	var out []string
	_ = fs.WalkDir(d.top.FS(), folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), TempPrefix) || path.Ext(name) != ".tmp" {
			return nil
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			out = append(out, name)
		}
		return nil
	})
	return out
}
