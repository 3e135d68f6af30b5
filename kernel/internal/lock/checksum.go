package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// Checksum is a SHA-256 in lower-case hexadecimal. Files spell it with its algorithm in front, so that another one can
// follow it some day.
type Checksum string

const algorithm = "sha256:"

var checksumPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// ParseChecksum reads what String writes.
func ParseChecksum(s string) (Checksum, error) {
	if !checksumPattern().MatchString(s) {
		return "", fmt.Errorf("%q is not a checksum: it is sha256: and 64 lower-case hexadecimal digits", s)
	}
	return Checksum(strings.TrimPrefix(s, algorithm)), nil
}

func (c Checksum) String() string { return algorithm + string(c) }

// Sum is the checksum of everything that r has to give.
func Sum(r io.Reader) (Checksum, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return Checksum(hex.EncodeToString(h.Sum(nil))), nil
}
