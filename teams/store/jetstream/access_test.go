package jetstream_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// certificate writes a certificate of the loopback that signs itself, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "engine"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestAccess: an engine with a token, and TLS that asks for a certificate, is reached by files
// alone, and by nobody else.
func TestAccess(t *testing.T) {
	need(t)
	cert, key := certificate(t)
	server, err := natstest.Start("", "--auth", "s3cr3t", "--tlsverify", "--tlscacert", cert, "--tlscert", cert, "--tlskey", key)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("s3cr3t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := context20(t)
	for name, c := range map[string]struct {
		access jetstream.Access
		ok     bool
	}{
		"all":            {jetstream.Access{Token: token, CA: cert, Cert: cert, Key: key}, true},
		"no token":       {jetstream.Access{CA: cert, Cert: cert, Key: key}, false},
		"no certificate": {jetstream.Access{Token: token, CA: cert}, false},
		"not known":      {jetstream.Access{Token: token, Cert: cert, Key: key}, false},
	} {
		_, err := jetstream.Join(ctx, jetstream.Options{URL: server.URL, Access: c.access})
		if c.ok != (err == nil) || err != nil && (fault.CodeOf(err) != fault.EngineUnavailable || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(fault.Of(err).Hint, "machine ls") != (name == "no certificate") {
			t.Errorf("%s: the hint is %q", name, fault.Of(err).Hint)
		}
	}
	aWrongTokenIsPutRight(t, server, jetstream.Access{Token: token, CA: cert, Cert: cert, Key: key})
}

// aWrongTokenIsPutRight: an engine that has refused the token again and again takes the right
// one as soon as its file has it.
func aWrongTokenIsPutRight(t *testing.T, server *natstest.Server, access jetstream.Access) {
	t.Helper()
	right, err := os.ReadFile(access.Token)
	if err != nil {
		t.Fatal(err)
	}
	e, err := jetstream.Open(jetstream.Options{URL: server.URL, Access: access})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx := context20(t)
	lists := func(why string, want func(error) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if _, err := e.Roster().List(ctx); want(err) {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s: %v", why, err)
			}
		}
	}
	there := func(err error) bool { return err == nil }
	lists("it is reached", there)
	written(t, access.Token, "wr0ng")
	server.Kill()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	lists("it refuses, several times", func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "Authorization Violation") && time.Since(began) > 2*time.Second
	})
	written(t, access.Token, string(right))
	lists("it takes the right one", there)
}

// TestAccessByKey: an engine with an nkey, and what is said of files that do not let one in
// holds nothing of them.
func TestAccessByKey(t *testing.T) {
	need(t)
	const user, seed, other = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4", "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY", "SUAMLK2ZNL35WSMW37E7UD4VZ7ELPKW7DHC3BWBSD2GCZ7IUQQXZIORRBU"
	dir := t.TempDir()
	file := func(name, text string) string { return written(t, filepath.Join(dir, name), text) }
	server, err := natstest.Start("", "-c", file("conf", "authorization { users: [ { nkey: "+user+" } ] }\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	creds := "-----BEGIN NATS USER JWT-----\nx.y.z\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + other + "\n------END USER NKEY SEED------\n"
	for name, c := range map[string]struct {
		access jetstream.Access
		code   fault.Code
	}{
		"its key":     {jetstream.Access{NKey: file("seed", seed+"\n")}, ""},
		"another key": {jetstream.Access{NKey: file("other", other)}, fault.EngineUnavailable},
		"no key":      {jetstream.Access{NKey: file("none", "SUs3cr3t"+seed)}, fault.InvalidArgument},
		"no file":     {jetstream.Access{NKey: filepath.Join(dir, "nothing")}, fault.InvalidArgument},
		"credentials": {jetstream.Access{Creds: file("creds", creds)}, fault.EngineUnavailable},
		"no creds":    {jetstream.Access{Creds: file("text", "s3cr3t "+seed)}, fault.EngineUnavailable},
	} {
		_, err := jetstream.Join(context20(t), jetstream.Options{URL: server.URL, Access: c.access})
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v; want %s", name, err, c.code)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), seed) || strings.Contains(err.Error(), other)) {
			t.Errorf("%s: a secret is said", name)
		}
	}
}

// TestNoRoom: an engine that can keep no more is said to be that, not to be away.
func TestNoRoom(t *testing.T) {
	need(t)
	const account = "accounts { a { users: [{user: a, password: a}], jetstream: %s } }\nno_auth_user: a\n"
	for conf, want := range map[string][2]string{
		"jetstream { max_file_store: 1MB }\n":    {" has no room left: ", "free room"},
		fmt.Sprintf(account, "{max_streams: 2}"): {" allows this account no more: ", "leadlight needs three streams"},
		fmt.Sprintf(account, "disabled"):         {"no JetStream answers at ", "start nats-server with -js"},
	} {
		server, err := natstest.Start("", "-c", written(t, filepath.Join(t.TempDir(), "conf"), conf))
		if err != nil {
			t.Fatal(err)
		}
		_, err = jetstream.Join(context20(t), jetstream.Options{URL: server.URL})
		if fault.CodeOf(err) != fault.EngineUnavailable || !strings.Contains(err.Error(), want[0]) || !strings.HasPrefix(fault.Of(err).Hint, want[1]) {
			t.Errorf("%s%v; want %q", conf, fault.Of(err), want)
		}
		server.Stop()
	}
}

// TestWipedEngine: an engine that has lost its disk is said to be another, and nothing is
// made there.
func TestWipedEngine(t *testing.T) {
	need(t)
	dir := t.TempDir()
	server, err := natstest.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	ctx := context20(t)
	o := jetstream.Options{URL: server.URL}
	id, err := jetstream.Join(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	e, err := jetstream.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Roster().Create(ctx, store.Team{Name: "alpha", Members: []store.Member{{Name: store.Lead}}}); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if err := os.RemoveAll(filepath.Join(dir, "jetstream")); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		err := e.Check(ctx, id)
		if fault.CodeOf(err) != fault.EngineUnavailable {
			t.Fatalf("a wiped engine: %v", err)
		}
		if strings.Contains(err.Error(), "lost") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not said what happened: %v", err)
		}
	}
	if err := e.Roster().Update(ctx, "alpha", func(x *store.Team) error { x.Description = "x"; return nil }); fault.CodeOf(err) != fault.EngineUnavailable {
		t.Errorf("a change of what is lost: %v", err)
	}
	if _, err := jetstream.Join(ctx, o); err != nil {
		t.Fatal(err)
	}
	if err := e.Check(ctx, id); err == nil || !strings.Contains(err.Error(), "not the one") {
		t.Errorf("an engine that was made anew: %v", err)
	}
}

// written writes a file of the user's own, and returns its path.
func written(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
