package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server is found over HTTP.
const Path = "/mcp"

// httpEnd bounds how long clients may take to let go at the end.
const httpEnd = 2 * time.Second

// HTTP serves any number of clients that know the token, until ctx ends. The listener
// is to be one of this machine only; pages of other sites are refused.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	streams := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		MaxRequestBodyBytes: MaxFrame, SessionTimeout: time.Hour, PropagateRequestCancellation: true,
	})
	mux := http.NewServeMux()
	mux.Handle(Path, http.NewCrossOriginProtection().Handler(bearer(token, streams)))
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

// bearer lets only those pass who know the token.
func bearer(token string, next http.Handler) http.Handler {
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if token == "" || subtle.ConstantTimeCompare([]byte(req.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, req)
	})
}
