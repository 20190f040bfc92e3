package mcp

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// knower adds a token to every request.
type knower struct{ token string }

func (k knower) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+k.token)
	return http.DefaultTransport.RoundTrip(req)
}

func TestHTTP(t *testing.T) {
	d := newDesk(t)
	svc, who := d.as("")
	s := New(Options{Service: svc, Caller: who, Enabled: true, Stores: Stores{Roster: d.fs.Roster(), Mail: d.fs.Mail(), Tasks: d.fs.Tasks()}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.HTTP(ctx, l, "secret") }()
	url := "http://" + l.Addr().String() + Path
	dial := func(token string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: knower{token}}}, nil)
	}
	for _, token := range []string{"", "wrong", "secret2"} {
		if c, err := dial(token); err == nil {
			t.Errorf("%q lets a client in", token)
			_ = c.Close()
		}
	}
	one, err := dial("secret")
	if err != nil {
		t.Fatal(err)
	}
	two, err := dial("secret")
	if err != nil {
		t.Fatal(err)
	}
	do[teamCreateOut](t, one, "TeamCreate", args{"team_name": "alpha", "description": "x"})
	do[taskOut](t, two, "TaskCreate", args{"subject": "look"})
	if got := do[taskListOut](t, one, "TaskList", args{}); len(got.Tasks) != 1 {
		t.Errorf("%+v", got)
	}
	for header, value := range map[string]string{"Origin": "https://example.com", "Host": "example.com"} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
		req.Header.Set("Authorization", "Bearer secret")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if req.Header.Set(header, value); header == "Host" {
			req.Host = value
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %v %v", header, value, res, err)
		}
		if err == nil {
			_ = res.Body.Close()
		}
	}
	_ = one.Close()
	cancel() // with a client that stays
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
	_ = two.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
