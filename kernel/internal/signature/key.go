// Package signature verifies detached signatures of release files: those of minisign, and those of
// ssh-keygen -Y sign. Which of the two a release must have follows from the public key alone.
package signature

import (
	"errors"
	"fmt"
	"strings"
)

// Key is a public key that files are signed with.
type Key interface {
	// Verify reports why signature is not one of message by this key; nil when it is.
	Verify(message, signature []byte) error
	// Suffix is what the name of a signature has after the name of the file it signs: ".minisig" or ".sig".
	Suffix() string
	// String names the key for people: its kind, and its id or fingerprint.
	String() string
}

// ParseKey reads a public key: the second line of a minisign.pub file (the whole file will do), or a line
// as in authorized_keys, such as "ssh-ed25519 AAAA… comment".
func ParseKey(s string) (Key, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return nil, errors.New("the public key is empty")
	case strings.Contains(s, "PRIVATE KEY") || strings.HasPrefix(s, "untrusted comment: minisign encrypted secret key"):
		return nil, errors.New("this is a secret key: it belongs to the one who signs, and into no configuration")
	case strings.HasPrefix(s, "untrusted comment:") || strings.HasPrefix(s, "RW") && !strings.Contains(s, " "):
		return parseMinisign(s)
	case strings.HasPrefix(s, "ssh-") || strings.HasPrefix(s, "ecdsa-") || strings.HasPrefix(s, "sk-"):
		return parseSSH(s)
	}
	return nil, fmt.Errorf("%q is neither a minisign key (RW…) nor an ssh key (ssh-ed25519 AAAA…)", shorten(s))
}

func shorten(s string) string {
	if line, _, more := strings.Cut(s, "\n"); more || len(line) > 24 {
		return line[:min(len(line), 24)] + "…"
	}
	return s
}
