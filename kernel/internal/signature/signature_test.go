package signature_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/signature"
)

// A key of minisign, and signatures of "test" that minisign made with it: over the file, and over its hash.
const (
	minisignKey    = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	minisignLegacy = `untrusted comment: signature from minisign secret key
RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=
trusted comment: timestamp:1635442742	file:test
0YteLgV960ia80vnA/fHbvkyjl/IoP/HNOCaZfrF0CdhAlp7ok+Tpkya+VpWPX5C/Is3q8a/kEDSY7fBmmgJCg==
`
	minisignHashed = `untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1635443258	file:test	hashed
/cj37GK60vryibFn+ftOgbCvW9NKhKYgjVpFFQUcWPAnjO23wrvVDTt7cloNC06maoBli9q6qwZDXXoaxweICQ==
`
)

func TestMinisign(t *testing.T) {
	key, err := signature.ParseKey(minisignKey)
	require.NoError(t, err)
	tests := []struct{ name, message, signature, want string }{
		{"over the file", "test", minisignLegacy, ""},
		{"over its hash", "test", minisignHashed, ""},
		{"CRLF", "test", strings.ReplaceAll(minisignHashed, "\n", "\r\n"), ""},
		{"another file", "test\n", minisignHashed, "not one of this file"},
		{"another comment", "test", strings.Replace(minisignHashed, "file:test", "file:best", 1), "not one of this file"},
		{"another key", "test", strings.Replace(minisignHashed, "RUQf6LR", "RUQf6LS", 1), "made with minisign key"},
		{"first two lines", "test", minisignHashed[:160], "does not read"},
		{"nothing", "test", "", "does not read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := key.Verify([]byte(tt.message), []byte(tt.signature))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestParseKeyRefuses(t *testing.T) {
	tests := []struct{ name, key, want string }{
		{"empty", " \n", "is empty"},
		{"a word", "trust-me", `"trust-me" is neither`},
		{"truncated minisign key", minisignKey[:40], "not a minisign public key"},
		{"comment alone", "untrusted comment: minisign public key E7620F1842B4E81F", "not a minisign public key"},
		{"minisign secret key", "untrusted comment: minisign encrypted secret key\nRWRTY0Iy", "secret key"},
		{"ssh secret key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb", "secret key"},
		{"truncated ssh key", "ssh-ed25519 AAAAC3Nza", "not an ssh public key"},
		{"kind alone", "ssh-ed25519", "not an ssh public key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := signature.ParseKey(tt.key)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestMinisignKey(t *testing.T) {
	for _, text := range []string{minisignKey, "untrusted comment: minisign public key E7620F1842B4E81F\n" + minisignKey + "\n", "untrusted comment: x\r\n" + minisignKey + "\r\n"} {
		key, err := signature.ParseKey(text)
		require.NoError(t, err)
		require.Equal(t, "minisign key E7620F1842B4E81F", key.String())
		require.Equal(t, ".minisig", key.Suffix())
	}
}

// ssh signs for a purpose, and with the keys it has: only signatures of files by exactly the key count.
func TestSSH(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("there is no ssh-keygen")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		out, err := exec.CommandContext(t.Context(), keygen, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	message := filepath.Join(dir, "message")
	require.NoError(t, os.WriteFile(message, []byte("hello\n"), 0o600))
	sign := func(key, namespace string, more ...string) []byte {
		_ = os.Remove(message + ".sig")
		run(append([]string{"-q", "-Y", "sign", "-n", namespace, "-f", filepath.Join(dir, key)}, append(more, message)...)...)
		sig, err := os.ReadFile(message + ".sig")
		require.NoError(t, err)
		return sig
	}
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		run("-q", "-t", kind, "-N", "", "-C", "a comment", "-f", filepath.Join(dir, kind))
	}
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			public, err := os.ReadFile(filepath.Join(dir, kind+".pub"))
			require.NoError(t, err)
			key, err := signature.ParseKey(string(public))
			require.NoError(t, err)
			require.Equal(t, ".sig", key.Suffix())
			require.Contains(t, key.String(), " key SHA256:")

			sig := sign(kind, "file")
			require.NoError(t, key.Verify([]byte("hello\n"), sig))
			require.NoError(t, key.Verify([]byte("hello\n"), sign(kind, "file", "-O", "hashalg=sha256")))
			require.ErrorContains(t, key.Verify([]byte("hello"), sig), "not one of this file")
			require.ErrorContains(t, key.Verify([]byte("hello\n"), sign(kind, "git")), `it was made for "git", not for "file"`)
			other := map[string]string{"ed25519": "ecdsa", "ecdsa": "rsa", "rsa": "ed25519"}[kind]
			require.ErrorContains(t, key.Verify([]byte("hello\n"), sign(other, "file")), "it was made with ssh key SHA256:")
		})
	}
	public, err := os.ReadFile(filepath.Join(dir, "ed25519.pub"))
	require.NoError(t, err)
	_, err = signature.ParseKey(string(public) + string(public))
	require.ErrorContains(t, err, "several ssh keys")
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(minisignLegacy), []byte("test"))
	f.Add([]byte(minisignHashed), []byte("test"))
	f.Add([]byte("-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"), []byte(""))
	f.Add([]byte("a\nb\nc\nd"), []byte(""))
	minisign, err := signature.ParseKey(minisignKey)
	require.NoError(f, err)
	ssh, err := signature.ParseKey("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, sig, message []byte) {
		if err := minisign.Verify(message, sig); err == nil {
			require.Equal(t, "test", string(message))
		}
		require.Error(t, ssh.Verify(message, sig))
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add(minisignKey)
	f.Add("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me")
	f.Fuzz(func(t *testing.T, s string) {
		if key, err := signature.ParseKey(s); err == nil {
			require.NotEmpty(t, key.String())
			require.Error(t, key.Verify(nil, nil))
		}
	})
}
