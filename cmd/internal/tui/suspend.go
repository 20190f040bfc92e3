package tui

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// quitBySignal lets SIGQUIT end a program in order, until stop: the terminal would stay as only
// the dashboard needs it.
func quitBySignal(run *tea.Program) (stop func()) {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, syscall.SIGQUIT)
	go func() {
		for range arrived {
			run.Quit()
		}
	}()
	return func() {
		signal.Stop(arrived)
		close(arrived)
	}
}

// suspension stops this process, and those that the shell started with it, until the shell
// says that they go on.
type suspension struct{}

// Run implements tea.ExecCommand.
func (*suspension) Run() error {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	err := syscall.Kill(0, syscall.SIGTSTP)
	select {
	case <-on:
	case <-time.After(time.Second): // no shell is there to say it, so that nothing stopped
	}
	return err
}

// SetStdin, SetStdout and SetStderr implement tea.ExecCommand.
func (*suspension) SetStdin(io.Reader)  {}
func (*suspension) SetStdout(io.Writer) {}
func (*suspension) SetStderr(io.Writer) {}
