package jetstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/leadlight-dev/leadlight/internal/fault"
	"github.com/leadlight-dev/leadlight/internal/files"
)

// Access is how a machine proves to the engine who it is: paths of files that hold the
// secrets, which are read at every connection.
type Access struct {
	Creds string `json:"creds,omitempty"` // of the NATS credentials file
	NKey  string `json:"nkey,omitempty"`  // of an nkey's seed
	Token string `json:"token,omitempty"` // of a token
	CA    string `json:"ca,omitempty"`    // of the certificates that sign the engine's
	Cert  string `json:"cert,omitempty"`  // of this machine's certificate
	Key   string `json:"key,omitempty"`   // of the certificate's key
}

// options reads the files.
func (a Access) options() ([]nats.Option, error) {
	var out []nats.Option
	if a.Creds != "" {
		out = append(out, nats.UserCredentials(a.Creds))
	}
	if a.NKey != "" {
		o, err := nats.NkeyOptionFromSeed(a.NKey)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "the nkey in %s cannot be used: %w", a.NKey, err).WithHint("the file holds the seed of a user, which begins with SU")
		}
		out = append(out, o)
	}
	if a.Token != "" {
		out = append(out, nats.TokenHandler(func() string { return secret(a.Token) }))
	}
	if a.CA != "" {
		out = append(out, nats.RootCAs(a.CA))
	}
	if a.Cert != "" {
		out = append(out, nats.ClientCert(a.Cert, a.Key))
	}
	if a.CA+a.Cert != "" {
		out = append(out, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	return out, nil
}

// check refuses a file that does not hold what it is named for, so that nobody looks for the
// fault at the engine.
func (a Access) check() error {
	if a.CA != "" {
		if data, err := files.ReadFile(a.CA, files.MaxSecret); err != nil || !x509.NewCertPool().AppendCertsFromPEM(data) {
			return unusable(a.CA, "the certificates that sign the engine's", err, "machine join --tls-ca takes certificates in the form PEM: each begins with -----BEGIN CERTIFICATE-----")
		}
	}
	if a.Cert != "" {
		if _, err := tls.LoadX509KeyPair(a.Cert, a.Key); err != nil {
			return unusable(a.Cert+" with the key in "+a.Key, "a certificate", err, "machine join takes by --tls-cert and --tls-key a certificate and the key that belongs to it, both in the form PEM")
		}
	}
	if a.Creds != "" {
		data, err := files.ReadFile(a.Creds, files.MaxSecret)
		if err == nil {
			_, err = nats.NkeyOptionFromSeed(a.Creds)
		}
		if err != nil || !bytes.Contains(data, []byte("-----BEGIN NATS USER JWT-----")) {
			return unusable(a.Creds, "credentials", err, "machine join --creds takes a file as nsc writes it, with the JWT of a user and its seed")
		}
	}
	if a.Token != "" && secret(a.Token) == "" {
		return unusable(a.Token, "a token", nil, "machine join --token-file takes a file that holds the token and nothing else")
	}
	return nil
}

func unusable(path, what string, err error, hint string) error {
	if err == nil {
		err = errors.New("there is none in it")
	}
	return fault.New(fault.InvalidArgument, "%s cannot be used for %s: %w", path, what, err).WithHint("%s", hint)
}

// unavailable is the error of an engine that does not answer.
func (a Access) unavailable(op string, err error) error {
	// What cannot be sent is not kept for later, and no answer comes on a connection that is gone.
	if err == nil || errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, context.Canceled) {
		err = nats.ErrDisconnected
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it does not answer")
	}
	return fault.New(fault.EngineUnavailable, "%s: %w", op, err).WithHint("%s", a.remedy(err))
}

// remedy is what to do about an engine that was not reached.
func (a Access) remedy(err error) string {
	untrusted, unsure := errors.AsType[*tls.CertificateVerificationError](err)
	remote, told := errors.AsType[*net.OpError](err)
	switch {
	case unsure:
		return a.verification(untrusted.Err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the engine does not speak TLS: give it a certificate, or join with nats:// and without --tls-ca and --tls-cert"
	case errors.Is(err, nats.ErrTLS) && a.check() == nil, told && remote.Op == "remote error":
		return a.ours()
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		if file := cmp.Or(a.Creds, a.NKey, a.Token); file != "" {
			return "the engine takes no such user, or no longer: put a secret that it takes into " + file + ", which is read at every connection"
		}
		return "the engine asks for a user: machine join takes the secret of one by --creds, --nkey or --token-file"
	}
	if bad := a.check(); bad != nil {
		return "see to the file, which is read at every connection: " + fault.Of(bad).Message
	}
	return "leadlight machine ls tells which engine this machine has joined; see that it runs, can be reached and has room on its disk"
}

// verification is what to do about a certificate of the engine that proves nothing.
func (a Access) verification(err error) string {
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return "renew the certificate of " + bad.Cert.Subject.String() + " at the engine, if the clock of this machine is right"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "join by an address that the engine's certificate names, or give the engine a certificate for this one"
	}
	if a.CA == "" {
		return "name the file that holds who signed the engine's certificate: machine join --tls-ca FILE"
	}
	return "the engine's certificate has to be signed by one of those in " + a.CA + ", which machine join --tls-ca has named"
}

// ours is what to do about an engine that does not take this machine's certificate.
func (a Access) ours() string {
	if a.Cert == "" {
		return "the engine asks this machine for a certificate: name one with machine join --tls-cert FILE --tls-key FILE"
	}
	until := ""
	if pair, err := tls.LoadX509KeyPair(a.Cert, a.Key); err == nil && pair.Leaf != nil {
		until = ", which is valid until " + pair.Leaf.NotAfter.UTC().Format(time.RFC3339)
	}
	return "the engine does not take this machine's certificate, " + a.Cert + until + ": renew it, or have it signed by whom the engine trusts"
}
