package signature

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// sshNamespace is what ssh-keygen -Y sign calls signatures of files. One made for another purpose, such as
// a git commit, does not count.
const sshNamespace = "file"

type sshKey struct{ key ssh.PublicKey }

func parseSSH(s string) (Key, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(s))
	switch {
	case err != nil:
		return nil, errors.New("this is not an ssh public key: write it as it stands in the .pub file")
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("these are several ssh keys: give the one that signs")
	case len(options) > 0:
		return nil, errors.New("an ssh public key has no options here")
	}
	if _, certificate := key.(*ssh.Certificate); certificate {
		return nil, errors.New("this is an ssh certificate: give the public key itself")
	}
	return sshKey{key}, nil
}

func (k sshKey) Verify(message, signature []byte) error {
	sig, err := sshsig.Unarmor(signature)
	if err != nil {
		return fmt.Errorf("it does not read as an ssh signature: %w", err)
	}
	if sig.Signature.Format == ssh.KeyAlgoRSA {
		return errors.New("it is an RSA signature over SHA-1, which proves nothing any more: sign with a current ssh-keygen")
	}
	err = sshsig.Verify(bytes.NewReader(message), sig, k.key, sig.HashAlgorithm, sshNamespace)
	switch {
	case errors.Is(err, sshsig.ErrPublicKeyMismatch):
		return fmt.Errorf("it was made with ssh key %s, not %s", ssh.FingerprintSHA256(sig.PublicKey), ssh.FingerprintSHA256(k.key))
	case errors.Is(err, sshsig.ErrNamespaceMismatch):
		return fmt.Errorf("it was made for %q, not for %q: sign with ssh-keygen -Y sign -n %s", sig.Namespace, sshNamespace, sshNamespace)
	case err != nil:
		return errors.New("the signature is not one of this file")
	}
	return nil
}

func (sshKey) Suffix() string   { return ".sig" }
func (k sshKey) String() string { return k.key.Type() + " key " + ssh.FingerprintSHA256(k.key) }
