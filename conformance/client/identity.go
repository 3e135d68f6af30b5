package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/agentco/agent/proto/plugin"
)

// Identity is a certificate by which a kernel proves itself, as go-plugin's AutoMTLS makes one.
type Identity struct {
	// PEM is what the provider is given.
	PEM []byte
	// Certificate has the key too.
	Certificate tls.Certificate
}

// NewIdentity makes a certificate.
func NewIdentity() (Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Identity{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Identity{}, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, SerialNumber: serial,
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		NotBefore:   time.Now().Add(-time.Minute), NotAfter: time.Now().AddDate(1, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return Identity{}, err
	}
	return Identity{
		PEM:         pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}, nil
}

// Cookie is the variable that makes a binary a provider.
func Cookie() string { return plugin.MagicCookieKey + "=" + plugin.MagicCookieValue }

// Start starts a process as go-plugin does, with its variables but no cookie unless env has it, and leaves the rest to
// the caller. o.Temp must be set. The process ends with ctx.
func (o Options) Start(ctx context.Context, identity Identity, env ...string) (*Process, error) {
	cmd := o.command()
	cmd.Env = append(cmd.Env,
		"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000", "PLUGIN_PROTOCOL_VERSIONS=1",
		goplugin.EnvUnixSocketDir+"="+o.Temp)
	if identity.PEM != nil {
		cmd.Env = append(cmd.Env, "PLUGIN_CLIENT_CERT="+string(identity.PEM))
	}
	cmd.Env = append(cmd.Env, env...)
	p := newProcess(ctx, cmd, o.Stderr)
	// Nobody takes the first line from a pipe here.
	_ = p.handshake.Close()
	return p, p.Start(ctx)
}
