package registrytest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"

	"github.com/agentco/agent/kernel/internal/signature"
)

// Signer signs files with a key of its own.
type Signer struct {
	// Public is what stands in agent.hcl, Key the same, parsed.
	Public string
	Key    signature.Key
	sign   func(data []byte) []byte
}

// Sign is the release with a signature of one of its files.
func (s *Signer) Sign(r Release, name string) Release {
	return r.With(name+s.Key.Suffix(), s.sign(r.Data(name)))
}

// Minisign makes a key as minisign does, and signs in its format, over the file's BLAKE2b hash.
func Minisign(tb testing.TB) *Signer {
	tb.Helper()
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(tb, err)
	id := make([]byte, 8)
	_, err = rand.Read(id)
	require.NoError(tb, err)
	encode := base64.StdEncoding.EncodeToString
	s := &Signer{Public: encode(bytes.Join([][]byte{[]byte("Ed"), id, public}, nil))}
	s.Key, err = signature.ParseKey(s.Public)
	require.NoError(tb, err)
	s.sign = func(data []byte) []byte {
		const trusted = "timestamp:1704164645\tfile:checksums.txt\thashed"
		hash := blake2b.Sum512(data)
		sig := ed25519.Sign(secret, hash[:])
		global := ed25519.Sign(secret, append(bytes.Clone(sig), trusted...))
		return fmt.Appendf(nil, "untrusted comment: signature from minisign secret key\n%s\ntrusted comment: %s\n%s\n",
			encode(bytes.Join([][]byte{[]byte("ED"), id, sig}, nil)), trusted, encode(global))
	}
	return s
}

// SSH makes a key and signs with the ssh-keygen of this machine; without one the test is skipped.
func SSH(tb testing.TB) *Signer {
	tb.Helper()
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		tb.Skip("there is no ssh-keygen")
	}
	key := filepath.Join(tb.TempDir(), "key")
	run := func(args ...string) {
		out, err := exec.CommandContext(tb.Context(), keygen, args...).CombinedOutput()
		require.NoError(tb, err, "%s", out)
	}
	run("-q", "-t", "ed25519", "-N", "", "-C", "release@example.org", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	require.NoError(tb, err)
	s := &Signer{Public: string(bytes.TrimSpace(public))}
	s.Key, err = signature.ParseKey(s.Public)
	require.NoError(tb, err)
	s.sign = func(data []byte) []byte {
		file := filepath.Join(tb.TempDir(), "signed")
		require.NoError(tb, os.WriteFile(file, data, 0o600))
		run("-q", "-Y", "sign", "-n", "file", "-f", key, file)
		sig, err := os.ReadFile(file + ".sig")
		require.NoError(tb, err)
		return sig
	}
	return s
}
