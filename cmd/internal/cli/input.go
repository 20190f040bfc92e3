package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/cmd/internal/config"
	"github.com/leadlight-dev/leadlight/teams/store"
)

// maxEnvFile is the largest file that --env-from reads.
const maxEnvFile = 1 << 20

// text is the text that an argument means: itself, or standard input for "-".
// what names it in errors, limit is in bytes.
func (a *app) text(arg, what string, limit int) (string, error) {
	if arg != "-" {
		return checkText(arg, what, limit)
	}
	if isTerminal(a.in) {
		a.say("reading the %s from the terminal, up to an end of file (^D)", what)
	}
	data, err := a.outside(func() ([]byte, error) { return readUpTo(a.in, limit) })
	if err != nil {
		return "", fmt.Errorf("read the %s from standard input: %w", what, err)
	}
	return checkText(strings.TrimSuffix(string(data), "\n"), what, limit)
}

// maybeText reads the text of a flag that may not be given.
func (a *app) maybeText(arg *string, what string) (err error) {
	if arg != nil {
		*arg, err = a.text(*arg, what, store.MaxMessage)
	}
	return err
}

// textOrFile is text that can also come from a file, as @FILE.
func (a *app) textOrFile(arg, what string, limit int) (string, error) {
	path, isFile := strings.CutPrefix(arg, "@")
	if !isFile {
		return a.text(arg, what, limit)
	}
	data, err := a.outside(func() ([]byte, error) { return readFileUpTo(a.fromHome(path), limit) })
	if err != nil {
		return "", usage("read the %s: %w", what, err).WithHint("name a file that can be read, or - for standard input")
	}
	return checkText(string(data), what, limit)
}

func readFileUpTo(path string, limit int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.IsDir() {
		return nil, fmt.Errorf("%s is a folder", path)
	}
	return readUpTo(f, limit)
}

func readUpTo(r io.Reader, limit int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(limit)+2))
}

// checkText refuses what the files of a team cannot hold as it is.
func checkText(text, what string, limit int) (string, error) {
	switch {
	case len(text) > limit:
		return "", usage("the %s is larger than %d bytes, which is the limit", what, limit).
			WithHint("put it into a file and send the file's name")
	case !utf8.ValidString(text):
		return "", usage("the %s is not UTF-8 text", what).WithHint("put it into a file and send the file's name")
	}
	return text, nil
}

// variables are the variables of --env-from FILE and --env K=V, later ones over
// earlier ones.
func (a *app) variables(file string, pairs []string) ([]string, error) {
	var out []string
	if file != "" {
		var err error
		if out, err = a.readEnvFile(file); err != nil {
			return nil, err
		}
	}
	for _, kv := range pairs {
		if err := checkPair(kv); err != nil {
			return nil, usage("--env %s: %v", store.Shown(kv), err)
		}
	}
	return append(out, pairs...), nil
}

func checkPair(kv string) error {
	k, v, ok := strings.Cut(kv, "=")
	if !ok {
		return errors.New("it takes K=V")
	}
	if strings.Contains(v, "\x00") {
		return errors.New("a value cannot hold a NUL")
	}
	return config.CheckVariable(k)
}

// readEnvFile reads lines of K=V; empty ones and those that begin with # are
// passed over. Values are taken as they are, without quotes or expansion.
func (a *app) readEnvFile(path string) ([]string, error) {
	data, err := a.outside(func() ([]byte, error) { return readFileUpTo(a.fromHome(path), maxEnvFile) })
	if err != nil {
		return nil, usage("--env-from: %w", err).WithHint("name a file of lines K=V")
	}
	if len(data) > maxEnvFile {
		return nil, usage("--env-from %s: larger than %d bytes", path, maxEnvFile)
	}
	return parseEnv(path, data)
}

func parseEnv(shown string, data []byte) ([]string, error) {
	var out []string
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if s := strings.TrimSpace(line); s == "" || s[0] == '#' {
			continue
		}
		if err := checkPair(line); err != nil {
			return nil, usage("--env-from %s:%d: %v", shown, n, err)
		}
		out = append(out, line)
	}
	return out, nil
}

// metadata turns K=V pairs into fields: a value that is JSON is taken as JSON,
// any other as text.
func metadata(pairs []string) (map[string]json.RawMessage, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	out := map[string]json.RawMessage{}
	for _, kv := range pairs {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, usage("%s: metadata is K=V", store.Shown(kv))
		}
		if !utf8.ValidString(kv) {
			return nil, usage("metadata %s: not UTF-8 text", store.Shown(kv))
		}
		if !json.Valid([]byte(v)) {
			quoted, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("encode metadata %s: %w", k, err)
			}
			v = string(quoted)
		}
		out[k] = json.RawMessage(v)
	}
	return out, nil
}

// ids splits lists of task ids, such as 1,2 and #3.
func ids(lists []string) ([]string, error) {
	var out []string
	for _, list := range lists {
		for id := range strings.SplitSeq(list, ",") {
			id, err := taskID(strings.TrimSpace(id))
			if err != nil {
				return nil, err
			}
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out, nil
}

// goingIDs is ids for what is to be taken out of a list: what stands there may be no id.
func goingIDs(lists []string) ([]string, error) {
	out := slices.Clone(lists)
	for _, list := range lists {
		for word := range strings.SplitSeq(list, ",") {
			if word = strings.TrimSpace(word); word == "" {
				return ids(lists) // which says what is wrong
			}
			out = append(out, word, strings.TrimPrefix(word, "#"))
		}
	}
	return out, nil
}

// first is the first argument, "" if there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// taskID checks the form of a task's id, which is taken as it is; only #7 is 7.
func taskID(s string) (string, error) {
	id := strings.TrimPrefix(s, "#")
	if id == "" || len(id) > 18 || strings.Trim(id, "0123456789") != "" {
		return "", usage("%q is not the id of a task", store.Shown(s)).WithHint("leadlight task ls lists the tasks with their ids")
	}
	return id, nil
}
