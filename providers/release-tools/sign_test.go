package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentco/agent/providers/release-tools/internal/gittest"
	"github.com/stretchr/testify/require"
)

// sshKey makes git sign with a new key and able to verify it.
func sshKey(t *testing.T, r *gittest.Repo) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	key := filepath.Join(t.TempDir(), "key")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput()
	require.NoError(t, err, "%s", out)
	public, err := os.ReadFile(key + ".pub")
	require.NoError(t, err)
	signers := filepath.Join(t.TempDir(), "signers")
	require.NoError(t, os.WriteFile(signers, append([]byte("ada@example.com "), public...), 0o644))
	r.Git("config", "user.signingkey", key)
	r.Git("config", "gpg.ssh.allowedSignersFile", signers)
}

// R26: signing by ssh key, asked for by git's settings or by the provider's.
func TestReleaseSignedBySSH(t *testing.T) {
	for _, forced := range []bool{false, true} {
		for _, commit := range []bool{false, true} {
			r := gittest.New(t)
			sshKey(t, r)
			r.Git("config", "gpg.format", "ssh")
			cfg := map[string]any{"commit": commit}
			if forced {
				r.Git("config", "--unset", "gpg.format")
				cfg["sign"] = "ssh"
			} else {
				r.Git("config", "tag.gpgSign", "true")
				r.Git("config", "commit.gpgSign", "true")
			}
			run(t, start(t, r, cfg), "release", version140)
			require.Contains(t, r.Git("-c", "gpg.format=ssh", "tag", "-v", "v1.4.0"), `Good "git" signature`)
			if commit {
				require.Equal(t, "G", r.Git("-c", "gpg.format=ssh", "log", "-1", "--format=%G?"))
			}
		}
	}
}

// R26: signing by gpg.
func TestReleaseSignedByOpenPGP(t *testing.T) {
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("gpg is not installed")
	}
	r := gittest.New(t)
	home, err := os.MkdirTemp("", "gpg") // the agent's socket wants a short path
	require.NoError(t, err)
	t.Setenv("GNUPGHOME", home)
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run()
		_ = os.RemoveAll(home)
	})
	out, err := exec.Command("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "Ada Example <ada@example.com>", "ed25519", "sign").CombinedOutput()
	require.NoError(t, err, "%s", out)
	run(t, start(t, r, map[string]any{"sign": "openpgp", "commit": true}), "release", version140)
	require.Contains(t, r.Git("tag", "-v", "v1.4.0"), "Good signature from")
	require.Equal(t, "U", strings.ReplaceAll(r.Git("log", "-1", "--format=%G?"), "G", "U"))
}

// R26: what cannot be signed is not made, for each way to ask for it.
func TestReleaseThatCannotBeSigned(t *testing.T) {
	tests := []struct {
		name, key, value string
		cfg              map[string]any
	}{
		{"tag.gpgSign", "tag.gpgSign", "true", nil},
		{"tag.forceSignAnnotated", "tag.forceSignAnnotated", "yes", nil},
		{"commit.gpgSign", "commit.gpgSign", "1", committing},
		{"configured openpgp", "core.pager", "cat", map[string]any{"sign": "openpgp"}},
		{"configured ssh", "core.pager", "cat", map[string]any{"sign": "ssh", "commit": true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.New(t)
			r.Git("config", tt.key, tt.value)
			r.Git("config", "gpg.program", filepath.Join(t.TempDir(), "missing"))
			r.Git("config", "gpg.ssh.program", filepath.Join(t.TempDir(), "missing"))
			require.Contains(t, refuse(t, r, tt.cfg, version140, "cannot-sign"), "user.signingkey")
		})
	}
}

// R26: asked not to, nothing is signed.
func TestReleaseWithSigningOff(t *testing.T) {
	r := gittest.New(t)
	r.Git("config", "tag.gpgSign", "true")
	r.Git("config", "commit.gpgSign", "true")
	r.Git("config", "gpg.program", "false")
	run(t, start(t, r, map[string]any{"commit": true, "sign": "off"}), "release", version140)
	requireGitAgrees(t, r, "v1.4.0")
	require.Equal(t, "N", r.Git("log", "-1", "--format=%G?"))
}
