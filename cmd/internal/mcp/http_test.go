package mcp

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leadlight-dev/leadlight/teams/watch"
)

// knower adds a token to every request.
type knower struct{ token string }

func (k knower) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+k.token)
	return http.DefaultTransport.RoundTrip(req)
}

func TestXF16_HTTP(t *testing.T) {
	d := newFixture(t)
	svc, who := d.as("")
	s := New(Options{Source: watch.Source{Service: svc, Roster: d.fs.Roster(), Mail: d.fs.Mail(nil), Tasks: d.fs.Tasks()}, Caller: who, Enabled: true})
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
	checkRefusals(t, url)
	checkNumbers(t, url)
	do[waitOut](t, one, "WaitForEvents", args{"after": 0, "types": []string{"team:task:created"}})
	if err := one.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "leadlight://teams/alpha/tasks"}); err != nil {
		t.Error(err)
	}
	_ = one.Close()
	eventually(t, "nothing is kept for a client that has gone", func() bool {
		do[waitOut](t, two, "WaitForEvents", args{"after": 0, "types": []string{"team:task:created"}})
		s.mu.Lock()
		defer s.mu.Unlock()
		s.board.mu.Lock()
		defer s.board.mu.Unlock()
		return len(s.positions) == 1 && len(s.board.subs) == 0
	})
	waits := make(chan error, 1)
	go func() {
		_, err := two.CallTool(context.Background(), &sdk.CallToolParams{Name: "WaitForEvents", Arguments: args{"timeout_seconds": 300}})
		waits <- err
	}()
	eventually(t, "it waits", func() bool {
		tw := s.watch.get("alpha")
		tw.mu.Lock()
		defer tw.mu.Unlock()
		return tw.keen == 1
	})
	cancel() // with a client that stays, and waits
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("it does not end")
	}
	_ = two.Close()
	<-waits
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// checkNumbers: XF-16, an id comes back as it was, whatever a float could hold.
func checkNumbers(t *testing.T, url string) {
	t.Helper()
	session := ""
	ask := func(body string) string {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		for name, value := range map[string]string{"Authorization": "Bearer secret", "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if session == "" {
			session = res.Header.Get("Mcp-Session-Id")
		}
		said, _ := io.ReadAll(res.Body)
		return string(said)
	}
	ask(hello)
	ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, id := range []string{"9007199254740993", "-123456789012345678901234567890", "1.5", `"leadlight"`, "7", "-0", "1e400", `"a\u0041\ud800"`, `"leadlight:number:5"`} {
		if said := ask(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`); !strings.Contains(said, `"id":`+id+`,`) && !strings.Contains(said, `"id":`+id+`}`) {
			t.Errorf("%s: %s", id, said)
		}
	}
}

// checkRefusals asks as pages of other sites do, and without the token.
func checkRefusals(t *testing.T, url string) {
	t.Helper()
	for _, tc := range []struct {
		method, header, value string
		status                int
		says                  string
	}{
		{http.MethodPost, "Origin", "https://example.com", http.StatusForbidden, "other sites"},
		{http.MethodGet, "Origin", "https://example.com", http.StatusForbidden, "other sites"},
		{http.MethodPost, "Origin", "null", http.StatusForbidden, "other sites"},
		{http.MethodGet, "Sec-Fetch-Site", "cross-site", http.StatusForbidden, "other sites"},
		{http.MethodPost, "Host", "example.com", http.StatusForbidden, "Host"},
		{http.MethodGet, "Host", "example.com:80", http.StatusForbidden, "Host"},
		{http.MethodPost, "Authorization", "", http.StatusUnauthorized, "the token is missing: send the header Authorization"},
		{http.MethodGet, "Authorization", "Bearer secret2", http.StatusUnauthorized, "the token is wrong"},
		{http.MethodDelete, "Authorization", "secret", http.StatusUnauthorized, "the token is wrong"},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), tc.method, url, strings.NewReader("{}"))
		req.Header.Set("Authorization", "Bearer secret")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if req.Header.Set(tc.header, tc.value); tc.header == "Host" {
			req.Host = tc.value
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			continue
		}
		said, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tc.status || !strings.Contains(string(said), tc.says) || strings.Contains(string(said), "secret") {
			t.Errorf("%+v: %s %s", tc, res.Status, said)
		}
	}
}
