package sdk

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agentco/agent/proto/plugin/mtls"
)

// secure makes what the provider serves with, and its kernel alone gets through: nil when the kernel wants none. It is called
// when go-plugin is about to write the handshake to os.Stdout, and sees to it that the provider's certificate is in it.
//
// go-plugin would make a certificate itself, on P-521, which takes a quarter of a provider's start. When it is given one it
// leaves the place in the handshake empty.
func secure() (*tls.Config, error) {
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
	os.Stdout, err = completing(os.Stdout, base64.RawStdEncoding.EncodeToString(own.Certificate[0]))
	if err != nil {
		return nil, fmt.Errorf("cannot open a pipe for the handshake: %w", err)
	}
	return mtls.Config(own, trusted), nil
}

// completing returns a file that takes the handshake, one line, and passes it on with the certificate in it.
func completing(to *os.File, certificate string) (*os.File, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		line, err := bufio.NewReader(in).ReadString('\n')
		if err == nil {
			// Without it the kernel will not connect, but end the process.
			_, _ = to.WriteString(completed(line, certificate))
		}
		_ = in.Close()
		_ = out.Close()
	}()
	return out, nil
}

// certificateField is the place of the certificate in a handshake such as 1|1|unix|/tmp/plugin1|grpc|CERTIFICATE|true.
const certificateField = 5

func completed(line, certificate string) string {
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
	if len(fields) > certificateField {
		fields[certificateField] = certificate
	}
	return strings.Join(fields, "|") + "\n"
}
