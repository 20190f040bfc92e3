package jetstream_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/teams/store"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream"
	"github.com/leadlight-dev/leadlight/teams/store/jetstream/natstest"
)

// certificate writes a certificate of the loopback that signs itself and is in date for so long, and
// its key.
func certificate(t *testing.T, good time.Duration) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "engine"}, NotAfter: time.Now().Add(good),
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
	cert, key := certificate(t, time.Hour)
	foreign, foreignKey := certificate(t, time.Hour)
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
		hint   string // "": it is let in
	}{
		"all":            {jetstream.Access{Token: token, CA: cert, Cert: cert, Key: key}, ""},
		"no token":       {jetstream.Access{CA: cert, Cert: cert, Key: key}, "--token-file"},
		"wrong token":    {jetstream.Access{Token: cert, CA: cert, Cert: cert, Key: key}, "into " + cert},
		"no certificate": {jetstream.Access{Token: token, CA: cert}, "--tls-cert"},
		"another's":      {jetstream.Access{Token: token, CA: cert, Cert: foreign, Key: foreignKey}, foreign},
		"not known":      {jetstream.Access{Token: token, Cert: cert, Key: key}, "--tls-ca FILE"},
		"another signer": {jetstream.Access{Token: token, CA: foreign, Cert: cert, Key: key}, foreign},
	} {
		_, err := jetstream.Join(ctx, jetstream.Options{URL: server.URL, Access: c.access})
		if (c.hint == "") != (err == nil) || err != nil && (fault.CodeOf(err) != fault.EngineUnavailable || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.Contains(fault.Of(err).Hint, c.hint) && !errors.Is(err, syscall.ECONNRESET) { // then it could not say why
			t.Errorf("%s: %v, the hint is %q", name, err, fault.Of(err).Hint)
		}
	}
	anEngineOutOfDate(t, cert, key)
	aWrongTokenIsPutRight(t, server, jetstream.Access{Token: token, CA: cert, Cert: cert, Key: key})
}

// anEngineOutOfDate: whose certificate has expired, or does not name the address, is said to be
// that; and so is an engine without TLS.
func anEngineOutOfDate(t *testing.T, cert, key string) {
	t.Helper()
	expired, itsKey := certificate(t, -time.Hour)
	for hint, c := range map[string]struct{ ca, host, flags string }{
		"renew the certificate of CN=engine": {expired, "127.0.0.1", "--tls --tlscert " + expired + " --tlskey " + itsKey},
		"join by an address":                 {cert, "localhost", "--tls --tlscert " + cert + " --tlskey " + key},
		"does not speak TLS":                 {cert, "127.0.0.1", "-m 0"},
	} {
		server, err := natstest.Start("", strings.Fields(c.flags)...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = jetstream.Join(context20(t), jetstream.Options{URL: strings.Replace(server.URL, "127.0.0.1", c.host, 1), Access: jetstream.Access{CA: c.ca}})
		if fault.CodeOf(err) != fault.EngineUnavailable || !strings.Contains(fault.Of(err).Hint, hint) {
			t.Errorf("%v, the hint is %q; want %q", err, fault.Of(err).Hint, hint)
		}
		server.Stop()
	}
}

// TestAccessOfTheWrongKind: a file that does not hold what it is named for is refused at the join, by
// its name; one that turns bad later is named, too.
func TestAccessOfTheWrongKind(t *testing.T) {
	need(t)
	t.Parallel()
	cert, key := certificate(t, time.Hour)
	_, other := certificate(t, time.Hour)
	server, err := natstest.Start("", "--tls", "--tlscert", cert, "--tlskey", key)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	empty := written(t, filepath.Join(t.TempDir(), "empty"), "")
	for name, c := range map[string]struct {
		access jetstream.Access
		file   string
	}{
		"CA is empty":             {jetstream.Access{CA: empty}, empty},
		"CA is a key":             {jetstream.Access{CA: key}, key},
		"certificate is empty":    {jetstream.Access{CA: cert, Cert: empty, Key: key}, empty},
		"key of another":          {jetstream.Access{CA: cert, Cert: cert, Key: other}, other},
		"credentials are empty":   {jetstream.Access{CA: cert, Creds: empty}, empty},
		"credentials are another": {jetstream.Access{CA: cert, Creds: cert}, cert},
		"token is empty":          {jetstream.Access{CA: cert, Token: empty}, empty},
	} {
		_, err := jetstream.Join(context20(t), jetstream.Options{URL: server.URL, Access: c.access})
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), c.file) || fault.Of(err).Hint == "" {
			t.Errorf("%s: %v", name, fault.Of(err))
		}
	}
	if _, err := jetstream.Open(jetstream.Options{URL: server.URL, Access: jetstream.Access{CA: empty}}); fault.CodeOf(err) != fault.EngineUnavailable || !strings.Contains(fault.Of(err).Hint, empty) {
		t.Errorf("a file that turned bad: %v", fault.Of(err))
	}
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
		"no creds":    {jetstream.Access{Creds: file("text", "s3cr3t "+seed)}, fault.InvalidArgument},
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
