package sdk

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/proto/plugin/mtls"
)

// handshake is what go-plugin takes for standard output, until it has written there where it serves. That line alone goes to
// the kernel, with the provider's certificate in it. What the provider prints meanwhile goes to standard error.
type handshake struct {
	out *os.File
	// kernel stays open while the provider serves: its end could be taken for the provider's.
	kernel *os.File
	// certificate is the provider's, as it stands in the line; nil when they speak in clear.
	certificate atomic.Pointer[string]
	// refused is why there is no connection; it is there once go-plugin has given up.
	refused error
}

// newHandshake takes lines until the process ends: who has come by out may print on it at any time.
func newHandshake(kernel, rest *os.File) (*handshake, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot open a pipe for the handshake: %w", err)
	}
	h := &handshake{out: out, kernel: kernel}
	go func() {
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadString('\n')
			at := handshakeAt(line)
			_, _ = rest.WriteString(line[:at])
			if at < len(line) {
				// Without it the kernel will not connect, but end the process.
				_, _ = kernel.WriteString(h.completed(line[at:]))
				break
			}
			if err != nil {
				return
			}
		}
		_, _ = io.Copy(rest, lines)
	}()
	return h, nil
}

// handshakeAt is where in a line a handshake begins, behind what somebody has printed without ending the line; its length
// if there is none.
func handshakeAt(line string) int {
	for _, network := range []string{"unix", "tcp"} {
		beginning := fmt.Sprintf("%d|%d|%s|", goplugin.CoreProtocolVersion, plugin.ProtocolVersion, network)
		if at := strings.LastIndex(line, beginning); at >= 0 && strings.HasSuffix(line, "\n") {
			return at
		}
	}
	return len(line)
}

// secure makes what the provider serves with, and its kernel alone gets through: nil when the kernel wants none.
//
// go-plugin would make a certificate itself, on P-521, which takes a quarter of a provider's start. When it is given one it
// leaves the place in the handshake empty.
//
// By then go-plugin has seen the cookie. Children must not: a test that a provider runs may import the SDK too, and prints.
func (h *handshake) secure() (*tls.Config, error) {
	_ = os.Unsetenv(plugin.MagicCookieKey) // it cannot fail
	config, err := h.config()
	h.refused = err
	return config, err
}

func (h *handshake) config() (*tls.Config, error) {
	kernels := os.Getenv(mtls.Variable)
	if kernels == "" {
		return nil, nil
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM([]byte(kernels)) {
		return nil, errors.New("there is no certificate in " + mtls.Variable + ", and so no way to know the kernel: start the provider through a kernel, which puts one there")
	}
	own, err := mtls.NewCertificate()
	if err != nil {
		return nil, fmt.Errorf("cannot make a certificate for the connection: %w", err)
	}
	certificate := base64.RawStdEncoding.EncodeToString(own.Certificate[0])
	h.certificate.Store(&certificate)
	return mtls.Config(own, trusted), nil
}

// certificateField is the place of the certificate in a handshake such as 1|1|unix|/tmp/plugin1|grpc|CERTIFICATE|true.
const certificateField = 5

func (h *handshake) completed(line string) string {
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
	if certificate := h.certificate.Load(); certificate != nil && len(fields) > certificateField {
		fields[certificateField] = *certificate
	}
	return strings.Join(fields, "|") + "\n"
}
