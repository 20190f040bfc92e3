package jetstream_test

import (
	"crypto/ed25519"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// Kinds of NATS keys, as their first bytes say.
const (
	operatorKey byte = 14 << 3
	accountKey  byte = 0
	userKey     byte = 20 << 3
	seedMark    byte = 18 << 3
)

// natsKey is a key of an operator, an account or a user, as NATS writes it.
type natsKey struct {
	private      ed25519.PrivateKey
	public, seed string
}

func newKey(t *testing.T, kind byte) natsKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	written := func(head []byte, key []byte) string {
		raw := append(head, key...)
		var sum uint16 // CRC-16 of XMODEM
		for _, b := range raw {
			sum ^= uint16(b) << 8
			for range 8 {
				if top := sum & 0x8000; top != 0 {
					sum = sum<<1 ^ 0x1021
				} else {
					sum <<= 1
				}
			}
		}
		return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(binary.LittleEndian.AppendUint16(raw, sum))
	}
	return natsKey{private, written([]byte{kind}, public), written([]byte{seedMark | kind>>5, kind & 31 << 3}, private.Seed())}
}

// token says something of a key, signed by this one.
func (k natsKey) token(t *testing.T, about natsKey, says map[string]any) string {
	t.Helper()
	says["version"] = 2
	var parts []string
	claims := map[string]any{"jti": about.public, "iat": 1, "iss": k.public, "sub": about.public, "name": "test", "nats": says}
	if until, ok := says["exp"]; ok {
		claims["exp"] = until
	}
	for _, part := range []any{map[string]any{"typ": "JWT", "alg": "ed25519-nkey"}, claims} {
		data, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, base64.RawURLEncoding.EncodeToString(data))
	}
	text := strings.Join(parts, ".")
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private, []byte(text)))
}

// TestAccessByCredentials: an engine that trusts an operator lets in whoever has the
// credentials of a user of one of its accounts. Another account sees nothing of it.
func TestAccessByCredentials(t *testing.T) {
	need(t)
	t.Parallel()
	operator, system := newKey(t, operatorKey), newKey(t, accountKey)
	all := map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
	account := func(key natsKey) string {
		return operator.token(t, key, map[string]any{"type": "account", "limits": all})
	}
	dir := t.TempDir()
	file := func(name, text string) string { return written(t, filepath.Join(dir, name), text) }
	creds := func(name string, account natsKey, until ...time.Time) string {
		user := newKey(t, userKey)
		says := map[string]any{"type": "user", "subs": -1, "data": -1, "payload": -1}
		for _, u := range until {
			says["exp"] = u.Unix()
		}
		token := account.token(t, user, says)
		return file(name, "-----BEGIN NATS USER JWT-----\n"+token+"\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n"+user.seed+"\n------END USER NKEY SEED------\n")
	}
	ours, theirs, stranger := newKey(t, accountKey), newKey(t, accountKey), newKey(t, accountKey)
	preload := ""
	for _, key := range []natsKey{system, ours, theirs} {
		token := account(key)
		if key.public == system.public {
			token = operator.token(t, key, map[string]any{"type": "account", "limits": map[string]any{"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1}})
		}
		preload += fmt.Sprintf("  %s: %s\n", key.public, token)
	}
	conf := fmt.Sprintf("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: {\n%s}\n",
		operator.token(t, operator, map[string]any{"type": "operator", "system_account": system.public}), system.public, preload)
	server, err := natstest.Start("", "-c", file("conf", conf))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	join := func(path string) (string, error) {
		return jetstream.Join(context20(t), jetstream.Options{URL: server.URL, Access: jetstream.Access{Creds: path}})
	}
	first, err := join(creds("one", ours))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := join(creds("two", ours)); err != nil || again != first {
		t.Errorf("another user of the account: %s, not %s; %v", again, first, err)
	}
	if other, err := join(creds("three", theirs)); err != nil || other == first {
		t.Errorf("a user of another account: %s, %v", other, err)
	}
	if _, err := join(creds("four", stranger)); fault.CodeOf(err) != fault.EngineUnavailable {
		t.Errorf("a user of an account that is not known: %v", err)
	}
	path := creds("five", ours, time.Now().Add(2*time.Second))
	e, err := jetstream.Open(jetstream.Options{URL: server.URL, Access: jetstream.Access{Creds: path}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	lists := func(what string, want func(error) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if _, err := e.Roster().List(context20(t)); want(err) {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, fault.Of(err))
			}
		}
	}
	lists("it is let in", func(err error) bool { return err == nil })
	lists("its credentials expire, and are named", func(err error) bool {
		return fault.CodeOf(err) == fault.EngineUnavailable && strings.Contains(fault.Of(err).Hint, path)
	})
	creds("five", ours)
	lists("new ones are put there", func(err error) bool { return err == nil })
}
