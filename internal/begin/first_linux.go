//go:build amd64 || arm64

package begin

import (
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"
)

// What package syscall does not name; they are the same on both processors.
const (
	sysCloseRange     = 436
	sysOpenat2        = 437
	closeRangeCloexec = 1 << 2
	setSubreaper      = 36
	getPeer           = 0x5441 // TIOCGPTPEER
	beneath           = 0x04 | 0x08
)

// maxRecord is the size up to which a record is read here, in bytes.
const maxRecord = 1 << 20

// The size of a terminal that is believed, as the host has it.
const (
	mostRows = 500
	mostCols = 1000
)

// First starts the program of the teammate whose host this process is to be, on a terminal of
// its own. It returns nil if this is no host, or if the host is to do that itself.
//
// What a host checks before a start is checked here, too: its records are files of ours, which
// no link leads to; its lock is free; it is the one who gets orphaned descendants; it holds no
// descriptor that its caller left open.
func First() *Program {
	args := os.Args
	if len(args) != 8 || args[1] != "teammate" || args[2] != "--team" || args[4] != "--agent" || args[6] != "--base-dir" {
		return nil
	}
	const first = 3
	if _, _, e := syscall.RawSyscall(sysCloseRange, first, uintptr(^uint32(0)), closeRangeCloexec); e != 0 {
		return nil
	}
	folder := "leadlight/" + args[3]
	if !plainName(args[3]) || !plainName(args[5]) {
		return nil
	}
	base, err := syscall.Open(args[7], syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(base)
	record, ok := content(openBeneath(base, folder+"/launch/"+args[5]+".json", syscall.O_RDONLY))
	if !ok {
		return nil
	}
	envFile := text(record, `"envFile":`)
	if envFile == "" || envFile[0] != '/' {
		return nil
	}
	data, ok := content(syscall.Open(envFile, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0))
	if !ok {
		return nil
	}
	env, order := Decode(data)
	if order == nil || order.Host != text(record, `"host":`) {
		return nil
	}
	lock, ok := take(openBeneath(base, folder+"/locks/host-"+args[5], syscall.O_RDWR))
	if !ok {
		return nil
	}
	p := &Program{Host: order.Host, EnvFile: envFile, Argv: order.Argv, Path: order.Path, Dir: order.Dir, Master: -1}
	p.Env = order.environment(os.Environ(), env)
	if !p.start() {
		syscall.Close(lock)
		return nil
	}
	p.Lock = lock
	if order.Pause > 0 {
		pause := syscall.NsecToTimespec(int64(order.Pause))
		_ = syscall.Nanosleep(&pause, nil) // a signal cuts it short
	}
	return p
}

// start opens a terminal and starts the program on it, as its session's leader.
func (p *Program) start() bool {
	var saved syscall.Termios
	var size [4]uint16
	if ioctl(0, syscall.TCGETS, unsafe.Pointer(&saved)) != 0 || ioctl(0, syscall.TIOCGWINSZ, unsafe.Pointer(&size)) != 0 {
		return false // no pane
	}
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, setSubreaper, 1, 0, 0, 0, 0); e != 0 {
		return false
	}
	master, err := syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	size = [4]uint16{within(size[0], 24, mostRows), within(size[1], 80, mostCols)}
	var locked, number int32
	if ioctl(master, syscall.TIOCSPTLCK, unsafe.Pointer(&locked)) != 0 || ioctl(master, syscall.TIOCGPTN, unsafe.Pointer(&number)) != 0 ||
		ioctl(master, syscall.TIOCSWINSZ, unsafe.Pointer(&size)) != 0 {
		syscall.Close(master)
		return false
	}
	tty, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), getPeer, syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC)
	if e != 0 {
		syscall.Close(master)
		return false
	}
	defer syscall.Close(int(tty))
	p.Arrived = make(chan os.Signal, 3)
	signal.Notify(p.Arrived, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	p.Saved = Mode{saved.Iflag, saved.Oflag, saved.Cflag, saved.Lflag, saved.Cc[syscall.VMIN], saved.Cc[syscall.VTIME]}
	raw := saved
	makeRaw(&raw)
	ioctl(0, syscall.TCSETS, unsafe.Pointer(&raw))
	p.Master, p.TTY, p.At = master, "/dev/pts/"+decimal(int(number)), time.Now()
	p.PID, err = syscall.ForkExec(p.Path, p.Argv, &syscall.ProcAttr{
		Dir: p.Dir, Env: p.Env, Files: []uintptr{tty, tty, tty}, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	})
	if err == nil {
		return true
	}
	ioctl(0, syscall.TCSETS, unsafe.Pointer(&saved))
	syscall.Close(master)
	signal.Stop(p.Arrived)
	select {
	case <-p.Arrived: // it would have ended this process
		os.Exit(1)
	default:
	}
	return false
}

// makeRaw passes every byte through both ways, see cfmakeraw(3).
func makeRaw(t *syscall.Termios) {
	t.Iflag &^= syscall.IGNBRK | syscall.BRKINT | syscall.PARMRK | syscall.ISTRIP | syscall.INLCR | syscall.IGNCR | syscall.ICRNL | syscall.IXON
	t.Oflag &^= syscall.OPOST
	t.Lflag &^= syscall.ECHO | syscall.ECHONL | syscall.ICANON | syscall.ISIG | syscall.IEXTEN
	t.Cflag &^= syscall.CSIZE | syscall.PARENB
	t.Cflag |= syscall.CS8
	t.Cc[syscall.VMIN], t.Cc[syscall.VTIME] = 1, 0
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return e
}

// within brings one side of a terminal into bounds; one that is missing gets the usual value.
func within(n, usual, most uint16) uint16 {
	if n == 0 {
		return usual
	}
	return min(n, most)
}

// plainName tells whether a name of the command line names nothing but one file.
func plainName(name string) bool {
	for i := range len(name) {
		if name[i] == '/' || name[i] == 0 {
			return false
		}
	}
	return name != "" && name[0] != '.'
}

// openBeneath opens a file below a folder, to which no link leads.
func openBeneath(folder int, name string, flags int) (int, error) {
	path, err := syscall.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	how := [3]uint64{uint64(flags | syscall.O_NONBLOCK | syscall.O_CLOEXEC), 0, beneath} // struct open_how
	fd, _, e := syscall.Syscall6(sysOpenat2, uintptr(folder), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// ours tells whether an open file is a regular one of this user, and returns its size.
func ours(fd int) (size int64, ok bool) {
	var info syscall.Stat_t
	if syscall.Fstat(fd, &info) != nil {
		return 0, false
	}
	return info.Size, info.Mode&syscall.S_IFMT == syscall.S_IFREG && int(info.Uid) == os.Geteuid() && info.Mode&0o077 == 0
}

// content reads a file that was opened, if it is ours alone, and closes it.
func content(fd int, err error) ([]byte, bool) {
	if err != nil {
		return nil, false
	}
	defer syscall.Close(fd)
	size, ok := ours(fd)
	if !ok || size == 0 || size > maxRecord {
		return nil, false
	}
	data := make([]byte, size)
	n, err := syscall.Read(fd, data)
	return data, err == nil && int64(n) == size
}

// take locks a file that was opened, if it is ours alone and nobody else has locked it.
func take(fd int, err error) (int, bool) {
	if err != nil {
		return -1, false
	}
	if _, ok := ours(fd); !ok || syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		syscall.Close(fd)
		return -1, false
	}
	return fd, true
}

// text returns the text behind a key of a JSON object as this program writes it, "" if it is
// not there or not plain. Inside of a text no key can stand: its quotes would be escaped.
func text(json []byte, key string) string {
	for i := 0; i+len(key) < len(json); i++ {
		if string(json[i:i+len(key)]) != key {
			continue
		}
		i += len(key)
		for i < len(json) && json[i] == ' ' {
			i++
		}
		if i >= len(json) || json[i] != '"' {
			return ""
		}
		from := i + 1
		for i = from; i < len(json); i++ {
			switch json[i] {
			case '"':
				return string(json[from:i])
			case '\\':
				return ""
			}
		}
	}
	return ""
}
