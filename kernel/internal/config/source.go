package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Source says where a provider is released: HOST/OWNER/REPO, or HOST/OWNER/REPO//provider-NAME where
// one repository releases several.
type Source struct {
	Host, Owner, Repo string
	// Part is the element after the double slash, empty for a repository with one provider.
	Part string
}

var (
	hostPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(localhost|[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+)(:[0-9]{1,5})?$`)
	})
	elementPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]*$`) })
)

// ParseSource reads a source address.
func ParseSource(s string) (Source, error) {
	if strings.Contains(s, "://") {
		return Source{}, errors.New("a source has no scheme")
	}
	repo, part, split := strings.Cut(s, "//")
	elements := strings.Split(repo, "/")
	if len(elements) != 3 {
		return Source{}, fmt.Errorf("%q has %d elements before any //, not 3", s, len(elements))
	}
	if !hostPattern().MatchString(elements[0]) {
		return Source{}, fmt.Errorf("%q is not a host name", elements[0])
	}
	rest := elements[1:]
	if split {
		rest = append(rest, part)
	}
	for _, e := range rest {
		if !elementPattern().MatchString(e) {
			return Source{}, fmt.Errorf("%q is not a valid element of a source", e)
		}
	}
	return Source{Host: strings.ToLower(elements[0]), Owner: elements[1], Repo: elements[2], Part: part}, nil
}

func (s Source) String() string {
	address := s.Host + "/" + s.Owner + "/" + s.Repo
	if s.Part != "" {
		address += "//" + s.Part
	}
	return address
}

// Name is what the files of a release begin with: the last element of the source.
func (s Source) Name() string {
	if s.Part != "" {
		return s.Part
	}
	return s.Repo
}
