package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server is found over HTTP.
const Path = "/mcp"

// httpEnd bounds how long clients may take to let go at the end.
const httpEnd = 2 * time.Second

// HTTP serves any number of clients that know the token, until ctx ends. The listener
// is to be one of this machine only. Pages of other sites are refused, also those that
// have bent a name of theirs to this machine: the SDK takes only its own names as Host.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	streams := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: MaxFrame, SessionTimeout: time.Hour, PropagateRequestCancellation: true,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, ownPages(bearer(token, exactNumbers(streams))))
	return s.run(ctx, func(ctx context.Context) error {
		server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
		stop := context.AfterFunc(ctx, func() {
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpEnd)
			defer cancel()
			if server.Shutdown(end) != nil {
				_ = server.Close() // streams are open as long as their clients are
			}
		})
		defer stop()
		err := server.Serve(l)
		for c := range s.sdk.Sessions() {
			_ = c.Close()
		}
		if errors.Is(err, http.ErrServerClosed) {
			return context.Cause(ctx)
		}
		return err
	})
}

// ownPages refuses what a page of another site asks for, by whatever method: browsers
// say where a page is from, and programs say nothing.
func ownPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		from := req.Header.Get("Origin")
		u, err := url.Parse(from)
		site := req.Header.Get("Sec-Fetch-Site")
		if from != "" && (err != nil || u.Host != req.Host) || site == "cross-site" || site == "same-site" {
			http.Error(w, "pages of other sites are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// bearer lets only those pass who know the token. How long the comparison takes says
// nothing of it.
func bearer(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + token))
	refuse := func(w http.ResponseWriter, why string) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, why+": send the header Authorization: Bearer TOKEN, as leadlight mcp --http has printed it", http.StatusUnauthorized)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		given := req.Header.Get("Authorization")
		got := sha256.Sum256([]byte(given))
		switch {
		case given == "":
			refuse(w, "the token is missing")
		case token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			refuse(w, "the token is wrong")
		default:
			next.ServeHTTP(w, req)
		}
	})
}
