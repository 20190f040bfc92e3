// Package begin starts a teammate's program before the rest of its host is there: while the
// packages of the host are initialised, which takes longer than to start the program. See
// First, which package early calls.
//
// It does only the plain case. Whatever is not as expected is left to the host, which then
// starts the program itself and says what is wrong. So this package imports next to nothing,
// and what it does to the terminal it undoes when it gives up.
package begin

import (
	"os"
	"time"
)

// Program is one that was started for a host. The host takes it over.
type Program struct {
	Host    string    // id of the host
	EnvFile string    // where the host's launch record says that its environment is
	PID     int       // of the program, a child of this process that nobody has waited for
	Argv    []string  // as it was started
	Path    string    // of its file
	Dir     string    // where it was started
	Env     []string  // with which it was started
	Master  int       // descriptor of our side of its terminal
	TTY     string    // its own side
	Lock    int       // descriptor of the host's lock, held
	At      time.Time // when it was started

	Arrived chan os.Signal // gets HUP, TERM and INT, from before the start on
	Saved   Mode           // of the pane's terminal, which is raw now
}

// Mode is what a raw terminal changes of a terminal's mode, see termios(3).
type Mode struct {
	In, Out, Control, Local uint32 // the flags
	Min, Time               uint8  // VMIN and VTIME
}

// Order is what a host is to start before all else.
type Order struct {
	Host, Dir string
	Path      string        // of the program's file
	Argv      []string      //
	Defaults  []string      // variables (K=V) over which all others come
	FromPane  []string      // names of those that the host's own environment gives; the file's come over them
	Over      []string      // variables that come over all others
	Pause     time.Duration // how long the host waits with all else, while the others of its set start
}

// version is that of the form in which an Order is written.
const version = "1"

// Encode is the content of the file by which an environment is handed over to a host: each
// variable, exact to the byte, and a NUL, which none can hold; behind an empty one the order.
// nil is none.
func Encode(env []string, o *Order) []byte {
	var out []byte
	put := func(fields ...string) {
		for _, f := range fields {
			out = append(append(out, f...), 0)
		}
	}
	list := func(fields []string) { put(append([]string{decimal(len(fields))}, fields...)...) }
	for _, kv := range env {
		if kv != "" {
			put(kv)
		}
	}
	if o == nil {
		return out
	}
	put("", version, o.Host, o.Dir, o.Path, decimal(int(o.Pause.Milliseconds())))
	list(o.Defaults)
	list(o.FromPane)
	list(o.Over)
	list(o.Argv)
	return out
}

// Decode reads what Encode wrote. The order is nil if there is none that can be read.
func Decode(data []byte) (env []string, o *Order) {
	r := reader{data}
	for {
		kv, ok := r.field()
		if !ok {
			return env, nil
		}
		if kv == "" {
			break
		}
		env = append(env, kv)
	}
	o = &Order{}
	v, ok := r.field()
	if !ok || v != version {
		return env, nil
	}
	for _, f := range []*string{&o.Host, &o.Dir, &o.Path} {
		if *f, ok = r.field(); !ok || *f == "" {
			return env, nil
		}
	}
	ms, ok := r.number()
	o.Pause = time.Duration(ms) * time.Millisecond
	for _, l := range []*[]string{&o.Defaults, &o.FromPane, &o.Over, &o.Argv} {
		if *l, ok = r.list(ok); !ok {
			return env, nil
		}
	}
	if len(o.Argv) == 0 || len(r.rest) > 0 {
		return env, nil
	}
	return env, o
}

// reader reads fields that end with a NUL each.
type reader struct{ rest []byte }

func (r *reader) field() (string, bool) {
	for i, c := range r.rest {
		if c == 0 {
			f := string(r.rest[:i])
			r.rest = r.rest[i+1:]
			return f, true
		}
	}
	return "", false
}

// number reads a small decimal number.
func (r *reader) number() (int, bool) {
	f, ok := r.field()
	if !ok || f == "" || len(f) > 6 {
		return 0, false
	}
	n := 0
	for i := range len(f) {
		if f[i] < '0' || f[i] > '9' {
			return 0, false
		}
		n = 10*n + int(f[i]-'0')
	}
	return n, true
}

func (r *reader) list(ok bool) (list []string, _ bool) {
	n, counted := r.number()
	if !ok || !counted || n > len(r.rest) {
		return nil, false
	}
	for range n {
		f, ok := r.field()
		if !ok {
			return nil, false
		}
		list = append(list, f)
	}
	return list, true
}

// decimal writes a number that is not negative.
func decimal(n int) string {
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(digits[i:])
		}
	}
}

// environment returns the variables of the order's program: those of the file, over those of
// the pane.
func (o *Order) environment(pane, file []string) []string {
	var ofPane []string
	for _, kv := range pane {
		for _, name := range o.FromPane {
			if nameOf(kv) == name {
				ofPane = append(ofPane, kv)
			}
		}
	}
	at := map[string]int{}
	out := make([]string, 0, len(o.Defaults)+len(ofPane)+len(file)+len(o.Over))
	for _, list := range [][]string{o.Defaults, ofPane, file, o.Over} {
		for _, kv := range list {
			name := nameOf(kv)
			if name == "" {
				continue
			}
			if i, have := at[name]; have {
				out[i] = kv
				continue
			}
			at[name] = len(out)
			out = append(out, kv)
		}
	}
	return out
}

// nameOf is the name of a variable, "" of what is none.
func nameOf(kv string) string {
	for i := range len(kv) {
		if kv[i] == '=' {
			return kv[:i]
		}
	}
	return ""
}
