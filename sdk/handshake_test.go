package sdk_test

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os/exec"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/proto/plugin"
	"github.com/agentco/agent/proto/plugin/mtls"
)

// Whatever go-plugin writes in the handshake stays as it is, and the certificate is where a kernel of any kind looks for it.
func TestHandshake(t *testing.T) {
	kernels, err := mtls.NewCertificate()
	require.NoError(t, err)
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: kernels.Certificate[0]}))
	for _, test := range []struct {
		name        string
		environment []string
		fields      int
		certificate bool
	}{
		{"in clear", nil, 6, false},
		{"mutual TLS", []string{mtls.Variable + "=" + text}, 6, true},
		{"a kernel that asks for one connection", []string{mtls.Variable + "=" + text, "PLUGIN_MULTIPLEX_GRPC=true"}, 7, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			fields := strings.Split(strings.TrimSuffix(handshakeOf(t, test.environment), "\n"), "|")
			require.Len(t, fields, test.fields)
			require.Equal(t, []string{"1", "1"}, fields[:2])
			require.Equal(t, "grpc", fields[4])
			if !test.certificate {
				require.Empty(t, fields[5])
				return
			}
			der, err := base64.RawStdEncoding.DecodeString(fields[5])
			require.NoError(t, err)
			certificate, err := x509.ParseCertificate(der)
			require.NoError(t, err)
			require.Equal(t, elliptic.P256(), certificate.PublicKey.(*ecdsa.PublicKey).Curve, "a start would take twice as long")
			require.NotEqual(t, kernels.Certificate[0], der)
		})
	}
}

// handshakeOf starts a provider and returns the line that it says first; then it is ended.
func handshakeOf(t *testing.T, environment []string) string {
	t.Helper()
	cmd := asProvider(t, environment)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), "it was killed")
	require.NoError(t, err)
	return line
}

func asProvider(t *testing.T, environment []string) *exec.Cmd {
	t.Helper()
	cmd := command("noisy")
	cmd.Env = append(cmd.Env, plugin.MagicCookieKey+"="+plugin.MagicCookieValue, goplugin.EnvUnixSocketDir+"="+socketFolder(t))
	cmd.Env = append(cmd.Env, environment...)
	return cmd
}

// A kernel that cannot be known is told so, and gets no connection in clear.
func TestHandshakeWithNonsense(t *testing.T) {
	cmd := asProvider(t, []string{mtls.Variable + "=nonsense"})
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	err := cmd.Run()
	require.Error(t, err)
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), err.Error())
	require.Empty(t, out.String())
	require.Contains(t, errors.String(), "no certificate in "+mtls.Variable)
}
