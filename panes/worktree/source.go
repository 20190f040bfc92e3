package worktree

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/leadlight-dev/leadlight/internal/fault"
)

// Source is a repository that is elsewhere, at one of its refs.
type Source struct {
	URL string `json:"url"`           // https, http, ssh, git, file, HOST:PATH, or an absolute path
	Ref string `json:"ref,omitempty"` // a branch, a tag or a commit; "": where the repository's own HEAD is
}

const (
	maxURL = 2048
	maxRef = 255
)

// String names it for people.
func (s Source) String() string {
	if s.Ref == "" {
		return s.URL
	}
	return s.URL + " at " + s.Ref
}

// Local tells whether the url is a path, also a relative one, which whoever asks completes.
func (s Source) Local() bool {
	return s.URL != "" && s.URL[0] != '-' && !strings.Contains(s.head(), ":")
}

// head is the url up to its first slash, where git looks for a host.
func (s Source) head() string {
	head, _, _ := strings.Cut(s.URL, "/")
	return head
}

// Check refuses, as fault.InvalidArgument, what is no url or no ref, what git would take for
// an option or a program, and a url with a secret in it, which would be written down.
func (s Source) Check() error {
	if err := s.CheckURL(); err != nil {
		return err
	}
	return s.CheckRef()
}

// CheckURL is the part of Check about the url.
func (s Source) CheckURL() error {
	why := ""
	switch {
	case s.URL == "":
		why = "has no url"
	case len(s.URL) > maxURL || !utf8.ValidString(s.URL) || strings.ContainsFunc(s.URL, unicode.IsControl) || strings.TrimSpace(s.URL) != s.URL:
		why = "has no url that can be taken"
	case s.URL[0] == '-':
		why = "would be an option of git"
	case strings.Contains(s.head(), "::"):
		why = "names a program that git would run"
	case strings.Contains(s.URL, "://"):
		why = s.wrongScheme()
	case s.Local():
		if !filepath.IsAbs(s.URL) {
			why = "is no absolute path"
		}
	default:
		why = s.wrongHost()
	}
	switch why {
	case "":
		return nil
	case hasSecret:
		return fault.New(fault.InvalidArgument, "the repository %.200q %s", s.withoutSecrets(), why).
			WithHint("leave it out: it would be written down; git finds a password by a credential helper, or uses an ssh key")
	}
	return fault.New(fault.InvalidArgument, "the repository %.200q %s", s.withoutSecrets(), why).
		WithHint("a url is %s://HOST/PATH, [USER@]HOST:PATH or an absolute path", strings.Join(schemes(), "://, "))
}

const hasSecret = "has a user, a password or a token in its url"

func schemes() []string { return []string{"https", "http", "ssh", "git", "file"} }

func (s Source) wrongScheme() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "has no url that can be taken"
	}
	_, password := u.User.Password()
	web := u.Scheme == "https" || u.Scheme == "http" // there a user may be a token, and a query may have one
	switch {
	case !slices.Contains(schemes(), u.Scheme):
		return "is reached in a way that is not taken"
	case password || web && (u.User != nil || u.RawQuery != "" || u.Fragment != ""):
		return hasSecret
	case strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-"):
		return "would be an option of a program of git's"
	case u.Host == "" && u.Scheme != "file":
		return "names no host"
	}
	return ""
}

// wrongHost is about [USER@]HOST:PATH.
func (s Source) wrongHost() string {
	host, path, _ := strings.Cut(s.URL, ":")
	user, name, hasUser := strings.Cut(host, "@")
	if !hasUser {
		user, name = "", host
	}
	first, _, _ := strings.Cut(path, "/")
	switch {
	case !hasUser && strings.Contains(first, "@"): // user:password@host
		return hasSecret
	case name == "" || path == "":
		return "names no host and path"
	case slices.ContainsFunc([]string{user, name, path}, func(part string) bool { return strings.HasPrefix(part, "-") }):
		return "would be an option of a program of git's"
	}
	return ""
}

// withoutSecrets is the url without what may be a secret.
func (s Source) withoutSecrets() string {
	shown := s.URL
	if at := strings.IndexAny(shown, "?#"); at >= 0 && shown[0] != '/' {
		if strings.Contains(shown[at:], "@") { // of a password, or of a token
			at = strings.Index(shown, "://") + 1
		}
		shown = shown[:at] + "…"
	}
	return wideUser().ReplaceAllString(shown, "${1}…@")
}

// Where a user, a password or a token may stand: in a url that may be anything, and in what git says.
var (
	wideUser  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^([A-Za-z0-9+.-]+://)?.*@`) })
	saidUser  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^\s/@]*@`) })
	saidQuery = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://[^\s'"?#]*)[?#][^\s'"]*`) })
)

// saidWithoutSecrets is what git has said without what may be a secret.
func saidWithoutSecrets(text string) string {
	return saidQuery().ReplaceAllString(saidUser().ReplaceAllString(text, "://…@"), "${1}?…")
}

// CheckRef is the part of Check about the ref. The rules are those of git check-ref-format.
func (s Source) CheckRef() error {
	odd := func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(" ~^:?*[\\", r) }
	part := func(p string) bool { return p == "" || p[0] == '.' || strings.HasSuffix(p, ".lock") }
	r := s.Ref
	switch {
	case r == "":
		return nil
	case len(r) > maxRef, !utf8.ValidString(r), r == "@", r[0] == '-', strings.HasSuffix(r, "."), strings.Contains(r, ".."), strings.Contains(r, "@{"),
		strings.ContainsFunc(r, odd), slices.ContainsFunc(strings.Split(r, "/"), part):
		return fault.New(fault.InvalidArgument, "%.100q cannot be the name of a branch, a tag or a commit", r).
			WithHint("name a branch, a tag, or a commit by its number")
	}
	return nil
}
