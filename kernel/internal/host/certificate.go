package host

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"sync"

	"github.com/agentco/agent/proto/plugin/mtls"
)

// identity is what this kernel proves to its providers that it is the one that started them, and nobody else. Each
// process learns the certificate from its environment; the key never leaves the kernel, so one serves for all.
type identity struct {
	pem  []byte
	cert tls.Certificate
}

var ourIdentity = sync.OnceValues(newIdentity)

func newIdentity() (identity, error) {
	cert, err := mtls.NewCertificate()
	if err != nil {
		return identity{}, err
	}
	return identity{
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}),
		cert: cert,
	}, nil
}

// config is for one process, whose own certificate go-plugin adds when it shakes hands. Until then nothing is trusted, least
// of all what the system trusts.
func (i identity) config() *tls.Config { return mtls.Config(i.cert, x509.NewCertPool()) }
