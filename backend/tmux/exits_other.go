//go:build !linux

package tmux

// notice does nothing: tmux is built with utempter on Linux only.
func (b *Backend) notice([]row) {}

// reminders are not needed.
func (b *Backend) reminders(Version) []command { return nil }
