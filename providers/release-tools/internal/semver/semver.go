// Package semver reads and orders versions exactly as Semantic Versioning 2.0.0 writes them.
//
// It is strict on purpose: a release tag outlives every tool that reads it, so "1.3", "01.3.1" and "1.3.1-01" are
// refused here rather than repaired. Numbers have no upper bound.
package semver

import (
	"fmt"
	"strings"
)

// Version is one version. The zero value is not a version; Parse makes one.
type Version struct {
	core  [3]string // major, minor, patch without leading zeros
	pre   []string
	build string
}

// Parse reads a version without a "v" before it. Its error says which part is wrong.
func Parse(s string) (Version, error) {
	var v Version
	if s == "" {
		return v, fmt.Errorf("it is empty")
	}
	rest, build, hasBuild := strings.Cut(s, "+")
	core, pre, hasPre := strings.Cut(rest, "-")
	if err := v.setCore(core); err != nil {
		return Version{}, err
	}
	if hasPre {
		v.pre = strings.Split(pre, ".")
		for _, id := range v.pre {
			if err := checkIdentifier("pre-release", id, true); err != nil {
				return Version{}, err
			}
		}
	}
	if hasBuild {
		v.build = build
		for id := range strings.SplitSeq(build, ".") {
			if err := checkIdentifier("build", id, false); err != nil {
				return Version{}, err
			}
		}
	}
	return v, nil
}

func (v *Version) setCore(core string) error {
	names := [3]string{"major", "minor", "patch"}
	parts := strings.Split(core, ".")
	if len(parts) > len(names) {
		return fmt.Errorf("%q has %d numbers where MAJOR.MINOR.PATCH has three", core, len(parts))
	}
	for i, p := range parts {
		switch {
		case p == "":
			return fmt.Errorf("the %s number is empty", names[i])
		case !isNumber(p):
			return fmt.Errorf("the %s part %q is not a number", names[i], p)
		case len(p) > 1 && p[0] == '0':
			return fmt.Errorf("the %s number %q has a leading zero", names[i], p)
		}
		v.core[i] = p
	}
	if len(parts) < len(names) {
		return fmt.Errorf("the %s number is missing", names[len(parts)])
	}
	return nil
}

func checkIdentifier(part, id string, numeric bool) error {
	if id == "" {
		return fmt.Errorf("the %s part has an empty identifier", part)
	}
	for _, r := range id {
		if !isDigit(r) && !isLetter(r) && r != '-' {
			return fmt.Errorf("the %s identifier %q holds %q; letters, digits and hyphens are allowed", part, id, r)
		}
	}
	if numeric && len(id) > 1 && id[0] == '0' && isNumber(id) {
		return fmt.Errorf("the %s number %q has a leading zero", part, id)
	}
	return nil
}

// String returns the version as Parse reads it.
func (v Version) String() string {
	if v.build == "" {
		return v.Precedence()
	}
	return v.Precedence() + "+" + v.build
}

// Precedence is the version without build metadata: the same for two versions of which none comes first.
func (v Version) Precedence() string {
	s := v.core[0] + "." + v.core[1] + "." + v.core[2]
	if len(v.pre) > 0 {
		s += "-" + strings.Join(v.pre, ".")
	}
	return s
}

// Prerelease reports whether v comes before a final release, as 1.0.0-rc.1 does.
func (v Version) Prerelease() bool { return len(v.pre) > 0 }

// Less reports whether a has lower precedence than b.
func Less(a, b Version) bool { return Compare(a, b) < 0 }

// Compare orders by precedence (SemVer §11): negative if a comes first, 0 if they are equal. Build metadata has no say.
func Compare(a, b Version) int {
	for i := range a.core {
		if c := compareNumbers(a.core[i], b.core[i]); c != 0 {
			return c
		}
	}
	switch {
	case len(a.pre) == 0 && len(b.pre) == 0:
		return 0
	case len(a.pre) == 0:
		return 1
	case len(b.pre) == 0:
		return -1
	}
	for i := range min(len(a.pre), len(b.pre)) {
		if c := compareIdentifiers(a.pre[i], b.pre[i]); c != 0 {
			return c
		}
	}
	return len(a.pre) - len(b.pre)
}

func compareIdentifiers(a, b string) int {
	an, bn := isNumber(a), isNumber(b)
	switch {
	case an && bn:
		return compareNumbers(a, b)
	case an:
		return -1
	case bn:
		return 1
	}
	return strings.Compare(a, b)
}

// compareNumbers works on digits without leading zeros, so the longer one is the larger.
func compareNumbers(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// Undotted returns the identifier of a (such as "rc10") that sorts as text below one of b ("rc9") although its number
// is larger, which is the usual surprise of a pre-release label without a dot; "" if there is none.
func Undotted(a, b Version) string {
	if a.core != b.core {
		return ""
	}
	for i := range min(len(a.pre), len(b.pre)) {
		x, y := a.pre[i], b.pre[i]
		if x == y {
			continue
		}
		xl, xn := splitLabel(x)
		yl, yn := splitLabel(y)
		if xl != "" && xl == yl && xn != "" && yn != "" && compareNumbers(xn, yn) > 0 && x < y {
			return x
		}
		return ""
	}
	return ""
}

func splitLabel(id string) (label, number string) {
	label = strings.TrimRight(id, "0123456789")
	return label, strings.TrimLeft(id[len(label):], "0")
}

func isNumber(s string) bool {
	for _, r := range s {
		if !isDigit(r) {
			return false
		}
	}
	return s != ""
}

func isDigit(r rune) bool  { return r >= '0' && r <= '9' }
func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
