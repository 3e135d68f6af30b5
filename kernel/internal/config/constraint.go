package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-version"
)

// Constraint says which versions of a provider will do. The zero Constraint allows every release.
//
// Operators are those of Terraform: = != > >= < <= ~>, joined by commas. ~> lets the last given number
// grow: ~> 1.2 is >= 1.2.0, < 2.0.0 and ~> 1.2.3 is >= 1.2.3, < 1.3.0. A pre-release counts only when the
// constraint names a pre-release of the same version.
type Constraint struct {
	text  string
	terms []term
}

type term struct {
	op      string
	version *version.Version
	given   int // numbers written, 1 to 3
}

var termPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(=|!=|>|>=|<|<=|~>)?\s*((?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){0,2})(-[0-9A-Za-z.-]+)?$`)
})

// ParseConstraint reads a constraint such as "~> 2.0.0" or ">= 1.2, < 3".
func ParseConstraint(s string) (Constraint, error) {
	c := Constraint{text: s}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		m := termPattern().FindStringSubmatch(part)
		if m == nil {
			return Constraint{}, fmt.Errorf("%q is not a version constraint: write an operator (= != > >= < <= ~>) and a version, as in \"~> 1.2.0\"", part)
		}
		given := strings.Count(m[2], ".") + 1
		v, err := version.NewVersion(m[2] + strings.Repeat(".0", 3-given) + m[3])
		if err != nil {
			return Constraint{}, fmt.Errorf("%q is not a version constraint: %w", part, err)
		}
		c.terms = append(c.terms, term{op: strings.TrimSpace(m[1]), version: v, given: given})
	}
	return c, nil
}

func (c Constraint) String() string { return c.text }

// Exact is the one version that can satisfy the constraint, as in "= 1.2.3"; nil when there may be several.
func (c Constraint) Exact() *version.Version {
	for _, t := range c.terms {
		if t.op == "" || t.op == "=" {
			return t.version
		}
	}
	return nil
}

// Allows reports whether a version satisfies every term.
func (c Constraint) Allows(v *version.Version) bool {
	if v.Prerelease() != "" && !c.namesPrereleaseOf(v) {
		return false
	}
	for _, t := range c.terms {
		if !t.allows(v) {
			return false
		}
	}
	return true
}

func (c Constraint) namesPrereleaseOf(v *version.Version) bool {
	return slices.ContainsFunc(c.terms, func(t term) bool {
		return t.op != "!=" && t.version.Prerelease() != "" && slices.Equal(t.version.Segments64(), v.Segments64())
	})
}

func (t term) allows(v *version.Version) bool {
	order := v.Compare(t.version)
	switch t.op {
	case "!=":
		return order != 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case "~>":
		fixed := t.given - 1
		return order >= 0 && slices.Equal(v.Segments64()[:fixed], t.version.Segments64()[:fixed])
	default:
		return order == 0
	}
}
