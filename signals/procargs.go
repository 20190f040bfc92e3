package signals

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var errProcArgs = errors.New("arguments of the process are damaged")

// parseProcArgs reads what macOS's sysctl kern.procargs2 answers: the number of
// arguments (32 bits, of the machine's order, which is little-endian on all Macs
// that run it), the path of the program, zero bytes up to a word's edge, the
// arguments and the environment, each ended by a zero byte. An empty string ends
// the environment; what follows belongs to the system.
func parseProcArgs(raw []byte) (args []string, environ [][]byte, err error) {
	if len(raw) < 4 {
		return nil, nil, errProcArgs
	}
	argc := int(int32(binary.LittleEndian.Uint32(raw)))
	rest := raw[4:]
	end := bytes.IndexByte(rest, 0)
	if argc < 0 || argc > len(rest) || end < 0 {
		return nil, nil, errProcArgs
	}
	rest = bytes.TrimLeft(rest[end:], "\x00")
	for range argc {
		arg, after, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return nil, nil, errProcArgs
		}
		args, rest = append(args, string(arg)), after
	}
	for {
		v, after, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(v) == 0 {
			return args, environ, nil
		}
		environ, rest = append(environ, v), after
	}
}
