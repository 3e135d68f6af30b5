package signature

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/jedisct1/go-minisign"
)

type minisignKey struct{ key minisign.PublicKey }

func parseMinisign(s string) (Key, error) {
	if strings.HasPrefix(s, "untrusted comment:") {
		_, s, _ = strings.Cut(s, "\n")
	}
	key, err := minisign.NewPublicKey(strings.TrimSpace(s))
	if err != nil {
		return nil, errors.New("this is not a minisign public key: it is 56 characters of base64, the second line of minisign.pub")
	}
	if key.SignatureAlgorithm != [2]byte{'E', 'd'} {
		return nil, errors.New("this minisign key is of an unknown kind")
	}
	return minisignKey{key}, nil
}

func (k minisignKey) Verify(message, signature []byte) error {
	sig, err := minisign.DecodeSignature(string(signature))
	if err != nil {
		return fmt.Errorf("it does not read as a minisign signature: %w", err)
	}
	if sig.KeyId != k.key.KeyId {
		return fmt.Errorf("it was made with minisign key %s, not %s", keyID(sig.KeyId), keyID(k.key.KeyId))
	}
	if ok, err := k.key.Verify(message, sig); err != nil || !ok {
		return errors.New("the signature is not one of this file")
	}
	return nil
}

func (minisignKey) Suffix() string   { return ".minisig" }
func (k minisignKey) String() string { return "minisign key " + keyID(k.key.KeyId) }

// keyID is an id as minisign itself prints it.
func keyID(id [8]byte) string { return fmt.Sprintf("%016X", binary.LittleEndian.Uint64(id[:])) }
