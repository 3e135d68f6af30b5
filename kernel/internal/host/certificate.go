package host

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"time"
)

// identity is what this kernel proves to its providers that it is the one that started them, and nobody else. Each
// process learns the certificate from its environment; the key never leaves the kernel, so one serves for all.
//
// go-plugin would make one for each process, on P-521, where each side then spends several milliseconds on checking
// the other's signatures. This way is AutoMTLS for the provider, and costs a third.
type identity struct {
	pem  []byte
	cert tls.Certificate
}

// clientCertVariable is where go-plugin's AutoMTLS looks for the certificate of the other side.
const clientCertVariable = "PLUGIN_CLIENT_CERT"

var ourIdentity = sync.OnceValues(newIdentity)

func newIdentity() (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return identity{}, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, SerialNumber: serial,
		// It is the authority it is checked against, and serves both directions: calls and callbacks.
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		NotBefore:   time.Now().Add(-time.Minute), NotAfter: time.Now().AddDate(10, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return identity{}, err
	}
	return identity{
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		cert: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}, nil
}

// config is for one process, whose own certificate go-plugin adds when it shakes hands.
func (i identity) config() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{i.cert}, ServerName: "localhost",
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
		// Until then nothing is trusted, least of all what the system trusts.
		RootCAs: x509.NewCertPool(), ClientCAs: x509.NewCertPool(),
	}
}
