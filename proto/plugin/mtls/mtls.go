// Package mtls makes the certificates that a kernel and a provider know each other by. Each makes one for itself, which
// nobody has signed, and tells the other before they connect: the kernel by a variable of the environment, the provider by
// its handshake. On the wire that is go-plugin's AutoMTLS, so either side may be one that go-plugin's own code serves.
//
// go-plugin's own certificates are on P-521, where to make one, and to check what it has signed, takes milliseconds.
// These are on P-256, which takes a tenth of that.
package mtls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"time"
)

// Variable is where a provider finds the certificate of its kernel, as PEM. Without it they speak in clear.
const Variable = "PLUGIN_CLIENT_CERT"

// ServerName is whom a certificate is for, on both sides.
const ServerName = "localhost"

// NewCertificate makes a certificate and its key, which are to live no longer than this process.
func NewCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: ServerName}, DNSNames: []string{ServerName}, SerialNumber: serial,
		// It is the authority it is checked against, and serves both directions: calls and callbacks.
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		NotBefore:   time.Now().Add(-time.Minute), NotAfter: time.Now().AddDate(10, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// Config is what one side connects and is connected to with: it shows own, and takes nobody but who shows one of peers.
func Config(own tls.Certificate, peers *x509.CertPool) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{own}, ServerName: ServerName,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
		RootCAs: peers, ClientCAs: peers,
	}
}
