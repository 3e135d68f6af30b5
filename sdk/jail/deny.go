package jail

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// DefaultDeny hides what holds secrets in most projects: private keys and
// environment files, but not their published halves and examples.
//
// A pattern without a slash matches a name at any depth, one with a slash the
// path from the root. A pattern that begins with ! takes back what an earlier
// one denied, the last one that matches decides, and what lies below a denied
// directory is denied. Upper and lower case are one.
var DefaultDeny = []string{
	".env", ".env.*", "!.env.example",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
	"*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks",
}

// PatternError names a deny pattern that cannot be read.
type PatternError struct{ Pattern string }

// Error says what is wrong.
func (e *PatternError) Error() string { return fmt.Sprintf("the pattern %q is malformed", e.Pattern) }

type denyList []denyRule

type denyRule struct {
	pattern  string
	allow    bool
	anywhere bool // matches the last part, wherever it is
}

func parseDeny(patterns []string) (denyList, error) {
	var list denyList
	for _, p := range patterns {
		body, allow := strings.CutPrefix(p, "!")
		rule := denyRule{allow: allow, pattern: fold(strings.Trim(filepath.ToSlash(body), "/"))}
		rule.anywhere = !strings.Contains(strings.TrimSuffix(filepath.ToSlash(body), "/"), "/")
		if rule.pattern == "" || !doublestar.ValidatePattern(rule.pattern) {
			return nil, &PatternError{Pattern: p}
		}
		list = append(list, rule)
	}
	return list, nil
}

// denied reports whether what lies at rel in r, or a directory above it, is
// denied.
func (j *Jail) denied(r *root, rel string) bool {
	if j.ours(rel) {
		rel = filepath.Dir(rel)
	}
	return rel != "." && j.deny.matches(r.denyPath(rel))
}

// deniedHere is denied for one who has come from the directory above.
func (j *Jail) deniedHere(r *root, rel string) bool {
	return !j.ours(rel) && j.deny.matchesOne(fold(filepath.ToSlash(r.denyPath(rel))))
}

func (j *Jail) ours(rel string) bool { return j.own != nil && j.own(filepath.Base(rel)) }

// matches reports whether rel, or a directory above it, is denied.
func (l denyList) matches(rel string) bool {
	if len(l) == 0 || rel == "." {
		return false
	}
	rel = fold(filepath.ToSlash(rel))
	for end := 0; end < len(rel); {
		if slash := strings.IndexByte(rel[end:], '/'); slash >= 0 {
			end += slash
		} else {
			end = len(rel)
		}
		if l.matchesOne(rel[:end]) {
			return true
		}
		end++
	}
	return false
}

func (l denyList) matchesOne(rel string) bool {
	denied := false
	for _, rule := range l {
		if rule.allow != denied {
			continue // it could not change the answer
		}
		name := rel
		if rule.anywhere {
			name = path.Base(rel)
		}
		if ok, err := doublestar.Match(rule.pattern, name); ok && err == nil {
			denied = !rule.allow
		}
	}
	return denied
}

// fold makes one of the spellings that some filesystem takes for the same name:
// with letters of either case, or composed in another way. Going up first catches
// letters such as the long s.
func fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return norm.NFC.String(strings.ToLower(strings.ToUpper(s)))
		}
	}
	return s
}
