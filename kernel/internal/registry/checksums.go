package registry

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Checksums maps the name of a file to its sha256 in lower-case hex.
type Checksums map[string]string

// ParseChecksums reads what sha256sum and goreleaser write: HASH, two spaces or a space and a star, NAME. Line
// ends may be CRLF and hex upper case. Anything else is refused with its line, and so is a name with two hashes.
func ParseChecksums(data []byte) (Checksums, error) {
	sums := Checksums{}
	n := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		n++
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		hash, name, ok := checksumLine(line)
		if !ok {
			return nil, fmt.Errorf("line %d is not a sha256 and a file name", n)
		}
		if other, seen := sums[name]; seen && other != hash {
			return nil, fmt.Errorf("line %d gives %s a second, different checksum", n, name)
		}
		sums[name] = hash
	}
	if len(sums) == 0 {
		return nil, errors.New("it lists no files")
	}
	return sums, nil
}

func checksumLine(line string) (hash, name string, ok bool) {
	const digits = 64
	if len(line) < digits+3 || line[digits] != ' ' || line[digits+1] != ' ' && line[digits+1] != '*' {
		return "", "", false
	}
	hash, name = line[:digits], line[digits+2:]
	if _, err := hex.DecodeString(hash); err != nil {
		return "", "", false
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) { // it would reach the terminal in messages
		return "", "", false
	}
	return strings.ToLower(hash), name, true
}
